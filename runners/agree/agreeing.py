"""A bundle in two backends: every world with nobody and with gold, the primary with each bad habit, and each system as
somebody sees it who looks around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

from compiler.model import PackContent
from runners.agree.comparing import Compared, exit_codes, structures, verdicts
from runners.agree.playing import Played, exploration, explore, play
from runners.crowding import each
from runners.opening import Site
from runners.plan import PlanError
from runners.worlds import Backend, WorldError
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import Asked, ResolvedScenario, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """skipped: scenario -> why it cannot be played in both; failed: scenario -> why one of its worlds was not there."""

    scenarios: tuple[str, ...]
    skipped: dict[str, str]
    failed: dict[str, str]
    compared: tuple[Compared, ...]


class _Turn(NamedTuple):
    """A player in a world; nobody where there is no intervention."""

    world: World
    player: str
    intervention: Intervention | None


def agree(
    content: PackContent,
    backends: tuple[Backend, Backend],
    *,
    scenarios: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Agreement:
    """Play the named scenarios (none named: all) in both. progress: called with what is played next.

    Where a world fails, the others are compared all the same. Raises PlanError for an unknown scenario, HostError.
    """
    unknown = [name for name in scenarios if name not in content.scenarios]
    if unknown:
        raise PlanError(f"no scenario `{unknown[0]}`; the bundle has: {', '.join(sorted(content.scenarios))}")
    skipped: dict[str, str] = {}
    failed: dict[str, str] = {}
    played: list[str] = []
    compared: list[Compared] = []
    explored: set[str] = set()
    for name, scenario in content.scenarios.items():
        if scenarios and name not in scenarios:
            continue
        reasons = [reason for backend in backends if (reason := backend.unsupported(content, scenario)) is not None]
        if reasons:
            skipped[name] = reasons[0]
            continue
        if progress is not None:
            progress(name)
        sites = tuple(Site(content=content, scenario=scenario, backend=backend) for backend in backends)
        try:
            compared += tuple(_scenario(scenario, sites))
            if scenario.system not in explored:
                compared += tuple(_system(scenario, sites))
                explored.add(scenario.system)
        except WorldError as error:
            failed[name] = str(error)
        else:
            played.append(name)
    return Agreement(scenarios=tuple(played), skipped=skipped, failed=failed, compared=tuple(compared))


def _scenario(scenario: ResolvedScenario, sites: tuple[Site, ...]) -> Iterator[Compared]:
    turns = tuple(_turns(scenario))
    ours, theirs = (each(site.backend, partial(_played, site), turns) for site in sites)
    for turn, here, there in zip(turns, ours, theirs, strict=True):
        where = f"{scenario.name}, {turn.world.name}, {turn.player}"
        subjects = [f"{asked.who}: {asked.probe.type}" for asked in _questions(turn.world)]
        yield from verdicts(f"{where}, before", subjects, here.before, there.before)
        yield from verdicts(f"{where}, after", subjects, here.after, there.after)
        yield from exit_codes("exit code of a player", where, here.typed, there.typed)


def _played(site: Site, turn: _Turn) -> Played:
    probes = [asked.probe for asked in _questions(turn.world)]
    return play(site, turn.world, probes, turn.intervention, site.scenario.limits)


def _system(scenario: ResolvedScenario, sites: tuple[Site, ...]) -> Iterator[Compared]:
    here, there = (explore(site, scenario.worlds[0], exploration()) for site in sites)
    where = f"the system {scenario.system}"
    return chain(exit_codes("exit code", where, here, there), structures(where, here, there))


def _turns(scenario: ResolvedScenario) -> Iterator[_Turn]:
    for world in scenario.worlds:
        yield _Turn(world, "nobody", None)
        yield _Turn(world, "gold", scenario.gold)
    for habit in scenario.bad:
        yield _Turn(scenario.worlds[0], habit.name, habit)


def _questions(world: World) -> tuple[Asked, ...]:
    """What is asked of a world from its beginning on."""
    return tuple(asked for asked in world.probes() if not asked.later)
