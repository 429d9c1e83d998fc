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
from scenario_dsl.parameters import TYPE_KEYWORD
from scenario_dsl.rewards import PRESETS
from scenario_dsl.schema_fault import VALUE, fault_schema, probe_schema
from scenario_dsl.schema_intervention import intervention_document, intervention_schema, step_schema
from scenario_dsl.schema_parts import (
    PARAMETER_NAME,
    SCENARIO_NAME,
    Schema,
    choice,
    fixed,
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
            "settle": fixed("duration", "how long the probe must go on holding"),
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
            "seconds": fixed("duration", "so long afterwards"),
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
            "parameters": free_mapping("`parameters`", VALUE, "what differs from the primary", names=PARAMETER_NAME),
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
                "`parameters`", VALUE, "what may differ between the primary and its twins", names=PARAMETER_NAME
            ),
            "complaint": text("what a user or a monitor says; all that the agent reads"),
            "faults": many(uses, "what is broken at the start", at_least=1),
            "since": fixed("duration", "how long it has been so when the agent comes; logs tell of it then"),
            "cascades": many(_cascade(), "what breaks later, and when"),
            "objectives": free_mapping("`objectives`", _objective(), "what is worth points, by name", at_least=1),
            "invariants": free_mapping("`invariants`", named_probe, "what must stay true, by name"),
            "reward": _reward("how rewards are shaped beside the points; the pack's `reward` otherwise"),
            "hints": many(text("a hint"), "what a person may ask for, in order"),
            "limits": mapping(
                "`limits`",
                {
                    "commands": whole("how many commands an agent has", minimum=1),
                    "seconds": fixed("duration", "how long it has"),
                    "output_bytes": fixed("size", "how much of one command's output it sees"),
                },
                description="what an episode may use",
            ),
            "twins": free_mapping(
                "`twins`",
                free_mapping("a twin", VALUE, "parameters that differ from the primary's", names=PARAMETER_NAME),
                "worlds with the same cause behind another surface, by name",
            ),
            "controls": free_mapping("`controls`", control, "healthy worlds with a decoy symptom, by name"),
            "interventions": mapping(
                "`interventions`",
                {
                    "gold": intervention_schema("`gold`", hypothesis=True),
                    "bad": free_mapping(
                        "`bad`",
                        intervention_schema("a bad habit", hypothesis=False),
                        "repairs that only look right, by name",
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
    return {**schema, "$defs": {"probe": probe_schema(), "use": _use(), "step": step_schema()}}


def _reward(description: str) -> Schema:
    keys = (
        ("per_command", "for every command; usually below zero"),
        ("first_diagnosis", "once, for the first objective met by looking"),
        ("first_look", "once, for the first command that only looks at the machine"),
        ("solved", "as long as all that is to be repaired is repaired, instead of the objectives' points"),
        ("harm", "once for every broken invariant; usually below zero"),
        ("destructive", "for a command that would destroy the machine: it is not run, and the episode ends"),
    )
    presets = "; ".join(f"{name}: {preset.title}" for name, preset in PRESETS.items())
    return mapping(
        "`reward`",
        {
            "preset": choice(tuple(PRESETS), f"what holds where nothing else stands beside it, limits too ({presets})"),
            **{key: number(words, minimum=-1, maximum=1) for key, words in keys},
        },
        description=description,
    )


def _system() -> Schema:
    return {**system_schema({"$ref": "#/$defs/probe"}), "$defs": {"probe": probe_schema()}}


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
            "reward": _reward("the `reward` of its scenarios that have none of their own"),
        },
        required=("pack", "version", "title", "license", "canary"),
        description="A pack: what its folder's documents have in common.",
    )


@cache
def schema(kind: DocumentKind) -> Mapping[str, object]:
    """The published schema of one kind of document."""
    makers = {
        "scenario": _scenario,
        "fault": fault_schema,
        "system": _system,
        "pack": _pack,
        "intervention": intervention_document,
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
