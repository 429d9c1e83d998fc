"""What the worlds of a scenario are to each other: twins differ, controls are healthy."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.model import Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.worlds import ResolvedFault, World


def check_twins(document: Document, scenario: Scenario, worlds: tuple[World, ...]) -> Iterator[Diagnostic]:
    """Twins break something else than the primary and each other. `worlds`: the scenario's, as they were made."""
    uses = len(scenario.faults) + sum(len(cascade.inject) for cascade in scenario.cascades)
    earlier: dict[str, World] = {"the primary": worlds[0]}
    for twin, world in zip(scenario.twins, worlds[1:], strict=False):
        for title, other in earlier.items():
            same = other.parameters == world.parameters
            # Where faults are not known, nothing can be said about what they would break.
            if same or (len(_broken(world)) == uses and _broken(other) == _broken(world)):
                yield problems.TwinIdentical(
                    source=document.source,
                    span=document.key(twin.at),
                    name=twin.name,
                    other=title,
                    reason="its parameters are the same" if same else "its faults do not use what it changes",
                )
                break
        earlier[f"the twin `{twin.name}`"] = world


def _broken(world: World) -> tuple[ResolvedFault, ...]:
    return (*world.faults, *(fault for cascade in world.cascades for fault in cascade.inject))


def check_controls(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    """A control may share a decoy with the scenario, with other arguments, but never a fault that breaks something."""
    uses = (*scenario.faults, *(use for cascade in scenario.cascades for use in cascade.inject))
    for control in scenario.controls:
        for use in control.instead_of_faults or ():
            fault = known.faults.get(use.fault)
            decoy = fault is not None and fault.decoy
            same = [own for own in uses if own.fault == use.fault]
            if decoy and not control.parameters:
                same = [own for own in same if own.arguments == use.arguments]
            elif decoy:
                same = []
            if same:
                yield problems.ControlHasFault(
                    source=document.source,
                    span=document.key(use.at),
                    labels=(Label(span=document.key(same[0].at), text="the scenario's own"),),
                    fault=use.fault,
                )
