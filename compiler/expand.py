"""Faults and probes with their arguments put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from compiler.literals import escape, escape_all
from compiler.model import Probe, ResolvedFault, Task
from compiler.rendering import condition, for_ansible, text
from compiler.unresolved import Place
from scenario_dsl.checks.arguments import as_declared
from scenario_dsl.diagnostics import closest
from scenario_dsl.model import Fault, FaultUse, Library, Parameter
from scenario_dsl.modules import MODULES
from scenario_dsl.parameters import bind
from scenario_dsl.probes import PROBES
from scenario_dsl.template import names_in, render_value
from scenario_dsl.values import Value, strings

Names: TypeAlias = Mapping[str, Value]


def expand_faults(uses: Sequence[FaultUse], names: Names, library: Library, place: Place) -> tuple[ResolvedFault, ...]:
    return tuple(fault for use in uses if (fault := _fault(use, names, library, place.at(use.at))) is not None)


def expand_probe(probe: Probe, names: Names, place: Place) -> Probe:
    here = place.at(probe.at)
    kind = PROBES.get(probe.type)
    if kind is None:
        here.report(_unknown("probe", probe.type, PROBES))
        return probe
    arguments = _bound(kind.parameters, _rendered(probe.arguments, names, here), f"probe {probe.type}", here)
    return Probe(type=probe.type, arguments={name: value for name, value in arguments.items() if value is not None})


def _fault(use: FaultUse, names: Names, library: Library, place: Place) -> ResolvedFault | None:
    fault = library.faults.get(use.fault)
    if fault is None:
        place.report(_unknown("fault", use.fault, library.faults))
        return None
    known_problems = len(place.found)
    arguments = _bound(fault.arguments, _rendered(use.arguments, names, place), f"fault {use.fault}", place)
    if len(place.found) > known_problems:
        return None  # its tasks could only repeat what is wrong with the arguments
    return ResolvedFault(
        fault=fault.name,
        arguments={name: value for name, value in arguments.items() if value is not None},
        inject=_tasks(fault, "inject", fault.inject, arguments, place),
        revert=_tasks(fault, "revert", fault.revert, arguments, place),
        witness=tuple(
            expand_probe(probe, arguments, place.inside(f"fault {fault.name}", ("witness", index)))
            for index, probe in enumerate(fault.witness)
        ),
    )


def _tasks(fault: Fault, part: str, tasks: Sequence[Task], arguments: Names, place: Place) -> tuple[Task, ...]:
    registered: set[str] = set()
    expanded: list[Task] = []
    for index, task in enumerate(tasks):
        there = place.inside(f"fault {fault.name}", task.at or (part, index))
        with there.reporting():
            concrete_task = _task(task, arguments, frozenset(registered), there)
            if concrete_task is not None:
                expanded.append(concrete_task)
        if task.register is not None:
            registered.add(task.register)
    return tuple(expanded)


def _task(task: Task, names: Names, registered: frozenset[str], place: Place) -> Task | None:
    """The task, or None where its `when` is false for these arguments. Raises ValueError."""
    runtime = registered | {"item"} if task.loop is not None else registered
    when: bool | str = True if task.when is None else condition(task.when, names, runtime)
    if when is False:
        return None
    kind = MODULES.get(task.module)
    if kind is None:
        raise ValueError(_unknown("module", task.module, MODULES))
    later = {name: value for name, value in task.arguments.items() if _mentions(value, runtime)}
    now = {name: render_value(value, names) for name, value in task.arguments.items() if name not in later}
    types = [parameter for parameter in kind.parameters if parameter.name not in later]
    bound = _bound(types, now, f"module {task.module}", place)
    arguments = {
        name: for_ansible(value, names, runtime) if name in later else escape_all(bound.get(name))
        for name, value in task.arguments.items()
    }
    loop = None if task.loop is None else for_ansible(task.loop, names, registered)
    if loop is not None and not isinstance(loop, str | tuple):
        raise ValueError(f"its loop is {loop!r}, not a list")
    return Task(
        name=escape(text(task.name, names)),
        module=task.module,
        arguments=arguments,
        when=when if isinstance(when, str) else None,
        loop=loop,
        register=task.register,
        ignore_errors=task.ignore_errors,
    )


def _mentions(value: Value, names: frozenset[str]) -> bool:
    return any(names_in(found) & names for _, found in strings(value))


def _rendered(arguments: Names, names: Names, place: Place) -> Names:
    rendered: dict[str, Value] = {}
    for name, value in arguments.items():
        with place.below(name).reporting():
            rendered[name] = render_value(value, names)
    return rendered


def _bound(parameters: Sequence[Parameter], arguments: Names, owner: str, place: Place) -> Names:
    """Arguments checked against what `owner` declares: defaults filled in, values in their meaning."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in arguments:
        if name not in known:
            place.report(f"{owner}: {_unknown('argument', name, known)}")
    given = {
        name: as_declared(value, known[name].type)
        for name, value in arguments.items()
        if name in known and value is not None
    }
    for parameter in parameters:
        if parameter.required and parameter.name not in given:
            place.report(f"{owner}: the argument `{parameter.name}` is missing")
        elif parameter.choices and parameter.name in given and given[parameter.name] not in parameter.choices:
            allowed = ", ".join(str(choice) for choice in parameter.choices)
            place.report(f"{owner}: `{parameter.name}` is {given[parameter.name]!r}, not one of {allowed}")
    bound: dict[str, Value] = {}
    for parameter in parameters:
        try:
            bound |= bind([parameter], given)
        except ValueError as error:
            place.report(f"{owner}: {error}")
            bound[parameter.name] = None
    return bound


def _unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    meant = closest(name, known)
    return f"there is no {what} {name}" + (f"; did you mean {meant}?" if meant else "")
