"""Typed document -> model. Takes only documents that passed the shape and type stages, so nothing here can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from scenario_dsl.model import (
    Answer,
    Cascade,
    Delay,
    Fault,
    FaultUse,
    Hypothesis,
    Intervention,
    Invariant,
    Limits,
    Node,
    Objective,
    Pack,
    Parameter,
    Probe,
    Reward,
    Scenario,
    Seen,
    Step,
    System,
    SystemFile,
    Task,
    Variant,
)
from scenario_dsl.modules import MODULES
from scenario_dsl.rewards import PRESETS
from scenario_dsl.values import Route, Value

_SYSTEM_OWN = frozenset({"system", "title", "files", "healthy", "nodes"})


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()


def _optional(value: Value) -> str | None:
    return None if value is None else str(value)


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(str(item) for item in _items(value))


def _number(value: Value, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise


def _whole(value: Value, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) else otherwise


def _probe(value: Value, at: Route) -> Probe:
    name, arguments = next(iter(_mapping(value).items()))
    return Probe(type=name, arguments=_mapping(arguments), at=(*at, name))


def _probes(value: Value, at: Route) -> tuple[Probe, ...]:
    return tuple(_probe(item, (*at, index)) for index, item in enumerate(_items(value)))


def _uses(value: Value, at: Route) -> tuple[FaultUse, ...]:
    uses = []
    for index, item in enumerate(_items(value)):
        name, arguments = next(iter(_mapping(item).items()))
        uses.append(FaultUse(fault=name, arguments=_mapping(arguments), at=(*at, index, name)))
    return tuple(uses)


def _task(value: Value, at: Route) -> Task:
    data = _mapping(value)
    module = next(key for key in data if key in MODULES)
    loop = data.get("loop")
    return Task(
        name=str(data["name"]),
        module=module,
        arguments=_mapping(data[module]),
        when=_optional(data.get("when")),
        loop=loop if isinstance(loop, tuple | str) else None,
        register=_optional(data.get("register")),
        ignore_errors=data.get("ignore_errors") is True,
        delegate_to=_optional(data.get("delegate_to")),
        at=at,
    )


def _tasks(value: Value, at: Route) -> tuple[Task, ...]:
    return tuple(_task(item, (*at, index)) for index, item in enumerate(_items(value)))


def _step(value: Value, at: Route) -> Step:
    data = _mapping(value)
    return Step(
        think=_optional(data.get("think")),
        run=_optional(data.get("run")),
        discover=_optional(data.get("discover")),
        only_if=_optional(data.get("only_if")),
        undo=_optional(data.get("undo")),
        answer=_optional(data.get("answer")),
        at=at,
    )


def _intervention(name: str, value: Value, at: Route) -> Intervention:
    data = _mapping(value)
    steps = tuple(_step(item, (*at, "steps", index)) for index, item in enumerate(_items(data.get("steps"))))
    return Intervention(
        name=name,
        steps=steps,
        hypothesis=_optional(data.get("hypothesis")),
        predicts=_optional(data.get("predicts")),
        alternatives=tuple(
            Hypothesis(claim=str(each["hypothesis"]), predicts=_optional(each.get("predicts")))
            for each in map(_mapping, _items(data.get("alternatives")))
        ),
        evidence=_texts(data.get("evidence")),
        falsifier=_optional(data.get("falsifier")),
        invariants=_texts(data.get("invariants")),
        postconditions=_texts(data.get("postconditions")),
        ordered=data.get("ordered") is True,
        at=at,
    )


def _objective(name: str, value: Value, at: Route) -> Objective:
    data = _mapping(value)
    check: Probe | Answer | Seen
    if "probe" in data:
        check = _probe(data["probe"], (*at, "probe"))
    elif "answer" in data:
        answer = _mapping(data["answer"])
        check = Answer(
            question=str(answer["question"]),
            equals=_optional(answer.get("equals")),
            matches=_optional(answer.get("matches")),
        )
    else:
        seen = _mapping(data["seen"])
        check = Seen(output=str(seen["output"]), command=_optional(seen.get("command")))
    return Objective(
        name=name,
        points=_number(data["points"], 0.0),
        check=check,
        armed_by=_optional(data.get("armed_by")),
        settle=_number(data.get("settle"), 0.0),
        at=at,
    )


def _cascade(value: Value, at: Route) -> Cascade:
    data = _mapping(value)
    after = _mapping(data.get("after"))
    return Cascade(
        name=str(data["name"]),
        when=_probe(data["when"], (*at, "when")),
        after=Delay(commands=_whole(after.get("commands"), 0), seconds=_number(after.get("seconds"), 0.0)),
        inject=_uses(data["inject"], (*at, "inject")),
        repeat=data.get("repeat") is True,
        at=at,
    )


def _twin(name: str, value: Value, at: Route) -> Variant:
    return Variant(name=name, parameters=_mapping(value), at=at)


def _control(name: str, value: Value, at: Route) -> Variant:
    data = _mapping(value)
    return Variant(
        name=name,
        parameters=_mapping(data.get("parameters")),
        complaint=_optional(data.get("complaint")),
        instead_of_faults=_uses(data["instead_of_faults"], (*at, "instead_of_faults")),
        at=at,
    )


def _shaped(reward: Mapping[str, Value], limits: Mapping[str, Value]) -> tuple[Reward, Limits]:
    """Both as they are given, over what a preset says."""
    preset = PRESETS.get(str(reward.get("preset")))
    known, usual = (Reward(), Limits()) if preset is None else (preset.reward, preset.limits)
    amounts = {key: _number(value, 0.0) for key, value in reward.items() if key != "preset"}
    return replace(known, **amounts), Limits(
        commands=_whole(limits.get("commands"), usual.commands),
        seconds=_number(limits.get("seconds"), usual.seconds),
        output_bytes=_whole(limits.get("output_bytes"), usual.output_bytes),
    )


def build_scenario(data: Mapping[str, Value]) -> Scenario:
    interventions = _mapping(data["interventions"])
    bad = _mapping(interventions.get("bad"))
    reward, limits = _shaped(_mapping(data.get("reward")), _mapping(data.get("limits")))
    return Scenario(
        name=str(data["scenario"]),
        title=str(data["title"]),
        kind=cast(Any, data["kind"]),
        difficulty=cast(Any, data["difficulty"]),
        split=cast(Any, data["split"]),
        system=str(data["system"]),
        complaint=str(data["complaint"]).strip(),
        since=_number(data.get("since"), 0.0),
        faults=_uses(data.get("faults"), ("faults",)),
        objectives=tuple(
            _objective(name, value, ("objectives", name)) for name, value in _mapping(data["objectives"]).items()
        ),
        gold=_intervention("gold", interventions["gold"], ("interventions", "gold")),
        bad=tuple(_intervention(name, value, ("interventions", "bad", name)) for name, value in bad.items()),
        tags=_texts(data.get("tags")),
        parameters=_mapping(data.get("parameters")),
        cascades=tuple(
            _cascade(value, ("cascades", index)) for index, value in enumerate(_items(data.get("cascades")))
        ),
        invariants=tuple(
            Invariant(name=name, probe=_probe(value, ("invariants", name)), at=("invariants", name))
            for name, value in _mapping(data.get("invariants")).items()
        ),
        reward=reward,
        hints=_texts(data.get("hints")),
        limits=limits,
        twins=tuple(_twin(name, value, ("twins", name)) for name, value in _mapping(data.get("twins")).items()),
        controls=tuple(
            _control(name, value, ("controls", name)) for name, value in _mapping(data.get("controls")).items()
        ),
        waivers={name: str(reason) for name, reason in _mapping(data.get("waivers")).items()},
    )


def build_intervention(data: Mapping[str, Value]) -> Intervention:
    return _intervention(str(data["intervention"]), data, ())


def build_fault(data: Mapping[str, Value]) -> Fault:
    arguments = []
    for name, value in _mapping(data.get("arguments")).items():
        declared = _mapping(value)
        arguments.append(
            Parameter(
                name=name,
                type=str(declared["type"]),
                doc=str(declared["doc"]),
                required=declared.get("required") is True,
                default=declared.get("default"),
                choices=_items(declared.get("choices")),
            )
        )
    return Fault(
        name=str(data["fault"]),
        title=str(data["title"]),
        doc=str(data["doc"]).strip(),
        arguments=tuple(arguments),
        inject=_tasks(data["inject"], ("inject",)),
        revert=_tasks(data["revert"], ("revert",)),
        witness=_probes(data["witness"], ("witness",)),
        decoy=data.get("decoy") is True,
        example=_mapping(data.get("example")),
    )


def build_system_file(value: Value) -> SystemFile:
    data = _mapping(value)
    return SystemFile(
        path=str(data["path"]),
        type=cast(Any, data.get("type", "file")),
        content=_optional(data.get("content")),
        target=_optional(data.get("target")),
        owner=str(data.get("owner", "root")),
        group=str(data.get("group", "root")),
        mode=_optional(data.get("mode")),
        size=None if data.get("size") is None else _whole(data["size"], 0),
        age=_number(data.get("age"), 0.0),
    )


def build_system(data: Mapping[str, Value]) -> System:
    """The system as its document describes it; the files of its folder are added by the library."""
    return System(
        name=str(data["system"]),
        title=str(data["title"]),
        files=tuple(build_system_file(item) for item in _items(data.get("files"))),
        settings={key: value for key, value in data.items() if key not in _SYSTEM_OWN},
        healthy=_probes(data["healthy"], ("healthy",)),
        nodes={
            name: Node(system=str(node["system"]), address=str(node["address"]))
            for name, node in ((name, _mapping(value)) for name, value in _mapping(data.get("nodes")).items())
        },
    )


def build_pack(data: Mapping[str, Value]) -> Pack:
    return Pack(
        name=str(data["pack"]),
        version=str(data["version"]),
        title=str(data["title"]),
        license=str(data["license"]),
        canary=str(data["canary"]),
        policies=_texts(data.get("policies")),
        uses=_texts(data.get("uses")),
    )
