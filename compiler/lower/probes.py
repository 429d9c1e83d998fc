"""What is measured in one world, as one document for people and other programs: each probe as the language writes it.

A view. What runs is what stands in `worlds/<world>.json`, and this file is made from nothing else, as playbooks are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenario_dsl.model import Answer, Objective, Probe
from scenario_dsl.values import Value
from scenario_dsl.worlds import ResolvedFault, World


def measurements(world: World) -> Mapping[str, Value]:
    """`objectives`, `invariants` and `conditions` (of cascades) by name, and how each fault shows (`witnesses`)."""
    later = [_witness(fault, cascade.name) for cascade in world.cascades for fault in cascade.inject]
    return {
        "world": world.name,
        "objectives": {objective.name: _objective(objective) for objective in world.objectives},
        "invariants": {invariant.name: _probe(invariant.probe) for invariant in world.invariants},
        "conditions": {cascade.name: _probe(cascade.when) for cascade in world.cascades},
        "witnesses": (*(_witness(fault, None) for fault in world.faults), *later),
    }


def _objective(objective: Objective) -> Value:
    check = objective.check
    measured: dict[str, Value]
    if isinstance(check, Probe):
        measured = {"probe": _probe(check)}
    elif isinstance(check, Answer):
        measured = {"answer": _given(question=check.question, equals=check.equals, matches=check.matches)}
    else:
        measured = {"seen": _given(output=check.output, command=check.command)}
    return {**measured, **_given(points=objective.points, armed_by=objective.armed_by, settle=objective.settle or None)}


def _witness(fault: ResolvedFault, cascade: str | None) -> Value:
    return {**_given(fault=fault.fault, cascade=cascade), "probes": _probes(fault.witness)}


def _probes(probes: Sequence[Probe]) -> Value:
    return tuple(_probe(probe) for probe in probes)


def _probe(probe: Probe) -> Value:
    return {probe.type: probe.arguments}


def _given(**values: Value) -> dict[str, Value]:
    return {name: value for name, value in values.items() if value is not None}
