"""The names of worlds, and what they may change: parameters of the scenario, for plain values of the same kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_dsl.diagnostics import Diagnostic, Label, closest
from scenario_dsl.model import Scenario, Variant
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.texts import known_names
from scenario_dsl.template import expressions
from scenario_dsl.values import Route, Value, strings
from scenario_dsl.worlds import PRIMARY


def check_variants(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    yield from _plain(document, ("parameters",), scenario.parameters)
    taken = {PRIMARY: document.key(("scenario",))}
    for variant in (*scenario.twins, *scenario.controls):
        span = document.key(variant.at)
        if variant.name in taken:
            label = Label(span=taken[variant.name], text=f"`{variant.name}` here")
            labels = (label,) if variant.name != PRIMARY else ()
            yield problems.WorldNameTaken(source=document.source, span=span, labels=labels, name=variant.name)
        taken.setdefault(variant.name, span)
        at = (*variant.at, "parameters") if variant.instead_of_faults is not None else variant.at
        yield from _plain(document, at, variant.parameters)
        yield from _declared(document, scenario, variant, at)


def _plain(document: Document, at: Route, parameters: Mapping[str, Value]) -> Iterator[Diagnostic]:
    for route, text in strings(parameters, at):
        for found in expressions(text):
            span = document.within(route, found.written)
            yield problems.ParameterIsTemplate(source=document.source, span=span, name=str(route[len(at)]))


def _declared(document: Document, scenario: Scenario, variant: Variant, at: Route) -> Iterator[Diagnostic]:
    names = frozenset(scenario.parameters)
    for name, value in variant.parameters.items():
        if name not in names:
            yield problems.UnknownParameter(
                source=document.source,
                span=document.key((*at, name)),
                name=name,
                known=known_names(names),
                suggestion=closest(name, names - variant.parameters.keys()),
            )
        elif _kind(value) != _kind(scenario.parameters[name]):
            yield problems.ParameterChangesType(
                source=document.source,
                span=document.place((*at, name)),
                labels=(Label(span=document.key(("parameters", name)), text="the primary's"),),
                name=name,
                found=_kind(value),
                expected=_kind(scenario.parameters[name]),
            )


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, tuple):
        return "a list"
    return "text" if isinstance(value, str) else "a mapping"
