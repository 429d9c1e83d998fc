"""A scenario and its library to concrete worlds, by the very functions that `check` judges it by."""

from __future__ import annotations

from scenario_dsl.diagnostics import Diagnostic, Diagnostics
from scenario_dsl.model import Library, Scenario, System
from scenario_dsl.realise.known import known_of
from scenario_dsl.realise.scenario import realise
from scenario_dsl.realise.system import realise_system
from scenario_dsl.worlds import ResolvedScenario


def resolve(scenario: Scenario, library: Library) -> ResolvedScenario:
    """Raises Diagnostics."""
    known = known_of(library)
    made = realise(known.document("scenario", scenario.name), scenario, known)
    if made.found:
        raise Diagnostics(made.found)
    return made.scenario


def resolve_all(library: Library) -> tuple[ResolvedScenario, ...]:
    """Every scenario of the library, by name. Raises Diagnostics with what is wrong in all of them."""
    known = known_of(library)
    made = [
        realise(known.document("scenario", name), scenario, known)
        for name, scenario in sorted(library.scenarios.items())
    ]
    found: list[Diagnostic] = [each for one in made for each in one.found]
    if found:
        raise Diagnostics(found)
    return tuple(one.scenario for one in made)


def resolve_system(system: System, library: Library) -> System:
    """The system with concrete probes. Raises Diagnostics."""
    made, found = realise_system(known_of(library).document("system", system.name), system)
    if found:
        raise Diagnostics(found)
    return made
