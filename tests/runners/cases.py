"""Scenarios of the toy host, by hand: a sound repair, a sound investigation, and parts to spoil them with."""

from __future__ import annotations

from dataclasses import replace

from compiler.bundle import assemble
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from runners.opening import Site
from runners.records import AgentIdentity, Trial
from runners.trials import Job, trial_id
from scenario_dsl.model import (
    Answer,
    Delay,
    Intervention,
    Invariant,
    Limits,
    Objective,
    Pack,
    Probe,
    Reward,
    Seen,
    Step,
    System,
    Task,
)
from scenario_dsl.worlds import ResolvedCascade, ResolvedFault, ResolvedScenario, World
from tests.runners.toy import ToyBackend


def unit(name: str, state: str = "active") -> Probe:
    return Probe(type="unit", arguments={"name": name, "state": state})


def contains(path: str, text: str) -> Probe:
    return Probe(type="file", arguments={"path": path, "contains": text})


def write(path: str, text: str) -> Task:
    return Task(name=f"write {path}", module="copy", arguments={"dest": path, "content": text})


def service(name: str, state: str) -> Task:
    return Task(name=f"{state} {name}", module="systemd", arguments={"name": name, "state": state})


def broken_config(name: str) -> ResolvedFault:
    path = f"/etc/{name}.conf"
    return ResolvedFault(
        fault="broken_config",
        arguments={"unit": name},
        inject=(write(path, "bad"), service(name, "stopped")),
        revert=(write(path, "good"), service(name, "started")),
        witness=(contains(path, "^bad$"), unit(name, "failed")),
    )


def log_noise(text: str) -> ResolvedFault:
    return ResolvedFault(
        fault="log_noise",
        arguments={"text": text},
        inject=(write("/var/log/syslog", text),),
        revert=(write("/var/log/syslog", "quiet"),),
        witness=(contains("/var/log/syslog", text),),
    )


def steps(*commands: str) -> tuple[Step, ...]:
    return tuple(Step(run=command) for command in commands)


def repair_world(name: str, role: str, broken: str, fault: ResolvedFault) -> World:
    return World(
        name=name,
        role=role,
        parameters={"unit": broken},
        complaint=f"Something is slow ({name}).",
        hints=(f"Look at {broken}.",),
        faults=(fault,),
        cascades=(),
        objectives=(
            Objective(name="looked", points=0.2, check=Seen(output=r"app|worker|bad", command="failed|cat")),
            Objective(name="configured", points=0.3, check=contains(f"/etc/{broken}.conf", "^good$")),
            Objective(name="running", points=0.5, check=unit(broken), settle=5.0),
        ),
        invariants=(Invariant(name="the web server stays up", probe=unit("web")),),
    )


GOLD = Intervention(
    name="gold",
    hypothesis="a unit does not start because its configuration was damaged",
    falsifier="healthy",
    steps=(
        Step(run="failed", discover="unit", think="Which unit is dead?"),
        Step(
            run="write /etc/{{ unit }}.conf good",
            only_if="test -n '{{ unit }}'",
            undo="write /etc/{{ unit }}.conf bad",
        ),
        Step(run="systemctl start {{ unit }}", undo="systemctl stop {{unit}}"),
    ),
)


def repair() -> ResolvedScenario:
    """A damaged configuration; gold finds the unit, bad habits know its name."""
    return ResolvedScenario(
        name="repair",
        title="The unit that does not start",
        kind="repair",
        difficulty="easy",
        split="train",
        tags=(),
        system="toy",
        worlds=(
            repair_world("primary", "primary", "app", broken_config("app")),
            repair_world("other", "twin", "worker", broken_config("worker")),
            repair_world("noise", "control", "app", log_noise("app is unhappy")),
        ),
        gold=GOLD,
        bad=(
            Intervention(name="known name", steps=steps("write /etc/app.conf good", "systemctl restart app")),
            Intervention(name="only restart", steps=steps("systemctl restart app")),
            Intervention(name="stop the web", steps=steps("systemctl stop web", "write /etc/app.conf good")),
        ),
        reward=Reward(per_command=-0.01, first_diagnosis=0.05, harm=-0.5),
        limits=Limits(commands=12, seconds=600.0, output_bytes=200),
    )


def question_world(name: str, role: str, fact: str, fault: ResolvedFault) -> World:
    return World(
        name=name,
        role=role,
        parameters={"fact": fact},
        complaint="When did it begin?",
        faults=(fault,),
        cascades=(),
        objectives=(Objective(name="when", points=0.99, check=Answer(question="When?", equals=fact)),),
        invariants=(),
    )


def investigation() -> ResolvedScenario:
    """The answer stands in the log. In the control the log says something else."""
    return replace(
        repair(),
        name="investigation",
        kind="investigation",
        worlds=(
            question_world("primary", "primary", "10:15", log_noise("10:15")),
            question_world("later", "twin", "11:30", log_noise("11:30")),
            question_world("calm", "control", "10:15", log_noise("nothing happened")),
        ),
        gold=Intervention(
            name="gold",
            steps=(
                Step(run="cat /var/log/syslog", discover="time"),
                Step(answer="{{ time }}", only_if="is-time '{{ time }}'"),
            ),
        ),
        bad=(Intervention(name="remembered", steps=(Step(answer="10:15"),)),),
        reward=Reward(),
    )


_TWO_COMMANDS = Delay(commands=2)


def cascading(after: Delay = _TWO_COMMANDS) -> ResolvedScenario:
    """The repair, in which the log fills after two commands and has to be emptied too."""
    base = repair()
    flood = ResolvedFault(
        fault="log_flood",
        arguments={},
        inject=(write("/var/log/flood", "full"),),
        revert=(Task(name="remove", module="file", arguments={"path": "/var/log/flood", "state": "absent"}),),
        witness=(contains("/var/log/flood", "full"),),
    )
    worlds = tuple(
        replace(
            world,
            cascades=(
                ResolvedCascade(
                    name="flood",
                    when=unit(str(world.parameters["unit"]), "failed"),
                    after=after,
                    inject=(flood,),
                    repeat=False,
                ),
            ),
            objectives=(
                world.objectives[0],
                replace(world.objectives[1], points=0.2),
                replace(world.objectives[2], points=0.3),
                Objective(
                    name="emptied",
                    points=0.3,
                    armed_by="flood",
                    check=Probe(type="file", arguments={"path": "/var/log/flood", "exists": False}),
                ),
            ),
        )
        for world in base.worlds
    )
    gold = replace(base.gold, steps=(*base.gold.steps, Step(run="rm /var/log/flood", only_if="cat /var/log/flood")))
    return replace(base, name="cascading", worlds=worlds, gold=gold)


SYSTEM = System(
    name="toy",
    title="Toy",
    files=(),
    settings={"units": {"running": ("web", "worker", "app")}},
    healthy=tuple(unit(name) for name in ("app", "web", "worker")),
)
PACK = Pack(name="toys", version="1.0.0", title="Toys", license="Apache-2.0", canary="canary-toys")


def bundle_of(*scenarios: ResolvedScenario) -> VerifiedBundle:
    return verify_under_ephemeral_key(assemble(PACK, (SYSTEM,), scenarios))


def site_of(scenario: ResolvedScenario, backend: ToyBackend | None = None) -> Site:
    content = bundle_of(scenario).content
    return Site(content=content, scenario=content.scenarios[scenario.name], backend=backend or ToyBackend())


def job_of(site: Site, world: str = "primary", *, agent: AgentIdentity | None = None, seed: int = 0) -> Job:
    """A job for one of the site's worlds, with the scenario's own limits."""
    scenario = site.scenario
    trial = Trial(
        pack=site.content.name,
        pack_version=site.content.version,
        bundle_digest=site.content.digest,
        proven=False,
        scenario=scenario.name,
        difficulty=scenario.difficulty,
        kind=scenario.kind,
        split=scenario.split,
        world=world,
        role=scenario.world(world).role,
        required_worlds=tuple((known.name, str(known.role)) for known in scenario.worlds),
        full_score=scenario.full_score,
        backend="toy",
        agent=agent or AgentIdentity(name="test"),
        seed=seed,
        attempt=0,
        max_commands=scenario.limits.commands,
        max_seconds=scenario.limits.seconds,
        output_bytes=scenario.limits.output_bytes,
    )
    return Job(trial_id=trial_id(trial), trial=trial, ordinal=0)
