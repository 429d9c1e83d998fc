"""Weakened forms of gold: what somebody would do who understood less. Each keeps gold's falsifier and its looking."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

from runners.habits import blunders
from runners.interventions import NAME, fill
from runners.text import is_digits
from scenario_dsl.model import Intervention, Step, System
from scenario_dsl.values import Value, strings
from scenario_dsl.worlds import ResolvedScenario, World

Kind = Literal["dropped step", "wrong argument", "wrong service", "blunder", "order"]

_MODE = re.compile(r"0?[0-7]{3}")
_EVERYTHING = "777"
_NOBODY = "nobody"
_SHORTEST = 3
"""Characters of a value that is looked for in a command; shorter ones stand there by chance."""


class Mutation(NamedTuple):
    """One mutant. `steps`: the indexes of gold's steps that it changes; `name` is what a waiver calls it."""

    name: str
    kind: Kind
    steps: tuple[int, ...]
    intervention: Intervention


def dropped(gold: Intervention) -> Iterator[Mutation]:
    """Gold without one of its steps. One that discovers something stays: without it later steps would be nonsense."""
    for index, step in enumerate(gold.steps):
        if step.discover is None:
            steps = (*gold.steps[:index], *gold.steps[index + 1 :])
            yield _mutation(f"without step {index + 1}", "dropped step", (index,), gold, steps)


def mutations(
    scenario: ResolvedScenario, system: System, effective: Collection[int], bindings: Mapping[str, str]
) -> Iterator[Mutation]:
    """All others. effective: indexes of gold's steps that change or answer something; bindings: what gold discovers in
    the primary."""
    gold = scenario.gold
    changing = [index for index in sorted(effective) if gold.steps[index].run is not None]
    for index in sorted(effective):
        for value, wrong, kind, step in _misdirected(gold.steps[index], scenario.worlds[0], system, bindings):
            steps = (*gold.steps[:index], step, *gold.steps[index + 1 :])
            yield _mutation(f"step {index + 1} with `{wrong}` for `{value}`", kind, (index,), gold, steps)
    if changing:
        looking = tuple(step for index, step in enumerate(gold.steps) if index not in changing)
        for name, commands in blunders(scenario).items():
            instead = tuple(Step(run=command) for command in commands)
            yield _mutation(f"instead: {name}", "blunder", tuple(changing), gold, (*looking, *instead))
    if gold.ordered:
        for one, other in pairwise(changing):
            order = [*range(len(gold.steps))]
            order[one], order[other] = other, one
            steps = tuple(gold.steps[index] for index in order)
            yield _mutation(f"steps {one + 1} and {other + 1} swapped", "order", (one, other), gold, steps)


def _mutation(name: str, kind: Kind, changed: tuple[int, ...], gold: Intervention, steps: tuple[Step, ...]) -> Mutation:
    # What gold promises of itself would give a mutant away, whatever the graders see.
    mutant = replace(gold, name=name, steps=steps, postconditions=(), invariants=())
    return Mutation(name, kind, changed, mutant)


def _misdirected(
    step: Step, primary: World, system: System, bindings: Mapping[str, str]
) -> Iterator[tuple[str, str, Kind, Step]]:
    """The step with one of its values wrong: one that was discovered, or one by which the scenario describes the
    trouble. Every other word of a command may have a dozen right forms."""
    text = step.run if step.run is not None else step.answer or ""
    for name in dict.fromkeys(NAME.findall(text)):
        value = bindings.get(name, "")
        wrong = _another(value, text, system) if value else None
        if wrong is not None:
            mutated = fill(text, {name: wrong})
            yield value.split()[0], wrong, _kind(value, system), _with(step, mutated)
    for value in _described(primary):
        at = re.compile(rf"(?<![\w./@-]){re.escape(value)}(?![\w./@-])")
        wrong = _another(value, text, system) if at.search(text) else None
        if wrong is not None:
            yield value, wrong, _kind(value, system), _with(step, wrong.join(at.split(text)))


def _with(step: Step, text: str) -> Step:
    return replace(step, run=text) if step.run is not None else replace(step, answer=text)


def _described(primary: World) -> tuple[str, ...]:
    """The values by which the trouble is described: parameters, and the arguments of its faults, as text."""
    found: dict[str, None] = {}
    given: list[Value] = [dict(primary.parameters), *(dict(fault.arguments) for fault in primary.faults)]
    for values in given:
        for _, text in strings(values):
            if len(text) >= _SHORTEST and not any(character.isspace() for character in text):
                found[text] = None
                if _MODE.fullmatch(text):
                    found[text.lstrip("0")] = None
    return tuple(found)


def _kind(value: str, system: System) -> Kind:
    return "wrong service" if _service(value) in _services(system) else "wrong argument"


def _another(value: str, command: str, system: System) -> str | None:
    """Something of the same kind that is not meant, or None where nothing says what kind it is."""
    first = value.split()[0]
    services = _services(system)
    if _service(first) in services:
        return next((each for each in services if each not in (_service(first), *command.split())), None)
    if first.startswith("/"):
        return _beside(first, system)
    if "chmod" in command and _MODE.fullmatch(first):
        return _EVERYTHING if first.lstrip("0") != _EVERYTHING else None
    if is_digits(first):
        return str(int(first) + 1)
    if first in _names(system, "users"):
        return _NOBODY if first != _NOBODY else "root"
    return None


def _beside(path: str, system: System) -> str:
    """Another file of the same folder, the first that the system describes; else one that is not there."""
    folder = posixpath.dirname(path)
    beside = (file.path for file in system.files if file.type == "file" and posixpath.dirname(file.path) == folder)
    return next((each for each in beside if each != path), f"{path}.other")


def _service(name: str) -> str:
    return name.removesuffix(".service")


def _services(system: System) -> tuple[str, ...]:
    units = system.settings.get("units")
    running = units.get("running", ()) if isinstance(units, Mapping) else ()
    return tuple(str(name) for name in running if "." not in str(name)) if isinstance(running, tuple) else ()


def _names(system: System, setting: str) -> tuple[str, ...]:
    entries = system.settings.get(setting)
    if not isinstance(entries, tuple):
        return ()
    return tuple(str(entry.get("name")) for entry in entries if isinstance(entry, Mapping))
