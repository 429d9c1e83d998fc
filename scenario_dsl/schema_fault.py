"""The schema of faults, and of what they are made of: probes and tasks."""

from __future__ import annotations

from scenario_dsl.modules import MODULES
from scenario_dsl.parameters import TYPE_KEYWORD, TYPE_NAMES
from scenario_dsl.probes import NODE, PROBES
from scenario_dsl.schema_parts import (
    FAULT_NAME,
    PARAMETER_NAME,
    Schema,
    arguments,
    choice,
    flag,
    free_mapping,
    many,
    mapping,
    named,
    text,
)

VALUE: Schema = {
    "type": ["string", "number", "boolean", "array"],
    "title": "text, a number, true or false, or a list",
    "description": "the value",
}


def probe_schema() -> Schema:
    probes = {
        probe.name: arguments(
            f"probe `{probe.name}`",
            (*probe.parameters, NODE),
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
            "delegate_to": text("the machine of a fleet that it is applied to; the first one otherwise"),
            **modules,
        },
        required=("name",),
        at_least_one=tuple(modules),
        description="one Ansible task",
    )
    return {**task, TYPE_KEYWORD: "task"}


def fault_schema() -> Schema:
    argument = mapping(
        "an argument",
        {
            "type": choice(TYPE_NAMES, "the type of its values"),
            "required": flag("whether it must be given"),
            "default": {"description": "its value where none is given"},
            "doc": text("what it is, in one line"),
            "choices": many(VALUE, "the values it may have", at_least=1),
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
    return {**schema, "$defs": {"probe": probe_schema(), "task": _task()}}
