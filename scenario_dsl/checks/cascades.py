"""Cascades: are they named, can they fire, do they wait for each other.

What brings a condition about is decidable where the condition equals the witness of a fault that is injected. Any other
condition may come about by itself (a disk fills, a process grows) and counts as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scenario_dsl.checks.known import Known
from scenario_dsl.checks.realise import WorldNames, concrete_probe, realise
from scenario_dsl.diagnostics import Diagnostic, Label, closest, listing
from scenario_dsl.model import Cascade, FaultUse, Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.template import TemplateError
from scenario_dsl.values import Value


def check_cascades(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
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
    yield from _reachable(document, scenario, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Soonest:
    """The least that an episode must have gone on for."""

    commands: int = 0
    seconds: float = 0.0

    def later(self, cascade: Cascade) -> _Soonest:
        return _Soonest(commands=self.commands + cascade.after.commands, seconds=self.seconds + cascade.after.seconds)


def _reachable(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    providers = _providers(document, scenario, known)
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


def _providers(document: Document, scenario: Scenario, known: Known) -> list[tuple[int, ...] | None]:
    """For each cascade the cascades that bring its condition about, or None where it may come about without them."""
    world = WorldNames(title="the primary", parameters=scenario.parameters)

    def witnesses(uses: tuple[FaultUse, ...]) -> list[tuple[str, Mapping[str, Value]]]:
        # What does not fit is reported where the worlds are checked.
        real = [realise(document, use, world, known, []) for use in uses]
        return [probe for fault in real if fault is not None for probe in fault.witness]

    initial = witnesses(scenario.faults)
    effects = [witnesses(cascade.inject) for cascade in scenario.cascades]
    providers: list[tuple[int, ...] | None] = []
    for cascade in scenario.cascades:
        try:
            condition = (cascade.when.type, concrete_probe(cascade.when, scenario.parameters))
        except (TemplateError, ValueError):
            providers.append(None)
            continue
        by = tuple(index for index, effect in enumerate(effects) if condition in effect)
        providers.append(by if by and condition not in initial else None)
    return providers
