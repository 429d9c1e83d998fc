"""Arguments given to faults, probes and modules: are they declared, and what do they mean once they are concrete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_dsl.diagnostics import Diagnostic, closest, listing
from scenario_dsl.model import Fault, FaultUse, Parameter
from scenario_dsl.nodes import Document
from scenario_dsl.parameters import LIST, normal, type_article, type_form
from scenario_dsl.problems import meaning as problems
from scenario_dsl.values import Route, Value

_TEXTS = frozenset({"string", "shell", "regex"})


def as_declared(value: Value, type_name: str) -> Value:
    """A number put where text is declared is that text: `{{ port }}` keeps its parameter's type otherwise."""
    if isinstance(value, tuple) and type_name.startswith(LIST):
        return tuple(as_declared(item, type_name.removeprefix(LIST)) for item in value)
    if type_name in _TEXTS and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def check_given(document: Document, use: FaultUse, fault: Fault) -> Iterator[Diagnostic]:
    """Names of the arguments: none unknown, none missing."""
    known = [parameter.name for parameter in fault.arguments]
    for name in use.arguments:
        if name not in known:
            yield problems.UnknownArgument(
                source=document.source,
                span=document.key((*use.at, name)),
                fault=fault.name,
                name=name,
                known=listing(known) or "nothing",
                suggestion=closest(name, [each for each in known if each not in use.arguments]),
            )
    for parameter in fault.arguments:
        if parameter.required and use.arguments.get(parameter.name) is None:
            yield problems.MissingArgument(
                source=document.source,
                span=document.key(use.at),
                fault=fault.name,
                name=parameter.name,
                doc=parameter.doc,
            )


def bound(
    document: Document,
    route: Route,
    parameters: Sequence[Parameter],
    arguments: Mapping[str, Value],
    found: list[Diagnostic],
) -> dict[str, Value]:
    """Rendered arguments as the thing that takes them sees them: defaults filled in, each value in its meaning.

    What does not fit is noted in `found` and None here.
    """
    meant: dict[str, Value] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        # Something required that an expression made nothing of is no missing argument but a wrong one.
        given = value is not None or (parameter.required and parameter.name in arguments)
        value = value if given else parameter.default
        at = (*route, parameter.name)
        meant[parameter.name] = meaning(document, at, parameter, value, found) if given or value is not None else None
    return meant


def meaning(document: Document, route: Route, parameter: Parameter, value: Value, found: list[Diagnostic]) -> Value:
    """A concrete value under its declaration; None, with the reason in `found`, where it does not fit."""
    span = document.place(route)
    shown = f"`{value}`" if isinstance(value, str | int | float) else "a list" if isinstance(value, tuple) else "this"
    try:
        meant = normal(parameter.type, as_declared(value, parameter.type))
        choices = [normal(parameter.type, choice) for choice in parameter.choices]
    except ValueError as error:
        found.append(
            problems.WrongArgument(
                source=document.source,
                span=span,
                name=parameter.name,
                expected=type_article(parameter.type),
                found=shown,
                reason=str(error),
                form=type_form(parameter.type),
            )
        )
        return None
    if choices and meant not in choices:
        words = [str(choice) for choice in parameter.choices]
        found.append(
            problems.ArgumentNotChoice(
                source=document.source,
                span=span,
                name=parameter.name,
                found=shown,
                choices=listing(words, 20),
                suggestion=closest(str(value), words),
            )
        )
        return None
    return meant
