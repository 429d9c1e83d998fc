"""The machines of a fleet that a scenario speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.diagnostics import Diagnostic, closest
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.worlds import ResolvedScenario, World


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
    for fault in world.every_fault():
        yield from ((f"the fault `{fault.fault}`", task.delegate_to) for task in (*fault.inject, *fault.revert))
    for asked in world.probes():
        yield f"the {asked.kind} `{asked.name}`", asked.probe.arguments.get("node")
