"""One fault document by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from scenario_dsl.diagnostics import Diagnostic, closest, errors_in
from scenario_dsl.model import Fault, FaultUse, Parameter, Task
from scenario_dsl.modules import MODULES
from scenario_dsl.nodes import Document, MapNode
from scenario_dsl.problems import meaning as problems
from scenario_dsl.problems import templates
from scenario_dsl.realise.arguments import bound, check_given, meaning
from scenario_dsl.realise.faults import example_of, make_fault
from scenario_dsl.realise.texts import check_texts, known_names
from scenario_dsl.template import TemplateError, expressions, names_in, names_in_condition
from scenario_dsl.values import Route, Value, strings


def check_fault(document: Document, fault: Fault) -> Iterator[Diagnostic]:
    found = [*_declarations(document, fault)]
    if not errors_in(found):
        found += _example(document, fault)
    names = frozenset(parameter.name for parameter in fault.arguments)
    for part, tasks in (("inject", fault.inject), ("revert", fault.revert)):
        found += _one_module_each(document, part)
        found += _tasks(document, tasks, names)
    for probe in fault.witness:
        found += check_texts(document, probe.at, probe.arguments, names)
    example = None if errors_in(found) else example_of(document, fault)
    if example is not None:
        make_fault(document, fault, example, found)
    yield from found
    yield from _unused(document, fault)


def _example(document: Document, fault: Fault) -> Iterator[Diagnostic]:
    if "example" in document.root.entries:
        use = FaultUse(fault=fault.name, arguments=fault.example, at=("example",))
        yield from check_given(document, use, fault)
        found: list[Diagnostic] = []
        bound(document, use.at, fault.arguments, fault.example, found)
        yield from found


def _declarations(document: Document, fault: Fault) -> Iterator[Diagnostic]:
    found: list[Diagnostic] = []
    for parameter in fault.arguments:
        route: Route = ("arguments", parameter.name)
        if parameter.required and parameter.default is not None:
            span = document.key((*route, "default"))
            yield problems.DefaultOfRequired(source=document.source, span=span, name=parameter.name)
        if parameter.default is not None:
            meaning(document, (*route, "default"), parameter, parameter.default, found)
        for index, choice in enumerate(parameter.choices):
            plain = Parameter(name=parameter.name, type=parameter.type, doc=parameter.doc)
            meaning(document, (*route, "choices", index), plain, choice, found)
    yield from found


def _one_module_each(document: Document, part: str) -> Iterator[Diagnostic]:
    tasks = document.node((part,))
    for index in range(len(getattr(tasks, "items", ()))):
        task = document.node((part, index))
        assert isinstance(task, MapNode)
        used = [key for key in task.entries if key in MODULES]
        if len(used) > 1:
            yield problems.TasksMixed(
                source=document.source, span=task.entries[used[1]].key, first=used[0], second=used[1]
            )


def _tasks(document: Document, tasks: Sequence[Task], names: AbstractSet[str]) -> Iterator[Diagnostic]:
    registered: frozenset[str] = frozenset()
    for task in tasks:
        later = registered | {"item"} if task.loop is not None else registered
        route = (*task.at, task.module)
        yield from check_texts(document, route, task.arguments, names, later)
        yield from check_texts(document, (*task.at, "name"), task.name, names)
        yield from check_texts(document, (*task.at, "loop"), task.loop, names, registered)
        if task.when is not None:
            yield from _condition(document, (*task.at, "when"), task.when, names, later)
        if task.register is not None:
            registered |= {task.register}


def _condition(
    document: Document, route: Route, when: str, names: AbstractSet[str], later: AbstractSet[str]
) -> Iterator[Diagnostic]:
    """A `when` is an expression without braces; inside braces stand arguments of the fault."""
    yield from check_texts(document, route, when, names, later)
    try:
        used = names_in_condition(_without_templates(when))
    except TemplateError as error:
        yield templates.BadTemplate(source=document.source, span=document.place(route), reason=error.reason)
        return
    for name in sorted(used - names - later):
        yield templates.UnknownName(
            source=document.source,
            span=document.within(route, name),
            name=name,
            known=known_names(names | later),
            suggestion=closest(name, names | later),
        )
    early, late = sorted(used & names - later), sorted(used & later)
    if early and late:
        span = document.within(route, early[0])
        yield templates.MixedExpression(
            source=document.source,
            span=span,
            early=early[0],
            late=late[0],
            advice=(f"write `{{{{ {early[0]} }}}}`, which is put in when compiling",),
        )


def _without_templates(when: str) -> str:
    for found in expressions(when):
        when = when.replace(found.written, "1")
    return when


def _unused(document: Document, fault: Fault) -> Iterator[Diagnostic]:
    used: set[str] = set()
    tasks = (*fault.inject, *fault.revert)
    for value in (*(task.arguments for task in tasks), *(task.loop for task in tasks), *(task.name for task in tasks)):
        used |= _names(value)
    for probe in fault.witness:
        used |= _names(probe.arguments)
    for when in (task.when for task in tasks if task.when is not None):
        try:
            used |= _names(when) | names_in_condition(_without_templates(when))
        except TemplateError:
            # Reported where the condition is checked; nothing can be said about what it uses.
            return
    for parameter in fault.arguments:
        if parameter.name not in used:
            span = document.key(("arguments", parameter.name))
            yield problems.ParameterUnused(source=document.source, span=span, what="argument", name=parameter.name)


def _names(value: Value) -> frozenset[str]:
    names: frozenset[str] = frozenset()
    for _, text in strings(value):
        try:
            names |= names_in(text)
        except TemplateError:
            # Reported where the text is checked.
            continue
    return names
