"""Arguments given to faults, probes and modules, once they are concrete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_dsl.diagnostics import Diagnostic, Label, closest, listing
from scenario_dsl.model import Fault, FaultUse, Parameter
from scenario_dsl.nodes import Document
from scenario_dsl.parameters import LIST, is_template, normal, type_article, type_form
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


def check_values(
    document: Document,
    route: Route,
    parameters: Sequence[Parameter],
    arguments: Mapping[str, Value],
    labels: tuple[Label, ...] = (),
) -> Iterator[Diagnostic]:
    """Concrete arguments against their types and choices. What still holds a template was reported before."""
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is None or is_template(value):
            continue
        yield from check_value(document, (*route, parameter.name), parameter, value, labels)


def check_value(
    document: Document, route: Route, parameter: Parameter, value: Value, labels: tuple[Label, ...] = ()
) -> Iterator[Diagnostic]:
    span = document.place(route)
    shown = f"`{value}`" if isinstance(value, str | int | float) else "a list" if isinstance(value, tuple) else "this"
    try:
        value = normal(parameter.type, as_declared(value, parameter.type))
    except ValueError as error:
        yield problems.WrongArgument(
            source=document.source,
            span=span,
            labels=labels,
            name=parameter.name,
            expected=type_article(parameter.type),
            found=shown,
            reason=str(error),
            form=type_form(parameter.type),
        )
        return
    if parameter.choices and value not in parameter.choices:
        words = [str(choice) for choice in parameter.choices]
        yield problems.ArgumentNotChoice(
            source=document.source,
            span=span,
            labels=labels,
            name=parameter.name,
            found=shown,
            choices=listing(words, 20),
            suggestion=closest(str(value), words),
        )
