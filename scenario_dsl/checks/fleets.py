"""The machines of a fleet that a scenario speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.diagnostics import Diagnostic, closest
from scenario_dsl.model import Probe
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario, World


def check_nodes(document: Document, scenario: ResolvedScenario, known: Known) -> Iterator[Diagnostic]:
    """Every node is a system that is known, and nothing is about a machine that is not there."""
    system = known.systems.get(scenario.system)
    if system is None:
        return
    span = document.place(("system",))
    for node in system.nodes.values():
        if known.lacks_system(node.system):
            suggestion = closest(node.system, known.systems)
            yield problems.UnknownSystem(source=document.source, span=span, name=node.system, suggestion=suggestion)
    told: set[tuple[str, str]] = set()
    for world in scenario.worlds:
        for user, name in _named(world):
            if name not in (None, *system.nodes) and (user, str(name)) not in told:
                told.add((user, str(name)))
                yield problems.UnknownNode(
                    source=document.source,
                    span=span,
                    user=user,
                    name=str(name),
                    system=system.name,
                    known=", ".join(system.nodes) or "only itself, for it is no fleet",
                )


def _named(world: World) -> Iterator[tuple[str, object]]:
    """(who, the machine that it names) of all that may name one."""
    for fault in world.faults:
        yield from _of_fault(fault)
    for cascade in world.cascades:
        yield f"the cascade `{cascade.name}`", cascade.when.arguments.get("node")
        for fault in cascade.inject:
            yield from _of_fault(fault)
    for objective in world.objectives:
        if isinstance(objective.check, Probe):
            yield f"the objective `{objective.name}`", objective.check.arguments.get("node")
    for invariant in world.invariants:
        yield f"the invariant `{invariant.name}`", invariant.probe.arguments.get("node")


def _of_fault(fault: ResolvedFault) -> Iterator[tuple[str, object]]:
    user = f"the fault `{fault.fault}`"
    yield from ((user, task.delegate_to) for task in (*fault.inject, *fault.revert))
    yield from ((user, probe.arguments.get("node")) for probe in fault.witness)
