"""All of the gate: what one episode shows in its world, and what has to be established beyond the primary's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from runners.crowding import each
from runners.gate.bench import Bench, Played
from runners.gate.bystanders import bystanders
from runners.gate.control import control
from runners.gate.recovery import recovery
from runners.gate.repeat import repeat
from runners.gate.reversibility import reversibility
from runners.interventions import as_typed
from runners.records import GateFact, Means
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import World


def shown(bench: Bench, played: Played, means: Means) -> tuple[GateFact, ...]:
    """What an episode establishes about its own world: unharmed, or recovered and nothing else touched."""
    if played.world.role == "control":
        return (control(played, bench.primary, means),)
    recovered = recovery(played, means)
    if recovered.finding != "pass":
        return (recovered,)
    return recovered, bystanders(bench, played, means)


def prepare(bench: Bench, submitted: Intervention | None) -> None:
    """Begin to open the worlds that `examine` will ask for."""
    scenario = bench.site.scenario
    again = () if scenario.kind == "investigation" else (bench.primary, bench.primary)
    bench.prepare(again if submitted is None else (*scenario.worlds, *again))


def examine(bench: Bench, submitted: Intervention | None, typed: tuple[str, ...]) -> tuple[GateFact, ...]:
    """The facts beyond the primary's own episode, for an attempt that recovered it.

    An intervention that was handed in is replayed in every world. For an agent that only typed commands, repeat and
    reversibility type them again in the same world, where its names are right; twins and controls it has to play
    itself, as trials of their own.
    """
    if submitted is None:
        commands = as_typed(typed)
        return _facts(
            bench,
            [lambda: (repeat(bench, commands, "policy"),), lambda: (reversibility(bench, commands, "policy"),)],
        )

    def replayed(world: World) -> tuple[GateFact, ...]:
        return shown(bench, bench.replay(world, submitted), "intervention")

    checks: list[Callable[[], tuple[GateFact, ...]]] = [
        *(partial(replayed, world) for world in bench.site.scenario.worlds),
        lambda: (repeat(bench, submitted, "intervention"),),
        lambda: (reversibility(bench, submitted, "intervention"),),
    ]
    return _facts(bench, checks)


def _facts(bench: Bench, checks: Iterable[Callable[[], tuple[GateFact, ...]]]) -> tuple[GateFact, ...]:
    """All that the checks establish, each in worlds of its own."""
    return tuple(fact for facts in each(bench.site.backend, lambda check: check(), checks) for fact in facts)
