"""All of the gate for one attempt that recovered its primary."""

from __future__ import annotations

from runners.gate import control, primary, twin
from runners.gate.bench import Bench
from runners.gate.repeat import repeat
from runners.gate.reversibility import reversibility
from runners.interventions import as_typed
from runners.records import GateFact
from scenario_dsl.model import Intervention


def examine(bench: Bench, submitted: Intervention | None, typed: tuple[str, ...]) -> tuple[GateFact, ...]:
    """The facts beyond the primary's own episode.

    An intervention that was handed in is replayed in every world. For an agent that only typed commands, repeat and
    reversibility type them again in the same world, where its names are right; twins and controls it has to play
    itself, as trials of their own.
    """
    if submitted is None:
        commands = as_typed(typed)
        return repeat(bench, commands, "policy"), reversibility(bench, commands, "policy")
    return (
        primary.by_intervention(bench, submitted),
        *in_other_worlds(bench, submitted),
        repeat(bench, submitted, "intervention"),
        reversibility(bench, submitted, "intervention"),
    )


def in_other_worlds(bench: Bench, intervention: Intervention) -> tuple[GateFact, ...]:
    """The intervention's fact in each twin and control, in the scenario's order."""
    return tuple(
        (twin if world.role == "twin" else control).by_intervention(bench, world, intervention)
        for world in bench.site.scenario.worlds
        if world.role != "primary"
    )
