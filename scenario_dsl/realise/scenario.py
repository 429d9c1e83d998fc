"""A scenario's worlds: the primary, its twins and its controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scenario_dsl.diagnostics import Diagnostic, Label, closest
from scenario_dsl.model import Answer, FaultUse, Invariant, Objective, Probe, Scenario, Seen, Variant
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems
from scenario_dsl.realise.faults import use_faults
from scenario_dsl.realise.interventions import make_intervention
from scenario_dsl.realise.known import Known
from scenario_dsl.realise.parameters import check_variants
from scenario_dsl.realise.probes import make_probe
from scenario_dsl.realise.texts import Scope
from scenario_dsl.source import Span
from scenario_dsl.worlds import PRIMARY, ResolvedCascade, ResolvedScenario, Role, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Realised:
    """A scenario made concrete. It may be used only where nothing was `found`: what could not be made is left out."""

    scenario: ResolvedScenario
    found: tuple[Diagnostic, ...]


def realise(document: Document, scenario: Scenario, known: Known) -> Realised:
    variants: list[tuple[Role, Variant]] = [("primary", Variant(name=PRIMARY, parameters={}))]
    variants += [("twin", twin) for twin in scenario.twins]
    variants += [("control", control) for control in scenario.controls]
    worlds: list[World] = []
    of_worlds: list[list[Diagnostic]] = []
    for role, variant in variants:
        scope = Scope(document, {**scenario.parameters, **variant.parameters}, [])
        worlds.append(_world(scope, scenario, role, variant, known))
        of_worlds.append(scope.found)
    scope = Scope(document, scenario.parameters, [])
    resolved = ResolvedScenario(
        name=scenario.name,
        title=scenario.title,
        kind=scenario.kind,
        difficulty=scenario.difficulty,
        split=scenario.split,
        tags=scenario.tags,
        system=scenario.system,
        since=scenario.since,
        worlds=tuple(worlds),
        gold=make_intervention(scope, scenario.gold),
        bad=tuple(make_intervention(scope, habit) for habit in scenario.bad),
        reward=scenario.reward,
        limits=scenario.limits,
        waivers=scenario.waivers,
    )
    found = [*_system(document, scenario, known), *check_variants(document, scenario), *scope.found]
    found += _told_once(document, of_worlds[0], [variant for _, variant in variants[1:]], of_worlds[1:])
    return Realised(scenario=resolved, found=tuple(found))


def _told_once(
    document: Document,
    of_primary: Sequence[Diagnostic],
    variants: Sequence[Variant],
    of_variants: Sequence[Sequence[Diagnostic]],
) -> Iterator[Diagnostic]:
    """What is wrong in the primary is not told of its variants too; what is wrong in several is told with them all."""
    yield from of_primary
    known = {(each.span, each.code) for each in of_primary}
    merged: dict[tuple[Span, str, str], Diagnostic] = {}
    for variant, found in zip(variants, of_variants, strict=True):
        what = "twin" if variant.instead_of_faults is None else "control"
        label = Label(span=document.key(variant.at), text=f"in this {what}")
        for each in found:
            if (each.span, each.code) not in known:
                key = (each.span, each.code, each.message)
                earlier = merged.get(key, each)
                labels = earlier.labels if label in earlier.labels else (*earlier.labels, label)
                merged[key] = replace(earlier, labels=labels)
    yield from merged.values()


def _system(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    if known.lacks_system(scenario.system):
        yield problems.UnknownSystem(
            source=document.source,
            span=document.place(("system",)),
            name=scenario.system,
            suggestion=closest(scenario.system, known.systems),
        )


def _world(scope: Scope, scenario: Scenario, role: Role, variant: Variant, known: Known) -> World:
    faults: tuple[FaultUse, ...] = scenario.faults
    if role == "control":
        faults = variant.instead_of_faults or ()
    if variant.complaint is None:
        complaint = scope.text(("complaint",), scenario.complaint)
    else:
        complaint = scope.text((*variant.at, "complaint"), variant.complaint)
    return World(
        name=variant.name,
        role=role,
        parameters=scope.names,
        complaint=complaint,
        hints=tuple(scope.text(("hints", index), hint) for index, hint in enumerate(scenario.hints)),
        faults=use_faults(scope, faults, known),
        # A control is healthy and has to stay so by itself: nothing is injected there but its decoys.
        cascades=() if role == "control" else _cascades(scope, scenario, known),
        objectives=tuple(_objective(scope, objective) for objective in scenario.objectives),
        invariants=tuple(
            Invariant(name=invariant.name, probe=make_probe(scope, invariant.probe))
            for invariant in scenario.invariants
        ),
    )


def _cascades(scope: Scope, scenario: Scenario, known: Known) -> tuple[ResolvedCascade, ...]:
    return tuple(
        ResolvedCascade(
            name=cascade.name,
            when=make_probe(scope, cascade.when),
            after=cascade.after,
            inject=use_faults(scope, cascade.inject, known),
            repeat=cascade.repeat,
        )
        for cascade in scenario.cascades
    )


def _objective(scope: Scope, objective: Objective) -> Objective:
    check = objective.check
    made: Probe | Answer | Seen
    if isinstance(check, Probe):
        made = make_probe(scope, check)
    elif isinstance(check, Answer):
        at = (*objective.at, "answer")
        made = Answer(
            question=scope.text((*at, "question"), check.question),
            equals=scope.maybe_text((*at, "equals"), check.equals),
            matches=scope.maybe_regex((*at, "matches"), check.matches),
        )
    else:
        at = (*objective.at, "seen")
        made = Seen(
            output=scope.regex((*at, "output"), check.output),
            command=scope.maybe_regex((*at, "command"), check.command),
        )
    return Objective(
        name=objective.name,
        points=objective.points,
        check=made,
        armed_by=objective.armed_by,
        settle=objective.settle,
    )
