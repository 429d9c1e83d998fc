"""One trial, from its plan to its record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from compiler.codec import dump
from compiler.model import PackContent
from runners.agents.boundary import admit_usage
from runners.agents.protocol import Agent, AgentFactory, AgentUnavailableError, Setting, Usage
from runners.crowding import Ahead, turn
from runners.episode import Episode, Repair, unnoticed
from runners.gate.bench import Bench
from runners.gate.examination import examine, shown
from runners.opening import Site
from runners.records import AgentIdentity, ErrorKind, GateFact, Trial, TrialRecord
from runners.seeds import derive
from runners.text import writable
from runners.worlds import Backend, LiveWorld, Parting, WorldError
from scenario_dsl.model import Limits
from scenario_dsl.worlds import World

_SITES = 32
"""How many scenarios a worker keeps prepared."""
_INNERMOST = 3
"""How many of the innermost frames an unexpected error's description names."""


class Job(NamedTuple):
    """One time that a trial is to be played. `ordinal` counts retries from 0."""

    trial_id: str
    trial: Trial
    ordinal: int


class Lane(NamedTuple):
    """What agents wait for, and how many of their episodes may be under way at once."""

    name: str
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All that a worker needs besides its jobs on one backend: contents by bundle digest, how to make each agent.

    lanes: for the agents that wait, what for and how many of them play at once.
    """

    contents: Mapping[str, PackContent]
    factories: Mapping[AgentIdentity, AgentFactory]
    backend: Backend
    lanes: Mapping[AgentIdentity, Lane] = field(default_factory=dict)
    _sites: dict[tuple[str, str], Site] = field(default_factory=dict, init=False, repr=False, compare=False)

    def site(self, trial: Trial) -> Site:
        """Where the trial is played. A worker keeps the last few, since what they have prepared is used again."""
        key = (trial.bundle_digest, trial.scenario)
        site = self._sites.pop(key, None)
        if site is None:
            content = self.contents[trial.bundle_digest]
            site = Site(content=content, scenario=content.scenarios[trial.scenario], backend=self.backend)
            while len(self._sites) >= _SITES:
                # The one that was not asked for for the longest time.
                del self._sites[next(iter(self._sites))]
        self._sites[key] = site
        return site


Works: TypeAlias = Mapping[str, Work]
"""What a worker needs on each backend, by its name."""


def trial_id(trial: Trial) -> str:
    """The trial's name: sha256 (hex) over what decides its course. Titles, points and proofs follow from the digest."""
    return hashlib.sha256(
        dump(
            {
                "agent": replace(trial.agent, title=""),
                "attempt": trial.attempt,
                "backend": trial.backend,
                "bundle": trial.bundle_digest,
                "limits": (trial.max_commands, trial.max_seconds, trial.output_bytes),
                "scenario": trial.scenario,
                "seed": trial.seed,
                "world": trial.world,
            }
        )
    ).hexdigest()


def world_seed(trial: Trial) -> int:
    """The seed of a trial's world. All agents meet the same world in the same attempt, so that they can be compared."""
    return derive(trial.seed, trial.scenario, trial.world, str(trial.attempt), "world")


def agent_seed(identifier: str) -> int:
    """The seed of a trial's agent, from the trial's id: no two agents draw the same numbers."""
    return derive(0, identifier, "agent")


def run_trial(job: Job, work: Work) -> TrialRecord:
    """Play one trial. Whatever goes wrong on our side becomes an Errored record; this raises nothing of its own."""
    agent: Agent | None = None
    try:
        site = work.site(job.trial)
        unsupported = work.backend.unsupported(site.content, site.scenario)
        if unsupported is not None:
            return _empty(job, "Unsupported", unsupported)
        world = site.scenario.world(job.trial.world)
        seed = agent_seed(job.trial_id)
        factory = work.factories[job.trial.agent]
        agent = factory(Setting(scenario=site.scenario, world=world, seed=seed, attempt=job.trial.attempt))
        record = play_trial(job, site, world, agent)
    except WorldError as error:
        record = errored(job, f"the world failed: {error}", "world")
    except AgentUnavailableError as error:
        record = errored(job, f"the agent could not be reached: {error}", error.kind)
    except Exception as error:
        record = errored(job, f"unexpected {describe(error)}", "internal")
    return _with_usage(record, admit_usage(agent))


def always() -> bool:
    return True


def play_trial(job: Job, site: Site, world: World, agent: Agent, *, gate: Callable[[], bool] = always) -> TrialRecord:
    """The episode and, where its primary was recovered, the gate. Raises WorldError and AgentUnavailableError.

    gate: whether more than the episode is of interest; asked once it is known that there is more.
    """
    trial = job.trial
    limits = Limits(commands=trial.max_commands, seconds=trial.max_seconds, output_bytes=trial.output_bytes)
    bench = Bench(site=site, limits=limits, seed=world_seed(trial))
    with Ahead[tuple[GateFact, ...]](site.backend) as ahead:

        def met(repair: Repair) -> None:
            ahead.begin(partial(examine, bench, repair))

        # Where it is not sure that the gate will be asked, it is not asked ahead.
        sure = world.role == "primary" and gate is always
        # The trial's own seed in every role: a twin's episode is an attempt of its own, not a copy of the gate's.
        with turn(site.backend, lambda: site.broken(world, seed=bench.seed)) as live:
            try:
                played = bench.play(live, world, agent, met if sure else unnoticed)
            finally:
                live.close()
        episode = played.episode
        facts = _with_parting(live, shown(bench, played, "policy"))
        if world.role == "primary" and facts[0].finding == "pass" and gate():
            facts += ahead.result(partial(examine, bench, episode.repair))
    return _record(job, episode, facts)


def _with_parting(live: LiveWorld, facts: tuple[GateFact, ...]) -> tuple[GateFact, ...]:
    """The facts, of which the first, the episode's own, also says how its world was left."""
    if not isinstance(live, Parting) or not live.left:
        return facts
    return (replace(facts[0], reason=f"{facts[0].reason}; {live.left}"), *facts[1:])


def describe(error: BaseException) -> str:
    """An error as one line: its type, its text, and the innermost places it came through."""
    places: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_qualname}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {error} (in {' > '.join(places[-_INNERMOST:])})"


def errored(job: Job, reason: str, kind: ErrorKind) -> TrialRecord:
    """The record of a trial that could not be played to its end."""
    return replace(_empty(job, "Errored", reason), error_kind=kind)


def _with_usage(record: TrialRecord, usage: Usage) -> TrialRecord:
    if usage == Usage():
        return record
    return replace(
        record,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage.cost,
        requests=usage.requests,
        resent=usage.resent,
        malformed=usage.malformed,
        model=usage.model,
        agent_seed=usage.seed,
        agent_log=usage.log,
    )


def _record(job: Job, episode: Episode, facts: tuple[GateFact, ...]) -> TrialRecord:
    return TrialRecord(
        trial_id=job.trial_id,
        trial=job.trial,
        ordinal=job.ordinal,
        outcome="Passed" if facts[0].finding == "pass" else "Failed",
        score=None if job.trial.role == "control" else episode.score,
        commands=episode.commands,
        seconds=episode.seconds,
        objectives=episode.objectives,
        turns=episode.turns,
        facts=facts,
        harms=episode.harms,
        cascades_fired=episode.cascades_fired,
        error=episode.agent_error,
    )


def _empty(job: Job, outcome: Literal["Errored", "Unsupported"], reason: str) -> TrialRecord:
    return TrialRecord(
        trial_id=job.trial_id,
        trial=job.trial,
        ordinal=job.ordinal,
        outcome=outcome,
        score=None,
        commands=0,
        seconds=0.0,
        error=writable(reason),
    )
