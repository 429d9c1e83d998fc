"""Cascades: are they named, can they fire, do they wait for each other.

What brings a condition about is decidable where the condition equals the witness of a fault that is injected. Any other
condition may come about by itself (a disk fills, a process grows) and counts as possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenario_dsl.diagnostics import Diagnostic, Label, closest, listing
from scenario_dsl.model import Cascade, Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.worlds import World


def check_cascades(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    names = [cascade.name for cascade in scenario.cascades]
    for index, cascade in enumerate(scenario.cascades):
        if cascade.name in names[:index]:
            first = (*scenario.cascades[names.index(cascade.name)].at, "name")
            yield problems.CascadeNamedTwice(
                source=document.source,
                span=document.place((*cascade.at, "name")),
                labels=(Label(span=document.place(first), text="first given here"),),
                name=cascade.name,
            )
    for objective in scenario.objectives:
        armed_by = objective.armed_by
        if armed_by is not None and armed_by not in names:
            yield problems.UnknownCascade(
                source=document.source,
                span=document.place((*objective.at, "armed_by")),
                name=armed_by,
                known=f"there are: {listing(names)}" if names else "this scenario has no cascades",
                suggestion=closest(armed_by, names),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Soonest:
    """The least that an episode must have gone on for."""

    commands: int = 0
    seconds: float = 0.0

    def later(self, cascade: Cascade) -> _Soonest:
        return _Soonest(commands=self.commands + cascade.after.commands, seconds=self.seconds + cascade.after.seconds)


def check_reachable(document: Document, scenario: Scenario, primary: World) -> Iterator[Diagnostic]:
    """`primary`: the scenario's, as it was made."""
    providers = _providers(primary)
    soonest: dict[int, _Soonest] = {}
    # Each round can settle at least one more cascade; what is left after all rounds waits for itself.
    for _ in scenario.cascades:
        for index, cascade in enumerate(scenario.cascades):
            needed = providers[index]
            if needed is None:
                soonest[index] = _Soonest().later(cascade)
                continue
            ready = [soonest[each] for each in needed if each in soonest]
            if ready:
                best = min(ready, key=lambda each: (each.commands, each.seconds))
                soonest[index] = best.later(cascade)
    for index, cascade in enumerate(scenario.cascades):
        span = document.key((*cascade.at, "after")) if cascade.after.commands or cascade.after.seconds else None
        if index not in soonest:
            through = [f"`{scenario.cascades[each].name}`" for each in providers[index] or ()]
            yield problems.CascadeCycle(
                source=document.source,
                span=document.key((*cascade.at, "when")),
                name=cascade.name,
                through=listing(through),
            )
        elif span is not None:
            reason = _too_late(soonest[index], scenario)
            if reason:
                yield problems.CascadeUnreachable(source=document.source, span=span, name=cascade.name, reason=reason)


def _too_late(soonest: _Soonest, scenario: Scenario) -> str:
    limits = scenario.limits
    if soonest.commands >= limits.commands:
        return f"it fires after {soonest.commands} commands at the soonest, and the episode ends with {limits.commands}"
    if soonest.seconds >= limits.seconds:
        return f"it fires after {soonest.seconds:g} s at the soonest, and the episode ends after {limits.seconds:g} s"
    return ""


def _providers(world: World) -> list[tuple[int, ...] | None]:
    """For each cascade the cascades that bring its condition about, or None where it may come about without them."""
    initial = [probe for fault in world.faults for probe in fault.witness]
    effects = [[probe for fault in cascade.inject for probe in fault.witness] for cascade in world.cascades]
    providers: list[tuple[int, ...] | None] = []
    for cascade in world.cascades:
        by = tuple(index for index, effect in enumerate(effects) if cascade.when in effect)
        providers.append(by if by and cascade.when not in initial else None)
    return providers
