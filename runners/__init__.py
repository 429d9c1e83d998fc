"""Bundle to records: backends, the simulated server, agents, the episode loop, the gate, prove, the pool.

Invariant: only a `VerifiedBundle` is ever run, and everything that a report may know of a run stands in its records.
"""
