"""What is to be played: agents × scenarios × backends × worlds × seeds × attempts, resolved, as a run keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from compiler.codec import dump, load, plain
from compiler.verify import VerifiedBundle
from runners.agents.protocol import Setting
from runners.agents.spec import AgentSpec
from runners.records import AgentIdentity, Trial
from runners.trials import Job, trial_id
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Difficulty, Kind, Limits, Split
from scenario_dsl.values import Value
from scenario_dsl.worlds import ResolvedScenario, Role


class PlanError(AuthorError):
    """What was asked for cannot be planned."""


class HeldoutError(PlanError):
    """An agent that learns from what it plays was to play scenarios that are kept for judging it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLimits:
    """Limits instead of the scenarios' own; None leaves a scenario's."""

    commands: int | None = None
    seconds: float | None = None
    output_bytes: int | None = None

    def over(self, limits: Limits) -> Limits:
        """Those given, and the others as they are."""
        return Limits(
            commands=limits.commands if self.commands is None else self.commands,
            seconds=limits.seconds if self.seconds is None else self.seconds,
            output_bytes=limits.output_bytes if self.output_bytes is None else self.output_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedScenario:
    """One scenario as it is to be played. `worlds` are the played ones, `all_worlds` those a verdict needs."""

    pack: str
    pack_version: str
    bundle_digest: str
    proven: bool
    scenario: str
    difficulty: Difficulty
    kind: Kind
    split: Split
    worlds: tuple[tuple[str, Role], ...]
    all_worlds: tuple[tuple[str, Role], ...]
    full_score: float
    limits: Limits
    waived: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A resolved plan: what is played, and nothing of how. A run goes on only with the plan it was begun with.

    `prices`: an agent's label and money for a million tokens (in, out), where they are known: costs of one run are of
    one kind. `name` is what its document calls it.
    """

    backends: tuple[str, ...]
    agents: tuple[AgentIdentity, ...]
    scenarios: tuple[PlannedScenario, ...]
    seeds: tuple[int, ...]
    attempts: int
    name: str = ""
    prices: tuple[tuple[str, float, float], ...] = ()

    @property
    def size(self) -> int:
        """The number of trials."""
        worlds = sum(len(scenario.worlds) for scenario in self.scenarios)
        return worlds * len(self.backends) * len(self.agents) * len(self.seeds) * self.attempts

    def trials(self) -> Iterator[Trial]:
        """Every trial once. Whole attempts come one after the other, so that half a run compares all agents alike."""
        for attempt in range(self.attempts):
            for seed in self.seeds:
                for scenario, backend, agent in product(self.scenarios, self.backends, self.agents):
                    for world in scenario.worlds:
                        yield self._trial(scenario, backend, world, agent, seed, attempt)

    def jobs(self) -> Iterator[Job]:
        """Every trial as it is to be played the first time."""
        return (Job(trial_id=trial_id(trial), trial=trial, ordinal=0) for trial in self.trials())

    def _trial(
        self,
        scenario: PlannedScenario,
        backend: str,
        world: tuple[str, Role],
        agent: AgentIdentity,
        seed: int,
        attempt: int,
    ) -> Trial:
        name, role = world
        return Trial(
            pack=scenario.pack,
            pack_version=scenario.pack_version,
            bundle_digest=scenario.bundle_digest,
            proven=scenario.proven,
            waived=scenario.waived,
            scenario=scenario.scenario,
            difficulty=scenario.difficulty,
            kind=scenario.kind,
            split=scenario.split,
            world=name,
            role=role,
            required_worlds=scenario.all_worlds,
            full_score=scenario.full_score,
            backend=backend,
            agent=agent,
            seed=seed,
            attempt=attempt,
            max_commands=scenario.limits.commands,
            max_seconds=scenario.limits.seconds,
            output_bytes=scenario.limits.output_bytes,
        )


def plan(
    bundles: Sequence[VerifiedBundle],
    agents: Sequence[AgentSpec],
    *,
    backends: Sequence[str],
    scenarios: Sequence[str] = (),
    worlds: Sequence[str] = (),
    splits: Sequence[str] = (),
    attempts: int = 1,
    seeds: Sequence[int] = (0,),
    limits: GivenLimits | None = None,
    name: str = "",
) -> Plan:
    """Resolve what is to be played.

    backends: what worlds are made of, by name; everything is played on each. scenarios: names; none means all.
    worlds: roles (`primary`, `twin`, `control`) or names; none means all.
    splits: `train`, `heldout`; none means both. limits: instead of the scenarios' own.

    Raises PlanError for unknown names, agents given twice, agents that cannot play a scenario, and nothing to play;
    HeldoutError for training agents and held-out scenarios.
    """
    if attempts < 1 or not seeds or not backends:
        raise PlanError("a plan needs at least one attempt, one seed and one backend")
    identities = tuple(agent.identity for agent in agents)
    _refuse_twice("agent", [identity.label for identity in identities])
    _refuse_twice("backend", backends)
    _refuse_twice("seed", [str(seed) for seed in seeds])
    _refuse_twice("bundle", [f"{bundle.name} {bundle.digest[:12]}" for bundle in bundles])
    chosen = [(bundle, found) for bundle, found in _chosen(bundles, scenarios) if not splits or found.split in splits]
    for _, scenario in chosen:
        _check_agents(scenario, agents, attempts)
    planned = tuple(_planned(bundle, scenario, worlds, limits) for bundle, scenario in chosen)
    resolved = Plan(
        backends=tuple(backends),
        agents=identities,
        scenarios=tuple(scenario for scenario in planned if scenario.worlds),
        seeds=tuple(seeds),
        attempts=attempts,
        name=name,
        prices=tuple((agent.identity.label, *agent.price) for agent in agents if agent.price is not None),
    )
    if resolved.size == 0:
        raise PlanError("there is nothing to play: no agent, no scenario or no world was chosen")
    return resolved


def to_json(resolved: Plan) -> bytes:
    """The plan as canonical JSON."""
    return dump(resolved)


def from_json(data: bytes) -> Plan:
    """The opposite of `to_json`. Raises compiler.codec.Malformed."""
    return load(Plan, data)


def differences(stored: Plan, new: Plan) -> tuple[str, ...]:
    """What is different in `new`, one plain sentence each; empty when both are the same."""
    return tuple(_compare("", plain(stored), plain(new)))


def _chosen(
    bundles: Sequence[VerifiedBundle], names: Sequence[str]
) -> tuple[tuple[VerifiedBundle, ResolvedScenario], ...]:
    known = [(bundle, scenario) for bundle in bundles for scenario in bundle.content.scenarios.values()]
    unknown = [name for name in names if name not in {scenario.name for _, scenario in known}]
    if unknown:
        listed = ", ".join(sorted(scenario.name for _, scenario in known))
        raise PlanError(f"no scenario `{unknown[0]}`; the given bundles have: {listed}")
    return tuple((bundle, scenario) for bundle, scenario in known if not names or scenario.name in names)


def _planned(
    bundle: VerifiedBundle, scenario: ResolvedScenario, worlds: Sequence[str], limits: GivenLimits | None
) -> PlannedScenario:
    every = tuple((world.name, world.role) for world in scenario.worlds)
    return PlannedScenario(
        pack=bundle.name,
        pack_version=bundle.version,
        bundle_digest=bundle.digest,
        proven=bundle.proven,
        waived=0 if bundle.proof is None else bundle.proof.waived(scenario.name),
        scenario=scenario.name,
        difficulty=scenario.difficulty,
        kind=scenario.kind,
        split=scenario.split,
        worlds=tuple(world for world in every if not worlds or world[0] in worlds or world[1] in worlds),
        all_worlds=every,
        full_score=scenario.full_score,
        limits=scenario.limits if limits is None else limits.over(scenario.limits),
    )


def _check_agents(scenario: ResolvedScenario, agents: Sequence[AgentSpec], attempts: int) -> None:
    for agent in agents:
        label = agent.identity.label
        if agent.identity.training and scenario.split == "heldout":
            raise HeldoutError(
                f"scenario `{scenario.name}` is held out, and agent `{label}` is declared as training: "
                "what it is judged by must not be what it learns from"
            )
        # Making the agent is how it says that it cannot play this scenario; better now than in the night.
        agent.factory(Setting(scenario=scenario, world=scenario.worlds[0], seed=0, attempt=attempts - 1))


def _refuse_twice(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"the {kind} `{name}` was given twice")


def _compare(where: str, stored: Value, new: Value) -> Iterator[str]:
    if isinstance(stored, Mapping) and isinstance(new, Mapping):
        for key in stored:
            yield from _compare(f"{where} {key}".strip(), stored[key], new.get(key))
    elif isinstance(stored, tuple) and isinstance(new, tuple) and _named(stored) and _named(new):
        before, after = _named(stored), _named(new)
        yield from (f"{where}: `{name}` is in the stored plan, but not now" for name in before if name not in after)
        yield from (f"{where}: `{name}` is not in the stored plan" for name in after if name not in before)
        for name, value in before.items():
            if name in after:
                yield from _compare(f"{where} `{name}`:", value, after[name])
        if before.keys() == after.keys() and list(before) != list(after):
            yield f"{where}: in another order than in the stored plan"
    elif stored != new:
        yield f"{where}: {_shown(stored)} in the stored plan, {_shown(new)} now"


def _named(entries: tuple[Value, ...]) -> dict[str, Value]:
    """The entries of a list by their names, so that a difference can name the entry; nothing where they have none."""
    named = {name: entry for entry in entries if (name := _name_of(entry))}
    return named if len(named) == len(entries) else {}


def _name_of(entry: Value) -> str:
    if not isinstance(entry, Mapping):
        return ""
    if "scenario" in entry:
        return str(entry["scenario"])
    return load(AgentIdentity, dump(entry)).label if "configuration" in entry else ""


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else dump(value).decode()
