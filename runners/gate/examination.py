"""All of the gate: what one episode shows in its world, and what has to be established beyond the primary's own."""

from __future__ import annotations

from functools import partial
from itertools import chain

from runners.crowding import Ahead, each
from runners.episode import Repair, unnoticed
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


def examine(bench: Bench, repair: Repair) -> tuple[GateFact, ...]:
    """The facts beyond the primary's own episode, for an attempt that recovered it.

    An intervention that was handed in is replayed in every world. For an agent that only typed commands, repeat and
    reversibility type them again in the same world, where its names are right; twins and controls it has to play
    itself, as trials of their own.
    """
    submitted = repair.submitted
    if submitted is None:
        return _again(bench, as_typed(repair.typed), "policy")
    again = partial(_again, bench, submitted, "intervention")
    with Ahead[tuple[GateFact, ...]](bench.site.backend) as ahead:

        def replayed(world: World) -> tuple[GateFact, ...]:
            # Nothing is watched in the worlds of the other checks, which have time while the first one of these is.
            met = (lambda _: ahead.begin(again)) if world is bench.primary else unnoticed
            return shown(bench, bench.replay(world, submitted, met), "intervention")

        found = each(bench.site.backend, replayed, bench.site.scenario.worlds)
        return (*chain.from_iterable(found), *ahead.result(again))


def _again(bench: Bench, intervention: Intervention, means: Means) -> tuple[GateFact, ...]:
    """The checks that need no episode, each in a world of its own."""
    return each(bench.site.backend, lambda check: check(bench, intervention, means), (repeat, reversibility))
