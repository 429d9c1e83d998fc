"""A scenario and its library to concrete worlds: parameters merged, templates rendered, types checked once more.

The documents passed every check of the language; what can still go wrong is what only concrete values show (a twin's
port that is no number). All of it is found at once and raised as `Unresolved`.
"""

from __future__ import annotations

from collections.abc import Iterable

from compiler.expand import Names, expand_faults, expand_probe
from compiler.model import (
    Answer,
    Intervention,
    Invariant,
    Objective,
    ResolvedCascade,
    ResolvedScenario,
    Role,
    World,
)
from compiler.rendering import for_shell, text
from compiler.unresolved import Place, Problem, Unresolved
from scenario_dsl.model import FaultUse, Library, Probe, Scenario, Seen, Step, Variant
from scenario_dsl.template import expressions
from scenario_dsl.values import strings

PRIMARY = "primary"
"""The name of the first world; no twin or control may take it."""


def resolve(scenario: Scenario, library: Library) -> ResolvedScenario:
    """Raises Unresolved."""
    resolved, problems = _resolve(scenario, library)
    if problems:
        raise Unresolved(problems)
    return resolved


def resolve_all(library: Library) -> tuple[ResolvedScenario, ...]:
    """Every scenario of the library, by name. Raises Unresolved with the problems of all of them."""
    pairs = [_resolve(scenario, library) for _, scenario in sorted(library.scenarios.items())]
    problems = [problem for _, found in pairs for problem in found]
    if problems:
        raise Unresolved(problems)
    return tuple(resolved for resolved, _ in pairs)


def _resolve(scenario: Scenario, library: Library) -> tuple[ResolvedScenario, list[Problem]]:
    primary = Place(f"scenario {scenario.name}", PRIMARY)
    if scenario.system not in library.systems:
        primary.report(f"there is no system {scenario.system}")
    variants: list[tuple[Role, Variant]] = [("primary", Variant(name=PRIMARY, parameters={}))]
    variants += [("twin", twin) for twin in scenario.twins]
    variants += [("control", control) for control in scenario.controls]
    _check_names(primary, [variant for _, variant in variants])
    worlds = tuple(
        _world(scenario, library, role, variant, Place(primary.document, variant.name, (), primary.found))
        for role, variant in variants
    )
    resolved = ResolvedScenario(
        name=scenario.name,
        title=scenario.title,
        kind=scenario.kind,
        difficulty=scenario.difficulty,
        split=scenario.split,
        tags=scenario.tags,
        system=scenario.system,
        since=scenario.since,
        worlds=worlds,
        gold=_intervention(scenario.gold, scenario.parameters, primary),
        bad=tuple(_intervention(habit, scenario.parameters, primary) for habit in scenario.bad),
        reward=scenario.reward,
        hints=tuple(
            _text(hint, scenario.parameters, primary.at(("hints", index))) for index, hint in enumerate(scenario.hints)
        ),
        limits=scenario.limits,
    )
    return resolved, primary.found


def _check_names(place: Place, variants: Iterable[Variant]) -> None:
    seen: set[str] = set()
    for variant in variants:
        if variant.name in seen:
            place.at(variant.at).report(f"two worlds are called {variant.name!r}")
        seen.add(variant.name)


def _world(scenario: Scenario, library: Library, role: Role, variant: Variant, place: Place) -> World:
    names: Names = {**scenario.parameters, **variant.parameters}
    for name in variant.parameters:
        if name not in scenario.parameters:
            place.at(variant.at).report(f"`{name}` is not a parameter of the scenario")
    for name, value in names.items():
        if any(True for _, found in strings(value) for _ in expressions(found)):
            place.at(variant.at).below(name).report("a parameter is a plain value, not a template")
    faults: tuple[FaultUse, ...] = scenario.faults
    if role == "control":
        faults = variant.instead_of_faults or ()
    complaint = scenario.complaint if variant.complaint is None else variant.complaint
    return World(
        name=variant.name,
        role=role,
        parameters=names,
        complaint=_text(complaint, names, place.at(("complaint",))),
        faults=expand_faults(faults, names, library, place),
        # A control is healthy and has to stay so by itself: nothing is injected there but its decoys.
        cascades=() if role == "control" else _cascades(scenario, names, library, place),
        objectives=tuple(_objective(objective, names, place) for objective in scenario.objectives),
        invariants=tuple(
            Invariant(name=invariant.name, probe=expand_probe(invariant.probe, names, place.at(invariant.at)))
            for invariant in scenario.invariants
        ),
    )


def _cascades(scenario: Scenario, names: Names, library: Library, place: Place) -> tuple[ResolvedCascade, ...]:
    return tuple(
        ResolvedCascade(
            name=cascade.name,
            when=expand_probe(cascade.when, names, place.at(cascade.at)),
            after=cascade.after,
            inject=expand_faults(cascade.inject, names, library, place.at(cascade.at)),
            repeat=cascade.repeat,
        )
        for cascade in scenario.cascades
    )


def _objective(objective: Objective, names: Names, place: Place) -> Objective:
    here = place.at(objective.at)
    check = objective.check
    rendered: Probe | Answer | Seen
    if isinstance(check, Probe):
        rendered = expand_probe(check, names, here)
    elif isinstance(check, Answer):
        rendered = Answer(
            question=_text(check.question, names, here),
            equals=_maybe_text(check.equals, names, here),
            matches=_maybe_text(check.matches, names, here),
        )
    else:
        rendered = Seen(output=_text(check.output, names, here), command=_maybe_text(check.command, names, here))
    return Objective(
        name=objective.name,
        points=objective.points,
        check=rendered,
        armed_by=objective.armed_by,
        settle=objective.settle,
    )


def _intervention(intervention: Intervention, names: Names, place: Place) -> Intervention:
    """With the primary's parameters, whichever world it will be played in: what differs there must be discovered."""
    here = place.at(intervention.at)
    discovered: set[str] = set()
    steps: list[Step] = []
    for index, step in enumerate(intervention.steps):
        there = here.at(step.at) if step.at else here.below("steps", index)
        before = frozenset(discovered)
        if step.discover is not None:
            discovered.add(step.discover)
        steps.append(
            Step(
                think=_shell(step.think, names, before, there),
                run=_shell(step.run, names, before, there),
                discover=step.discover,
                only_if=_shell(step.only_if, names, before, there),
                # Undone after everything was done, so it knows what its own step found.
                undo=_shell(step.undo, names, frozenset(discovered), there),
                answer=_shell(step.answer, names, before, there),
            )
        )
    return Intervention(
        name=intervention.name,
        steps=tuple(steps),
        hypothesis=_maybe_text(intervention.hypothesis, names, here),
        falsifier=_shell(intervention.falsifier, names, frozenset(), here),
    )


def _shell(template: str | None, names: Names, discovered: frozenset[str], place: Place) -> str | None:
    if template is None:
        return None
    with place.reporting():
        return for_shell(template, names, discovered)
    return template


def _maybe_text(template: str | None, names: Names, place: Place) -> str | None:
    return None if template is None else _text(template, names, place)


def _text(template: str, names: Names, place: Place) -> str:
    with place.reporting():
        return text(template, names)
    return template
