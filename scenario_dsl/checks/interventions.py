"""Gold and the bad habits: what their steps know when they need it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from scenario_dsl.diagnostics import Diagnostic, closest
from scenario_dsl.model import Answer, Intervention, Scenario, Step
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning, templates
from scenario_dsl.realise.texts import check_names, known_names, template_problem
from scenario_dsl.template import TemplateError, expressions, is_name, names_in
from scenario_dsl.values import Route


def check_interventions(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    names = frozenset(scenario.parameters)
    for intervention in (scenario.gold, *scenario.bad):
        yield from _intervention(document, intervention, names)
    asks = any(isinstance(objective.check, Answer) for objective in scenario.objectives)
    if asks and not any(step.answer is not None for step in scenario.gold.steps):
        span = document.key((*scenario.gold.at, "steps"))
        yield meaning.GoldAnswersNothing(source=document.source, span=span)


def _intervention(document: Document, intervention: Intervention, names: AbstractSet[str]) -> Iterator[Diagnostic]:
    for name, text in (("hypothesis", intervention.hypothesis), ("falsifier", intervention.falsifier)):
        if text is not None:
            yield from check_names(document, (*intervention.at, name), text, names)
    everything = frozenset(step.discover for step in intervention.steps if step.discover is not None)
    discovered: frozenset[str] = frozenset()
    for step in intervention.steps:
        before = discovered
        if step.discover is not None:
            discovered |= {step.discover}
        for key, text in _texts(step):
            # A step is undone after everything was done, so `undo` knows what its own step found.
            own = discovered if key == "undo" else before
            yield from _text(document, (*step.at, key), text, names, own, everything)


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    fields = {
        "think": step.think,
        "only_if": step.only_if,
        "run": step.run,
        "answer": step.answer,
        "undo": step.undo,
    }
    for key, text in fields.items():
        if text is not None:
            yield key, text


def _text(
    document: Document,
    route: Route,
    text: str,
    names: AbstractSet[str],
    discovered: AbstractSet[str],
    everything: AbstractSet[str],
) -> Iterator[Diagnostic]:
    known = names | discovered
    for found in expressions(text):
        span = document.within(route, found.written)
        try:
            used = names_in(found.written)
        except TemplateError as error:
            yield template_problem(document, route, error, known)
            continue
        for name in sorted(used - known):
            if name in everything:
                yield templates.NotYetDiscovered(source=document.source, span=span, name=name)
            else:
                yield templates.UnknownName(
                    source=document.source,
                    span=span,
                    name=name,
                    known=known_names(known),
                    suggestion=closest(name, known),
                )
        late = sorted(used & discovered)
        if late and not is_name(found.inner):
            yield templates.DiscoveredInExpression(source=document.source, span=span, name=late[0])
