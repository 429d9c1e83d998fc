"""The worlds of a scenario: its parameters, and what each twin and control makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_dsl.checks.arguments import check_value, check_values
from scenario_dsl.checks.known import Known
from scenario_dsl.checks.probes import contradictions
from scenario_dsl.checks.realise import RealFault, WorldNames, realise
from scenario_dsl.checks.templates import known_names, rendered
from scenario_dsl.diagnostics import Diagnostic, Label, closest
from scenario_dsl.model import Answer, FaultUse, Parameter, Probe, Scenario, Seen, Variant
from scenario_dsl.nodes import Document
from scenario_dsl.parameters import is_template
from scenario_dsl.probes import PROBES
from scenario_dsl.problems import meaning as problems
from scenario_dsl.values import Route, Value

PRIMARY = "primary"


def check_worlds(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    taken = {PRIMARY: document.key(("scenario",))}
    for variant in (*scenario.twins, *scenario.controls):
        span = document.key(variant.at)
        if variant.name in taken:
            label = Label(span=taken[variant.name], text=f"`{variant.name}` here")
            labels = (label,) if variant.name != PRIMARY else ()
            yield problems.WorldNameTaken(source=document.source, span=span, labels=labels, name=variant.name)
        taken.setdefault(variant.name, span)
        place = (*variant.at, "parameters") if variant.instead_of_faults is not None else variant.at
        yield from _parameters(document, scenario, variant, place)
    yield from _in_worlds(document, scenario, known)
    yield from _controls(document, scenario, known)


def _parameters(document: Document, scenario: Scenario, variant: Variant, at: Route) -> Iterator[Diagnostic]:
    names = frozenset(scenario.parameters)
    for name, value in variant.parameters.items():
        if name not in names:
            yield problems.UnknownParameter(
                source=document.source,
                span=document.key((*at, name)),
                name=name,
                known=known_names(names),
                suggestion=closest(name, names - variant.parameters.keys()),
            )
        elif _kind(value) != _kind(scenario.parameters[name]):
            yield problems.ParameterChangesType(
                source=document.source,
                span=document.place((*at, name)),
                labels=(Label(span=document.key(("parameters", name)), text="the primary's"),),
                name=name,
                found=_kind(value),
                expected=_kind(scenario.parameters[name]),
            )


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, tuple):
        return "a list"
    return "text" if isinstance(value, str) else "a mapping"


def _in_worlds(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    """Every world made concrete: arguments of the right type, probes that can hold, and twins that differ."""
    primary = WorldNames(title="the primary", parameters=scenario.parameters)
    broken, found = _broken(document, scenario, primary, known)
    found += _measured(document, scenario, primary)
    yield from found
    if any(each.severity == "error" for each in found):
        # The same would be said again for every twin.
        return
    seen: dict[str, tuple[RealFault | None, ...]] = {"the primary": broken}
    surfaces: dict[str, Mapping[str, Value]] = {"the primary": scenario.parameters}
    for twin in scenario.twins:
        label = Label(span=document.key(twin.at), text="in this twin")
        parameters = {**scenario.parameters, **twin.parameters}
        world = WorldNames(title=f"twin `{twin.name}`", parameters=parameters, labels=(label,))
        broken, found = _broken(document, scenario, world, known)
        found += _measured(document, scenario, world)
        yield from found
        other = next((title for title, faults in seen.items() if faults == broken and None not in broken), None)
        other = other or next((title for title, each in surfaces.items() if each == parameters), None)
        if other is not None and not found:
            same = surfaces[other] == parameters
            yield problems.TwinIdentical(
                source=document.source,
                span=document.key(twin.at),
                name=twin.name,
                other=other,
                reason="its parameters are the same" if same else "its faults do not use what it changes",
            )
        seen[f"the twin `{twin.name}`"] = broken
        surfaces[f"the twin `{twin.name}`"] = parameters
    for control in scenario.controls:
        label = Label(span=document.key(control.at), text="in this control")
        parameters = {**scenario.parameters, **control.parameters}
        world = WorldNames(title=f"control `{control.name}`", parameters=parameters, labels=(label,))
        found = []
        for use in control.instead_of_faults or ():
            realise(document, use, world, known, found)
        yield from found
        if control.parameters:
            yield from _measured(document, scenario, world)


def _broken(
    document: Document, scenario: Scenario, world: WorldNames, known: Known
) -> tuple[tuple[RealFault | None, ...], list[Diagnostic]]:
    found: list[Diagnostic] = []
    uses: tuple[FaultUse, ...] = (*scenario.faults, *(use for cascade in scenario.cascades for use in cascade.inject))
    return tuple(realise(document, use, world, known, found) for use in uses), found


def _measured(document: Document, scenario: Scenario, world: WorldNames) -> list[Diagnostic]:
    """Probes and answers in one world."""
    found: list[Diagnostic] = []
    for probe in _probes(scenario):
        arguments = rendered(document, probe.at, probe.arguments, world.parameters, found)
        assert isinstance(arguments, Mapping)
        found += check_values(document, probe.at, PROBES[probe.type].parameters, arguments, world.labels)
        found += contradictions(document, probe, arguments)
    for route, text, type_name in _texts(scenario):
        value = rendered(document, route, text, world.parameters, found)
        parameter = Parameter(name=str(route[-1]), type=type_name, doc="")
        if value is not None and not is_template(value):
            found += check_value(document, route, parameter, value, world.labels)
    return found


def _texts(scenario: Scenario) -> Iterator[tuple[Route, str | None, str]]:
    """Texts outside probes that are put in for each world: route, text, type."""
    yield ("complaint",), scenario.complaint, "string"
    for index, hint in enumerate(scenario.hints):
        yield ("hints", index), hint, "string"
    for objective in scenario.objectives:
        check = objective.check
        if isinstance(check, Answer):
            at = (*objective.at, "answer")
            yield (*at, "question"), check.question, "string"
            yield (*at, "equals"), check.equals, "string"
            yield (*at, "matches"), check.matches, "regex"
        elif isinstance(check, Seen):
            at = (*objective.at, "seen")
            yield (*at, "output"), check.output, "regex"
            yield (*at, "command"), check.command, "regex"


def _probes(scenario: Scenario) -> Iterator[Probe]:
    for cascade in scenario.cascades:
        yield cascade.when
    for objective in scenario.objectives:
        if isinstance(objective.check, Probe):
            yield objective.check
    for invariant in scenario.invariants:
        yield invariant.probe


def _controls(document: Document, scenario: Scenario, known: Known) -> Iterator[Diagnostic]:
    """A control may share a decoy with the scenario, with other arguments, but never a fault that breaks something."""
    uses = (*scenario.faults, *(use for cascade in scenario.cascades for use in cascade.inject))
    for control in scenario.controls:
        for use in control.instead_of_faults or ():
            fault = known.faults.get(use.fault)
            decoy = fault is not None and fault.decoy
            same = [own for own in uses if own.fault == use.fault]
            if decoy and not control.parameters:
                same = [own for own in same if own.arguments == use.arguments]
            elif decoy:
                same = []
            if same:
                yield problems.ControlHasFault(
                    source=document.source,
                    span=document.key(use.at),
                    labels=(Label(span=document.key(same[0].at), text="the scenario's own"),),
                    fault=use.fault,
                )
