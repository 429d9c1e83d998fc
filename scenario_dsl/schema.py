"""The JSON Schema (2020-12) of the five documents, made from the tables of types, probes and modules.

No `oneOf`: it answers with one useless message where a known key or `if`/`then` gives the true one. The files in
`schemas/` are these schemas as an editor takes them; a test holds them current.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Literal, get_args

from scenario_dsl.model import Difficulty, Kind, Split
from scenario_dsl.modules import MODULES
from scenario_dsl.parameters import TYPE_KEYWORD, TYPE_NAMES
from scenario_dsl.probes import PROBES
from scenario_dsl.schema_parts import (
    FAULT_NAME,
    PARAMETER_NAME,
    SCENARIO_NAME,
    Schema,
    arguments,
    choice,
    flag,
    free_mapping,
    many,
    mapping,
    named,
    number,
    text,
    typed,
    whole,
)
from scenario_dsl.schema_system import system_schema

DocumentKind = Literal["scenario", "fault", "system", "pack", "intervention"]
KINDS: tuple[DocumentKind, ...] = ("scenario", "fault", "system", "pack", "intervention")
POLICIES: Mapping[str, str] = {
    "graded-submission": (
        "at least 3 scenarios, every objective's points strictly between 0 and 1, and a lone objective has 0.99"
    ),
}

_VALUE: Schema = {
    "type": ["string", "number", "boolean", "array"],
    "title": "text, a number, true or false, or a list",
    "description": "the value",
}


def _probe() -> Schema:
    probes = {
        probe.name: arguments(
            f"probe `{probe.name}`",
            probe.parameters,
            description=probe.doc,
            exactly_one=probe.exactly_one,
            at_least_one=probe.at_least_one,
        )
        for probe in PROBES.values()
    }
    return {
        **mapping("a probe", probes, description="one read-only measurement and what is expected of it"),
        "minProperties": 1,
        "maxProperties": 1,
        TYPE_KEYWORD: "probe",
    }


def _use() -> Schema:
    return {
        "type": "object",
        "title": "a fault",
        "description": "a fault by name, with its arguments",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {"type": "object", "title": "the arguments of a fault"},
        TYPE_KEYWORD: "fault",
    }


def _step() -> Schema:
    return mapping(
        "a step",
        {
            "think": text("the reasoning of an expert at this point"),
            "run": typed("shell", "what is typed"),
            "discover": named(PARAMETER_NAME, "the name that the command's output is bound to, for later steps"),
            "only_if": typed("shell", "a guard: the step is left out where this does not exit 0"),
            "undo": typed("shell", "what takes the step back"),
            "answer": text("an answer that is handed in, instead of a command"),
        },
        exactly_one=(("run", "answer"),),
        together={"discover": ("run",), "undo": ("run",)},
        description="one step of an intervention",
    )


def _intervention_keys() -> dict[str, Schema]:
    predicts = text("what is seen if that is the cause")
    other = mapping(
        "an alternative",
        {"hypothesis": text("another cause that was considered"), "predicts": predicts},
        required=("hypothesis",),
        description="a competing hypothesis",
    )
    return {
        "hypothesis": text("what is believed to be the cause"),
        "predicts": predicts,
        "alternatives": many(other, "competing hypotheses"),
        "evidence": many(named("^[0-9a-f]{8,64}$", "an observation", title="an id"), "ids of what speaks for it"),
        "falsifier": typed("shell", "exits 0 if the hypothesis is wrong; run before anything is changed"),
        "invariants": many(typed("shell", "exits 0 before, and must after"), "what must stay true"),
        "steps": many({"$ref": "#/$defs/step"}, "what is done, in order", at_least=1),
        "postconditions": many(typed("shell", "exits 0 once the steps are done"), "what must be true in the end"),
        "ordered": flag("the order of the steps matters, and the graders must see it"),
    }


def _intervention(title: str, *, hypothesis: bool) -> Schema:
    return mapping(
        title,
        _intervention_keys(),
        required=("hypothesis", "steps") if hypothesis else ("steps",),
        description="what an expert does" if hypothesis else "a repair that only looks right",
    )


def _intervention_document() -> Schema:
    schema = mapping(
        "the intervention",
        {"intervention": text("its name"), **_intervention_keys()},
        required=("intervention", "hypothesis", "steps"),
        description="What an agent hands in: a repair that can be replayed where nobody has been.",
    )
    return {**schema, "$defs": {"step": _step()}}


def _objective() -> Schema:
    points: Schema = {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "title": "a number between 0 and 1",
        "description": "what it is worth; all together are worth at most 1",
    }
    answer = mapping(
        "`answer`",
        {
            "question": text("what the agent is asked"),
            "equals": text("the right answer; white space does not count"),
            "matches": typed("regex", "what the right answer matches"),
        },
        required=("question",),
        exactly_one=(("equals", "matches"),),
        description="met by what the agent answers",
    )
    seen = mapping(
        "`seen`",
        {
            "output": typed("regex", "what a command's output matched"),
            "command": typed("regex", "what that command matched"),
        },
        required=("output",),
        description="met by having looked",
    )
    return mapping(
        "an objective",
        {
            "points": points,
            "probe": {"$ref": "#/$defs/probe"},
            "answer": answer,
            "seen": seen,
            "settle": typed("duration", "how long the probe must go on holding"),
            "armed_by": text("the cascade that must have fired before this counts"),
        },
        required=("points",),
        exactly_one=(("probe", "answer", "seen"),),
        together={"settle": ("probe",)},
    )


def _cascade() -> Schema:
    after = mapping(
        "`after`",
        {
            "commands": whole("so many commands later"),
            "seconds": typed("duration", "so long afterwards"),
        },
        exactly_one=(("commands", "seconds"),),
        description="how long after the condition; at once otherwise",
    )
    return mapping(
        "a cascade",
        {
            "name": text("what happens, in words"),
            "when": {"$ref": "#/$defs/probe"},
            "after": after,
            "inject": many({"$ref": "#/$defs/use"}, "the faults that follow", at_least=1),
            "repeat": flag("each time the condition becomes true anew, instead of once"),
        },
        required=("name", "when", "inject"),
    )


def _scenario() -> Schema:
    named_probe: Schema = {"$ref": "#/$defs/probe"}
    uses: Schema = {"$ref": "#/$defs/use"}
    control = mapping(
        "a control",
        {
            "parameters": free_mapping("`parameters`", _VALUE, "what differs from the primary", names=PARAMETER_NAME),
            "complaint": text("what the agent reads there, if something else"),
            "instead_of_faults": many(uses, "its decoys; nothing is really broken"),
        },
        required=("instead_of_faults",),
        description="a healthy world that a right repair leaves unharmed",
    )
    schema = mapping(
        "the scenario",
        {
            "scenario": named(SCENARIO_NAME, "the scenario's name, that of its file"),
            "title": text("one line"),
            "kind": choice(get_args(Kind), "repair: something is broken; investigation: something is to be found out"),
            "difficulty": choice(get_args(Difficulty), "how hard it is"),
            "split": choice(get_args(Split), "train: agents may learn from it; heldout: they may not"),
            "tags": many(text("a tag"), "what it is about"),
            "system": named(SCENARIO_NAME, "the system it breaks"),
            "parameters": free_mapping(
                "`parameters`", _VALUE, "what may differ between the primary and its twins", names=PARAMETER_NAME
            ),
            "complaint": text("what a user or a monitor says; all that the agent reads"),
            "faults": many(uses, "what is broken at the start", at_least=1),
            "since": typed("duration", "how long it has been so when the agent comes; logs tell of it then"),
            "cascades": many(_cascade(), "what breaks later, and when"),
            "objectives": free_mapping("`objectives`", _objective(), "what is worth points, by name", at_least=1),
            "invariants": free_mapping("`invariants`", named_probe, "what must stay true, by name"),
            "reward": mapping(
                "`reward`",
                {
                    key: number(words, minimum=-1, maximum=1)
                    for key, words in (
                        ("per_command", "for every command; usually below zero"),
                        ("first_diagnosis", "once, for the first objective met by looking"),
                        ("harm", "once for every broken invariant; usually below zero"),
                    )
                },
                description="how rewards are shaped beside the points",
            ),
            "hints": many(text("a hint"), "what a person may ask for, in order"),
            "limits": mapping(
                "`limits`",
                {
                    "commands": whole("how many commands an agent has", minimum=1),
                    "seconds": typed("duration", "how long it has"),
                    "output_bytes": typed("size", "how much of one command's output it sees"),
                },
                description="what an episode may use",
            ),
            "twins": free_mapping(
                "`twins`",
                free_mapping("a twin", _VALUE, "parameters that differ from the primary's", names=PARAMETER_NAME),
                "worlds with the same cause behind another surface, by name",
            ),
            "controls": free_mapping("`controls`", control, "healthy worlds with a decoy symptom, by name"),
            "interventions": mapping(
                "`interventions`",
                {
                    "gold": _intervention("`gold`", hypothesis=True),
                    "bad": free_mapping(
                        "`bad`", _intervention("a bad habit", hypothesis=False), "repairs that only look right, by name"
                    ),
                },
                required=("gold",),
                description="what can be done about it",
            ),
            "waivers": free_mapping(
                "`waivers`",
                text("why"),
                "weakened forms of gold that the graders may miss, by name, each with a reason",
            ),
        },
        required=(
            "scenario",
            "title",
            "kind",
            "difficulty",
            "split",
            "system",
            "complaint",
            "objectives",
            "interventions",
        ),
        description="One incident: what breaks, what counts as repaired, and what only looks so.",
    )
    schema["if"] = {"properties": {"kind": {"const": "repair"}}, "required": ["kind"]}
    schema["then"] = {"required": ["faults"]}
    return {**schema, "$defs": {"probe": _probe(), "use": _use(), "step": _step()}}


def _task() -> Schema:
    modules = {
        module.name: arguments(
            f"module `{module.name}`", module.parameters, description=module.doc, exactly_one=module.exactly_one
        )
        for module in MODULES.values()
    }
    task = mapping(
        "a task",
        {
            "name": text("what the task does"),
            "when": text("a condition, as Ansible writes it"),
            "loop": {"type": ["array", "string"], "title": "a list", "description": "the task runs for every `item`"},
            "register": named(PARAMETER_NAME, "the name that the result is bound to"),
            "ignore_errors": flag("go on when the task fails"),
            **modules,
        },
        required=("name",),
        at_least_one=tuple(modules),
        description="one Ansible task",
    )
    return {**task, TYPE_KEYWORD: "task"}


def _fault() -> Schema:
    argument = mapping(
        "an argument",
        {
            "type": choice(TYPE_NAMES, "the type of its values"),
            "required": flag("whether it must be given"),
            "default": {"description": "its value where none is given"},
            "doc": text("what it is, in one line"),
            "choices": many(_VALUE, "the values it may have", at_least=1),
        },
        required=("type", "doc"),
        description="one argument",
    )
    schema = mapping(
        "the fault",
        {
            "fault": named(FAULT_NAME, "the fault's name, that of its file"),
            "title": text("one line"),
            "doc": text("what is broken, and what is not"),
            "decoy": flag("it breaks nothing and only looks so; controls use it"),
            "arguments": free_mapping("`arguments`", argument, "its arguments, by name", names=PARAMETER_NAME),
            "inject": many({"$ref": "#/$defs/task"}, "the tasks that break it", at_least=1),
            "revert": many({"$ref": "#/$defs/task"}, "the tasks that undo it"),
            "witness": many({"$ref": "#/$defs/probe"}, "probes that all hold exactly while it is in force", at_least=1),
            "example": {"type": "object", "title": "`example`", "description": "arguments that make sense"},
        },
        required=("fault", "title", "doc", "inject", "revert", "witness"),
        description="One named break of a system.",
    )
    return {**schema, "$defs": {"probe": _probe(), "task": _task()}}


def _system() -> Schema:
    return {**system_schema({"$ref": "#/$defs/probe"}), "$defs": {"probe": _probe()}}


def _pack() -> Schema:
    return mapping(
        "the pack",
        {
            "pack": named(SCENARIO_NAME, "the pack's name"),
            "version": named(
                r"^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$",
                "its version, as `1.2.3`",
                title="a version like `1.2.3`",
            ),
            "title": text("one line"),
            "license": text("its license, as an SPDX name"),
            "canary": text("a text that should never appear in training data"),
            "policies": many(
                choice(tuple(POLICIES), "; ".join(f"{name}: {words}" for name, words in POLICIES.items())),
                "what the pack holds itself to",
            ),
            "uses": many(named(SCENARIO_NAME, "a pack"), "packs whose faults and systems it uses"),
        },
        required=("pack", "version", "title", "license", "canary"),
        description="A pack: what its folder's documents have in common.",
    )


@cache
def schema(kind: DocumentKind) -> Mapping[str, object]:
    """The published schema of one kind of document."""
    makers = {
        "scenario": _scenario,
        "fault": _fault,
        "system": _system,
        "pack": _pack,
        "intervention": _intervention_document,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://breakfix.example/schemas/{kind}.schema.json",
        **makers[kind](),
    }


@cache
def inlined(kind: DocumentKind) -> Mapping[str, object]:
    """The same schema with its references put in, which validates several times as fast."""
    whole_schema = schema(kind)
    parts = whole_schema.get("$defs", {})
    assert isinstance(parts, dict)
    placed: dict[str, object] = {}

    def place(part: object) -> object:
        if isinstance(part, dict):
            reference = part.get("$ref")
            if isinstance(reference, str):
                name = reference.removeprefix("#/$defs/")
                if name not in placed:
                    placed[name] = place(parts[name])
                return placed[name]
            return {key: place(value) for key, value in part.items()}
        if isinstance(part, list):
            return [place(item) for item in part]
        return part

    return {key: place(value) for key, value in whole_schema.items() if key not in ("$defs", "$id")}


def schema_files() -> Mapping[str, str]:
    """File name -> content, of every published schema."""
    return {f"{kind}.schema.json": json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n" for kind in KINDS}
