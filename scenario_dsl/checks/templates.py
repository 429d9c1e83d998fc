"""Expressions inside documents: do they parse, are their names known, can they be evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from scenario_dsl.diagnostics import Diagnostic, closest, listing
from scenario_dsl.filters import FILTERS
from scenario_dsl.nodes import Document
from scenario_dsl.problems import templates as problems
from scenario_dsl.template import STATEMENT, TemplateError, expressions, names_in, render
from scenario_dsl.values import Route, Value, strings


def template_problem(document: Document, route: Route, error: TemplateError, known: AbstractSet[str]) -> Diagnostic:
    """The diagnostic for an expression somewhere in the text at `route`."""
    source, span = document.source, document.within(route, error.expression)
    if error.kind == "unknown":
        return problems.UnknownName(
            source=source, span=span, name=error.name, known=known_names(known), suggestion=closest(error.name, known)
        )
    if error.kind == "large":
        return problems.TemplateTooLarge(source=source, span=span, reason=error.reason)
    if error.kind == "forbidden":
        return problems.TemplateForbidden(
            source=source,
            span=span,
            reason=error.reason,
            suggestion=closest(error.name, FILTERS) if error.name else None,
            advice=(f"the filters are {', '.join(FILTERS)}",) if error.name else (),
        )
    return problems.BadTemplate(source=source, span=span, reason=error.reason)


def known_names(known: AbstractSet[str]) -> str:
    return f"known here: {listing(sorted(known))}" if known else "no names are known here"


def check_names(
    document: Document, route: Route, text: str, known: AbstractSet[str], later: AbstractSet[str] = frozenset()
) -> Iterator[Diagnostic]:
    """Every expression of a text: it parses, its names are known now or `later` (only while running), never both."""
    statement = STATEMENT.search(text)
    if statement:
        yield problems.TemplateStatement(source=document.source, span=document.within(route, statement.group()))
    for found in expressions(text):
        try:
            names = names_in(found.written)
        except TemplateError as error:
            yield template_problem(document, route, error, known | later)
            continue
        for name in sorted(names - known - later):
            unknown = TemplateError("unknown", found.written, f"`{name}` is not known here", name)
            yield template_problem(document, route, unknown, known | later)
        early, late = sorted(names & known - later), sorted(names & later)
        if early and late:
            span = document.within(route, found.written)
            yield problems.MixedExpression(source=document.source, span=span, early=early[0], late=late[0])


def check_texts(
    document: Document, route: Route, value: Value, known: AbstractSet[str], later: AbstractSet[str] = frozenset()
) -> Iterator[Diagnostic]:
    """`check_names` for every text inside a value."""
    for inner, text in strings(value, route):
        yield from check_names(document, inner, text, known, later)


def rendered(
    document: Document, route: Route, value: Value, names: Mapping[str, Value], found: list[Diagnostic]
) -> Value:
    """A value with its expressions put in; what cannot be evaluated is noted and left as it is written.

    Unknown names are not noted again: `check_texts` has done so.
    """
    if isinstance(value, tuple):
        return tuple(rendered(document, (*route, index), item, names, found) for index, item in enumerate(value))
    if isinstance(value, Mapping):
        return {key: rendered(document, (*route, key), item, names, found) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    try:
        return render(value, names)
    except TemplateError as error:
        if error.kind in ("large", "value"):
            found.append(template_problem(document, route, error, names.keys()))
        return value
