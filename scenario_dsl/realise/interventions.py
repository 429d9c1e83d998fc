"""Gold and the bad habits, with the primary's parameters, whichever world they will be played in.

What differs in another world must be discovered there; discovered names stay as `{{ name }}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from scenario_dsl.diagnostics import Diagnostic, Diagnostics, closest, errors_in
from scenario_dsl.errors import AuthorError
from scenario_dsl.loading import Loaded, load_text
from scenario_dsl.model import Hypothesis, Intervention, Step
from scenario_dsl.problems import templates as problems
from scenario_dsl.realise.rendering import for_shell
from scenario_dsl.realise.texts import Scope, known_names, template_problem
from scenario_dsl.source import SourceText
from scenario_dsl.template import TemplateError, expressions, is_name, names_in
from scenario_dsl.values import Route


def make_intervention(scope: Scope, intervention: Intervention) -> Intervention:
    everything = frozenset(step.discover for step in intervention.steps if step.discover is not None)
    discovered: frozenset[str] = frozenset()
    steps: list[Step] = []
    for step in intervention.steps:
        before = discovered
        if step.discover is not None:
            discovered |= {step.discover}
        steps.append(
            Step(
                think=_shell(scope, (*step.at, "think"), step.think, before, everything),
                run=_shell(scope, (*step.at, "run"), step.run, before, everything),
                discover=step.discover,
                only_if=_shell(scope, (*step.at, "only_if"), step.only_if, before, everything),
                # Undone after everything was done, so it knows what its own step found.
                undo=_shell(scope, (*step.at, "undo"), step.undo, discovered, everything),
                answer=_shell(scope, (*step.at, "answer"), step.answer, before, everything),
            )
        )
    return Intervention(
        name=intervention.name,
        steps=tuple(steps),
        hypothesis=scope.maybe_text((*intervention.at, "hypothesis"), intervention.hypothesis),
        predicts=scope.maybe_text((*intervention.at, "predicts"), intervention.predicts),
        alternatives=tuple(
            Hypothesis(
                claim=scope.text((*intervention.at, "alternatives", index, "hypothesis"), each.claim),
                predicts=scope.maybe_text((*intervention.at, "alternatives", index, "predicts"), each.predicts),
            )
            for index, each in enumerate(intervention.alternatives)
        ),
        evidence=intervention.evidence,
        falsifier=scope.maybe_text((*intervention.at, "falsifier"), intervention.falsifier),
        # Invariants are looked at before anything is discovered, postconditions after everything was.
        invariants=_shells(scope, (*intervention.at, "invariants"), intervention.invariants, frozenset(), everything),
        postconditions=_shells(
            scope, (*intervention.at, "postconditions"), intervention.postconditions, discovered, everything
        ),
        ordered=intervention.ordered,
    )


def read_intervention(source: SourceText) -> Intervention:
    """A document that was handed in: the same checks as in a scenario, without parameters. Raises Diagnostics, and
    AuthorError for a document of another kind."""
    return intervention_of(load_text(Path(source.path), source))


def intervention_of(loaded: Loaded) -> Intervention:
    """The same, of a document that was read already."""
    if errors_in(loaded.found) or loaded.document is None:
        raise Diagnostics(loaded.found)
    if not isinstance(loaded.value, Intervention):
        raise AuthorError(f"{loaded.source.path}: is a {loaded.kind}; an intervention begins with `intervention:`")
    scope = Scope(loaded.document, {}, [])
    made = make_intervention(scope, loaded.value)
    if scope.found:
        raise Diagnostics(tuple(scope.found))
    return made


def _shells(
    scope: Scope,
    route: Route,
    templates: tuple[str, ...],
    discovered: AbstractSet[str],
    everything: AbstractSet[str],
) -> tuple[str, ...]:
    made = (_shell(scope, (*route, index), each, discovered, everything) for index, each in enumerate(templates))
    return tuple(each for each in made if each is not None)


def _shell(
    scope: Scope, route: Route, template: str | None, discovered: AbstractSet[str], everything: AbstractSet[str]
) -> str | None:
    if template is None:
        return None
    wrong = [*_misused(scope, route, template, discovered, everything)]
    if wrong:
        scope.found += wrong
        return template
    with scope.reporting(route):
        return for_shell(template, scope.names, discovered)
    return template


def _misused(
    scope: Scope, route: Route, template: str, discovered: AbstractSet[str], everything: AbstractSet[str]
) -> Iterator[Diagnostic]:
    """Names that are not known when the step needs them, and discovered ones that are computed with."""
    source = scope.document.source
    known = scope.names.keys() | discovered
    for found in expressions(template):
        span = scope.document.within(route, found.written)
        try:
            used = names_in(found.written)
        except TemplateError as error:
            yield template_problem(scope.document, route, error, known)
            continue
        for name in sorted(used - known):
            if name in everything:
                yield problems.NotYetDiscovered(source=source, span=span, name=name)
            else:
                yield problems.UnknownName(
                    source=source, span=span, name=name, known=known_names(known), suggestion=closest(name, known)
                )
        late = sorted(used & discovered)
        if late and not is_name(found.inner):
            yield problems.DiscoveredInExpression(source=source, span=span, name=late[0])
