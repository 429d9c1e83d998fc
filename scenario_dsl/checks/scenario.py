"""One scenario against the faults and systems it may use."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.checks.cascades import check_cascades, check_reachable
from scenario_dsl.checks.fleets import check_nodes
from scenario_dsl.checks.leaks import check_leaks
from scenario_dsl.checks.worlds import check_controls, check_twins
from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import Answer, Scenario
from scenario_dsl.nodes import Document, value_of
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.realise.scenario import realise
from scenario_dsl.template import TemplateError, names_in
from scenario_dsl.values import strings


def check_scenario(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    made = realise(document, scenario, known)
    yield from made.found
    yield from _points(document, scenario)
    yield from _worlds_there(document, scenario)
    yield from _answers(document, scenario)
    yield from check_cascades(document, scenario)
    yield from check_controls(document, scenario, known)
    yield from check_leaks(document, scenario)
    yield from _unused(document, scenario)
    if not made.found:
        yield from check_nodes(document, made.scenario, known)
        yield from check_reachable(document, scenario, made.scenario.worlds[0])
        yield from check_twins(document, scenario, made.scenario.worlds)


def _points(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    total = sum(objective.points for objective in scenario.objectives)
    if total > 1 + 1e-9:
        span = document.key(("objectives",))
        yield problems.PointsAboveOne(source=document.source, span=span, total=f"{total:.6g}")


def _answers(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    asks = any(isinstance(objective.check, Answer) for objective in scenario.objectives)
    if asks and not any(step.answer is not None for step in scenario.gold.steps):
        span = document.key((*scenario.gold.at, "steps"))
        yield problems.GoldAnswersNothing(source=document.source, span=span)


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
