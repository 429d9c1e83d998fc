"""Texts of a document: do their expressions parse, are their names known, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from scenario_dsl.diagnostics import Diagnostic, closest, listing
from scenario_dsl.filters import FILTERS
from scenario_dsl.model import Parameter
from scenario_dsl.nodes import Document
from scenario_dsl.problems import templates as problems
from scenario_dsl.realise.arguments import meaning
from scenario_dsl.realise.rendering import text
from scenario_dsl.template import STATEMENT, TemplateError, expressions, names_in, render
from scenario_dsl.values import Route, Value, strings


def template_problem(document: Document, route: Route, error: TemplateError, known: AbstractSet[str]) -> Diagnostic:
    """The diagnostic for an expression somewhere in the text at `route`."""
    source, span = document.source, document.within(route, error.expression)
    if error.kind == "unknown":
        return problems.UnknownName(
            source=source, span=span, name=error.name, known=known_names(known), suggestion=closest(error.name, known)
        )
    if error.kind == "mixed":
        return problems.MixedExpression(source=source, span=span, early=error.name, late=error.late)
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
    for inner, found in strings(value, route):
        yield from check_names(document, inner, found, known, later)


class Scope:
    """The texts of one document under one set of names; what cannot be made concrete is noted in `found`."""

    __slots__ = ("document", "found", "names")

    def __init__(self, document: Document, names: Mapping[str, Value], found: list[Diagnostic]) -> None:
        self.document = document
        self.names = names
        self.found = found

    @contextmanager
    def reporting(self, route: Route) -> Iterator[None]:
        """What is raised inside about the text at `route` is a finding there."""
        try:
            yield
        except TemplateError as error:
            self.found.append(template_problem(self.document, route, error, self.names.keys()))

    def value(self, route: Route, value: Value) -> Value:
        """The value with its expressions put in; a text that cannot be evaluated stays as it is written."""
        if isinstance(value, tuple):
            return tuple(self.value((*route, index), item) for index, item in enumerate(value))
        if isinstance(value, Mapping):
            return {key: self.value((*route, key), item) for key, item in value.items()}
        if isinstance(value, str) and self.knows(route, value):
            with self.reporting(route):
                return render(value, self.names)
        return value

    def knows(self, route: Route, template: str) -> bool:
        """Does every expression of a text parse, with names that are known? What is wrong is noted."""
        wrong = [*check_names(self.document, route, template, self.names.keys())]
        self.found += wrong
        return not wrong

    def arguments(self, route: Route, arguments: Mapping[str, Value]) -> dict[str, Value]:
        """Arguments with their expressions put in; those that cannot be evaluated are left out."""
        concrete: dict[str, Value] = {}
        for name, value in arguments.items():
            before = len(self.found)
            made = self.value((*route, name), value)
            if len(self.found) == before:
                concrete[name] = made
        return concrete

    def text(self, route: Route, template: str) -> str:
        if self.knows(route, template):
            with self.reporting(route):
                return text(template, self.names)
        return template

    def maybe_text(self, route: Route, template: str | None) -> str | None:
        return None if template is None else self.text(route, template)

    def maybe_regex(self, route: Route, template: str | None) -> str | None:
        return None if template is None else self.regex(route, template)

    def regex(self, route: Route, template: str) -> str:
        before = len(self.found)
        made = self.text(route, template)
        if len(self.found) == before:
            meaning(self.document, route, Parameter(name=str(route[-1]), type="regex", doc=""), made, self.found)
        return made
