"""Faults with their arguments put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenario_dsl.diagnostics import Diagnostic, closest
from scenario_dsl.model import Fault, FaultUse
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.arguments import bound, check_given
from scenario_dsl.realise.known import Known
from scenario_dsl.realise.probes import make_probe
from scenario_dsl.realise.tasks import make_tasks
from scenario_dsl.realise.texts import Scope
from scenario_dsl.source import Span
from scenario_dsl.template import TemplateError, names_in
from scenario_dsl.values import Value
from scenario_dsl.worlds import ResolvedFault


def make_fault(
    document: Document, fault: Fault, arguments: Mapping[str, Value], found: list[Diagnostic]
) -> ResolvedFault:
    """The fault under concrete arguments, defaults filled in. `document` is its own, and so are the findings."""
    scope = Scope(document, arguments, found)
    return ResolvedFault(
        fault=fault.name,
        arguments={name: value for name, value in arguments.items() if value is not None},
        inject=make_tasks(scope, fault.inject),
        revert=make_tasks(scope, fault.revert),
        witness=tuple(make_probe(scope, probe) for probe in fault.witness),
    )


def use_faults(scope: Scope, uses: Sequence[FaultUse], known: Known) -> tuple[ResolvedFault, ...]:
    """The faults of one world. One that cannot be made is left out, with the reasons among the scope's findings."""
    return tuple(made for use in uses if (made := _use(scope, use, known)) is not None)


def _use(scope: Scope, use: FaultUse, known: Known) -> ResolvedFault | None:
    before = len(scope.found)
    given = scope.arguments(use.at, use.arguments)
    fault = known.sound_fault(use.fault)
    if fault is None:
        if known.lacks_fault(use.fault):
            scope.found.append(
                problems.UnknownFault(
                    source=scope.document.source,
                    span=scope.document.key(use.at),
                    name=use.fault,
                    suggestion=closest(use.fault, known.faults),
                )
            )
        return None
    scope.found += check_given(scope.document, use, fault)
    arguments = bound(scope.document, use.at, fault.arguments, given, scope.found)
    if len(scope.found) > before:
        return None
    inside: list[Diagnostic] = []
    made = make_fault(known.document("fault", fault.name), fault, arguments, inside)
    scope.found += [_unmakeable(scope.document, use, each) for each in inside]
    return None if inside else made


def _unmakeable(document: Document, use: FaultUse, inside: Diagnostic) -> Diagnostic:
    """What is wrong inside the fault, told where it is used: the fault is sound, and these arguments are not."""
    line, column = inside.position
    return problems.FaultUnmakeable(
        source=document.source,
        span=_blamed(document, use, inside),
        fault=use.fault,
        reason=inside.message,
        advice=(f"it is put in at {inside.source.path}:{line}:{column}",),
    )


def _blamed(document: Document, use: FaultUse, inside: Diagnostic) -> Span:
    """The one argument that the text inside the fault speaks of, or the whole use."""
    try:
        names = names_in(inside.source.text[inside.span.start : inside.span.end])
    except TemplateError:
        names = frozenset()
    given = [name for name in use.arguments if name in names]
    return document.place((*use.at, given[0])) if len(given) == 1 else document.key(use.at)


def example_of(document: Document, fault: Fault) -> Mapping[str, Value] | None:
    """The arguments of a fault's example, defaults filled in, or None where they are not enough."""
    if any(each.required and fault.example.get(each.name) is None for each in fault.arguments):
        return None
    found: list[Diagnostic] = []
    arguments = bound(document, ("example",), fault.arguments, fault.example, found)
    return None if found else arguments
