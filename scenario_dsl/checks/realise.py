"""Faults of a scenario in one of its worlds, with their arguments put in: what worlds and cascades are compared by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scenario_dsl.checks.arguments import as_declared, check_given, check_values
from scenario_dsl.checks.known import Known
from scenario_dsl.checks.templates import rendered
from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.model import Fault, FaultUse, Parameter, Probe
from scenario_dsl.nodes import Document
from scenario_dsl.parameters import bind
from scenario_dsl.probes import PROBES
from scenario_dsl.problems.meaning import FaultUnmakeable
from scenario_dsl.template import TemplateError, render_value
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldNames:
    """A world as checks see it: what it is called in messages, its parameters, and where it is described."""

    title: str
    parameters: Mapping[str, Value]
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RealFault:
    """`witness`: its probes as (type, arguments in their meaning)."""

    fault: str
    arguments: Mapping[str, Value]
    witness: tuple[tuple[str, Mapping[str, Value]], ...]


def realise(
    document: Document, use: FaultUse, world: WorldNames, known: Known, found: list[Diagnostic]
) -> RealFault | None:
    """The fault in that world; None, with the reasons in `found`, where its arguments do not fit."""
    before = len(found)
    arguments = rendered(document, use.at, use.arguments, world.parameters, found)
    assert isinstance(arguments, Mapping)
    fault = known.faults.get(use.fault)
    if fault is None or any(True for _ in check_given(document, use, fault)):
        # Reported where references are checked.
        return None
    found += check_values(document, use.at, fault.arguments, arguments, world.labels)
    if len(found) > before:
        return None
    try:
        bound = concrete(fault.arguments, arguments)
        witness = tuple((probe.type, concrete_probe(probe, bound)) for probe in fault.witness)
    except (TemplateError, ValueError) as error:
        reason = error.reason if isinstance(error, TemplateError) else str(error)
        found.append(
            FaultUnmakeable(
                source=document.source,
                span=document.key(use.at),
                labels=world.labels,
                fault=fault.name,
                world=world.title,
                reason=reason,
            )
        )
        return None
    return RealFault(fault=fault.name, arguments=bound, witness=witness)


def concrete(parameters: Iterable[Parameter], arguments: Mapping[str, Value]) -> Mapping[str, Value]:
    """Rendered arguments in their meaning, defaults filled in; raises ValueError."""
    declared = {parameter.name: parameter for parameter in parameters}
    given = {name: as_declared(value, declared[name].type) for name, value in arguments.items() if name in declared}
    return bind(tuple(declared.values()), given)


def concrete_probe(probe: Probe, names: Mapping[str, Value]) -> Mapping[str, Value]:
    """A probe's arguments under `names`, without those that are not given; raises TemplateError or ValueError."""
    arguments = render_value(probe.arguments, names)
    assert isinstance(arguments, Mapping)
    bound = concrete(PROBES[probe.type].parameters, arguments)
    return {name: value for name, value in bound.items() if value is not None}


def example_of(fault: Fault) -> Mapping[str, Value] | None:
    """The arguments of a fault's example, or None where they are not enough."""
    if any(parameter.required and parameter.name not in fault.example for parameter in fault.arguments):
        return None
    try:
        return concrete(fault.arguments, fault.example)
    except ValueError:
        return None
