"""Bundle to records: backends, the simulated server, agents, the episode loop, the gate, prove, the pool.

Invariant: only a `VerifiedBundle` is ever run, and everything that a report may know of a run stands in its records.

Five values say where something is played, from the narrow to the wide. A `Setting` is what an agent's factory is told:
scenario, world, attempt and the agent's own seed. A `Site` is what opens a scenario's worlds: content, scenario and
backend. A `Bench` is a site with an attempt's limits and seed: there the gate examines that attempt. A `Case` is a site
with what was already played there: there `prove` examines the scenario. A `Work` is what a worker needs for any job of
a run: all contents, all agents' factories and the backend; each `Job` then names its trial.
"""
