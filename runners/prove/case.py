"""One scenario on the bench of `prove`: playing agents in its worlds, and remembering what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from compiler.model import Agreement, Finding, Flip, HabitProof, Mutant
from runners.agents.interventional import InterventionAgent
from runners.agents.nop import NopAgent
from runners.agents.protocol import Agent
from runners.crowding import Item, Once, Result, each
from runners.opening import Site
from runners.records import AgentIdentity, Trial, TrialRecord, judge
from runners.trials import Job, always, play_trial, trial_id
from runners.worlds import WorldError
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import World

Established: TypeAlias = Finding | Flip | Mutant | HabitProof | Agreement
"""What a check may hand back: findings, which decide, and the figures that they stand on."""


class Case:
    """Everything is played through the same trials as in a run, so what is proven is what is run."""

    def __init__(self, site: Site, repeats: int) -> None:
        self.site = site
        self.scenario = site.scenario
        self.repeats = repeats
        self.primary = site.scenario.worlds[0]
        self.broken_worlds = tuple(world for world in site.scenario.worlds if world.role != "control")
        self.controls = tuple(world for world in site.scenario.worlds if world.role == "control")
        worlds = site.scenario.worlds
        self._gold = {world.name: Once(partial(self.intervene, world, self.scenario.gold)) for world in worlds}
        self._nop = {world.name: Once(partial(self.play, world, "nop", NopAgent())) for world in worlds}
        self._fired: set[str] = set()

    def play(
        self, world: World, name: str, agent: Agent, *, seed: int = 0, gate: Callable[[], bool] = always
    ) -> TrialRecord:
        """One trial of `agent`, called `name`. Raises WorldError."""
        trial = self._trial(world, name, seed)
        job = Job(trial_id=trial_id(trial), trial=trial, ordinal=0)
        record = play_trial(job, self.site, world, agent, gate=gate)
        self._fired.update(record.cascades_fired)
        return record

    def intervene(
        self, world: World, intervention: Intervention, *, seed: int = 0, gate: Callable[[], bool] = always
    ) -> TrialRecord:
        return self.play(world, intervention.name, InterventionAgent(intervention), seed=seed, gate=gate)

    def gold(self, world: World) -> TrialRecord:
        """Gold's trial in that world; played once."""
        return self._gold[world.name]()

    def nop(self, world: World) -> TrialRecord:
        """The trial in that world of who does nothing; played once."""
        return self._nop[world.name]()

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> tuple[Result, ...]:
        """See `runners.crowding`."""
        return each(self.site.backend, work, items)

    def fired(self, cascade: str) -> bool:
        """Did the cascade fire in anything that was played so far?"""
        return cascade in self._fired

    def _trial(self, world: World, name: str, seed: int) -> Trial:
        scenario, limits = self.scenario, self.scenario.limits
        return Trial(
            pack=self.site.content.name,
            pack_version=self.site.content.version,
            bundle_digest=self.site.content.digest,
            proven=False,
            scenario=scenario.name,
            difficulty=scenario.difficulty,
            kind=scenario.kind,
            split=scenario.split,
            world=world.name,
            role=world.role,
            required_worlds=tuple((known.name, known.role) for known in scenario.worlds),
            full_score=scenario.full_score,
            backend=self.site.backend.name,
            agent=AgentIdentity(name="prove", configuration=name),
            seed=seed,
            attempt=0,
            max_commands=limits.commands,
            max_seconds=limits.seconds,
            output_bytes=limits.output_bytes,
        )


def full(record: TrialRecord, world: World) -> bool:
    """Did the trial earn all points of its world?"""
    points = sum(objective.points for objective in world.objectives)
    return record.score is not None and record.score >= points - 1e-9


def lost(record: TrialRecord) -> tuple[str, ...]:
    """The names of the objectives that were not met."""
    return tuple(result.name for result in record.objectives if not result.met)


def why_not_verified(record: TrialRecord) -> str | None:
    """None when the record's facts give VERIFIED, else the verdict and the first fact against it."""
    verdict = judge([record])
    if verdict == "VERIFIED":
        return None
    against = [fact for fact in record.facts if fact.finding not in ("pass", "not-applicable")]
    against.sort(key=lambda fact: fact.finding != "harm")
    if record.harms:
        return f"{verdict}: {record.harms[0]}"
    if against:
        return f"{verdict}: {against[0].check} in `{against[0].world}`: {against[0].reason}"
    return f"{verdict}: evidence is missing"


def finding(check: str, world: World | str, passed: bool | None, detail: str) -> Finding:
    return Finding(check=check, world=world if isinstance(world, str) else world.name, passed=passed, detail=detail)


def in_each(
    case: Case, check: str, worlds: Iterable[World], establish: Callable[[World], Finding]
) -> tuple[Finding, ...]:
    """One finding for each world; a world that fails is a finding against that world alone."""

    def found(world: World) -> Finding:
        try:
            return establish(world)
        except WorldError as error:
            return finding(check, world, False, str(error))

    return case.each(found, worlds)
