"""One scenario against the faults and systems it may use."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.checks.cascades import check_cascades, check_reachable
from scenario_dsl.checks.interventions import check_interventions
from scenario_dsl.checks.leaks import check_leaks
from scenario_dsl.checks.worlds import check_controls, check_twins
from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import Answer, FaultUse, Probe, Scenario, Seen
from scenario_dsl.nodes import Document, value_of
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.realise.scenario import realise
from scenario_dsl.realise.texts import check_names, check_texts
from scenario_dsl.template import TemplateError, names_in
from scenario_dsl.values import Route, strings


def check_scenario(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    found = [
        *_texts(document, scenario),
        *_points(document, scenario),
        *_worlds_there(document, scenario),
        *check_cascades(document, scenario),
        *check_controls(document, scenario, known),
        *check_interventions(document, scenario),
        *check_leaks(document, scenario),
        *_unused(document, scenario),
    ]
    yield from found
    made = realise(document, scenario, known)
    said = {each.span for each in found if each.severity == "error"}
    # What is known to be wrong with a text without its values is better said than what they make of it.
    yield from (each for each in made.found if each.span not in said)
    if not made.found:
        yield from check_reachable(document, scenario, made.scenario.worlds[0])
        yield from check_twins(document, scenario, made.scenario.worlds)


def uses_of(scenario: Scenario) -> Iterator[FaultUse]:
    """Every use of a fault, in the order of the document."""
    yield from scenario.faults
    for cascade in scenario.cascades:
        yield from cascade.inject
    for control in scenario.controls:
        yield from control.instead_of_faults or ()


def _texts(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    names = frozenset(scenario.parameters)
    yield from check_names(document, ("complaint",), scenario.complaint, names)
    yield from check_texts(document, ("hints",), scenario.hints, names)
    for use in uses_of(scenario):
        yield from check_texts(document, use.at, use.arguments, names)
    for cascade in scenario.cascades:
        yield from check_texts(document, cascade.when.at, cascade.when.arguments, names)
    for invariant in scenario.invariants:
        yield from check_texts(document, invariant.probe.at, invariant.probe.arguments, names)
    for control in scenario.controls:
        yield from check_texts(document, (*control.at, "complaint"), control.complaint, names)
    for objective in scenario.objectives:
        check = objective.check
        if isinstance(check, Probe):
            yield from check_texts(document, check.at, check.arguments, names)
        else:
            for route, text in _checked_texts(check):
                yield from check_names(document, (*objective.at, *route), text, names)


def _checked_texts(check: Answer | Seen) -> Iterator[tuple[Route, str]]:
    if isinstance(check, Answer):
        fields = {"question": check.question, "equals": check.equals, "matches": check.matches}
        holder = "answer"
    else:
        fields = {"output": check.output, "command": check.command}
        holder = "seen"
    for name, text in fields.items():
        if text is not None:
            yield (holder, name), text


def _points(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    total = sum(objective.points for objective in scenario.objectives)
    if total > 1 + 1e-9:
        span = document.key(("objectives",))
        yield problems.PointsAboveOne(source=document.source, span=span, total=f"{total:.6g}")


def _worlds_there(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    if scenario.kind != "repair":
        return
    span = document.key(("scenario",))
    if not scenario.twins:
        yield problems.NoTwin(source=document.source, span=span)
    if not scenario.controls:
        yield problems.NoControl(source=document.source, span=span)


def _unused(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    used: set[str] = set()
    for route, text in strings(value_of(document.root)):
        if route[:1] != ("parameters",):
            try:
                used |= names_in(text)
            except TemplateError:
                # Reported where the text is checked; any name might stand in it.
                return
    for name in scenario.parameters:
        if name not in used:
            span = document.key(("parameters", name))
            yield problems.ParameterUnused(source=document.source, span=span, what="parameter", name=name)
