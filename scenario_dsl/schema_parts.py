"""Small pieces that the schemas of all documents are made of.

`title` of a schema is how a diagnostic calls the thing ("a step"); `description` is what an editor shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from scenario_dsl.model import Parameter
from scenario_dsl.parameters import FIXED_KEYWORD, TYPE_KEYWORD, schema_of
from scenario_dsl.values import thaw

Schema: TypeAlias = dict[str, object]

SCENARIO_NAME = "^[a-z0-9][a-z0-9-]{0,63}$"
FAULT_NAME = "^[a-z][a-z0-9_]{0,63}$"
PARAMETER_NAME = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"


def text(description: str) -> Schema:
    """Text without templates."""
    return {"type": "string", "minLength": 1, "title": "text", "description": description, TYPE_KEYWORD: "string"}


def typed(type_name: str, description: str) -> Schema:
    """A value of one of the argument types, templates allowed."""
    return {**schema_of(type_name), "description": description}


def fixed(type_name: str, description: str) -> Schema:
    """A value of one of the argument types that is the same in every world: no templates."""
    return {**typed(type_name, description), FIXED_KEYWORD: True}


def named(pattern: str, description: str, *, title: str = "a name") -> Schema:
    return {"type": "string", "pattern": pattern, "title": title, "description": description}


def choice(values: Sequence[str], description: str) -> Schema:
    return {"enum": list(values), "description": description}


def whole(description: str, *, minimum: int = 0, maximum: int | None = None) -> Schema:
    bounds: Schema = {"minimum": minimum} if maximum is None else {"minimum": minimum, "maximum": maximum}
    schema: Schema = {"type": "integer", **bounds, "title": "a whole number", "description": description}
    return {**schema, TYPE_KEYWORD: "integer"}


def number(description: str, **bounds: float) -> Schema:
    """`bounds`: JSON Schema's own, such as `minimum`."""
    return {"type": "number", **bounds, "title": "a number", "description": description, TYPE_KEYWORD: "number"}


def flag(description: str) -> Schema:
    return {"type": "boolean", "title": "true or false", "description": description, TYPE_KEYWORD: "boolean"}


def many(items: Schema, description: str, *, at_least: int = 0) -> Schema:
    least: Schema = {"minItems": at_least} if at_least else {}
    return {"type": "array", "items": items, **least, "title": "a list", "description": description}


def mapping(
    title: str,
    properties: Mapping[str, Schema],
    *,
    required: Sequence[str] = (),
    description: str = "",
    exactly_one: Sequence[Sequence[str]] = (),
    at_least_one: Sequence[str] = (),
    together: Mapping[str, Sequence[str]] | None = None,
) -> Schema:
    """A mapping with known keys. `exactly_one`: groups of keys of which exactly one is given; `together`: keys that
    need others."""
    schema: Schema = {"type": "object", "title": title, "properties": dict(properties), "additionalProperties": False}
    if description:
        schema["description"] = description
    if required:
        schema["required"] = list(required)
    if together:
        schema["dependentRequired"] = {key: list(needs) for key, needs in together.items()}
    conditions: list[Schema] = [{"anyOf": [{"required": [key]} for key in group]} for group in exactly_one]
    if at_least_one:
        conditions.append({"anyOf": [{"required": [key]} for key in at_least_one]})
    if conditions:
        schema["allOf"] = conditions
    exclusions: Schema = {
        key: {"properties": {other: {"not": {}} for other in group if other != key}}
        for group in exactly_one
        for key in group
    }
    if exclusions:
        schema["dependentSchemas"] = exclusions
    return schema


def free_mapping(title: str, values: Schema, description: str, *, names: str = "", at_least: int = 0) -> Schema:
    """A mapping whose keys the author chooses."""
    schema: Schema = {"type": "object", "title": title, "additionalProperties": values, "description": description}
    if names:
        schema["propertyNames"] = {"pattern": names}
    if at_least:
        schema["minProperties"] = at_least
    return schema


def arguments(
    title: str,
    parameters: Sequence[Parameter],
    *,
    description: str,
    exactly_one: Sequence[Sequence[str]] = (),
    at_least_one: Sequence[str] = (),
) -> Schema:
    """The schema of a mapping of arguments, from their declarations."""
    return mapping(
        title,
        {parameter.name: _argument(parameter) for parameter in parameters},
        required=[parameter.name for parameter in parameters if parameter.required],
        description=description,
        exactly_one=exactly_one,
        at_least_one=at_least_one,
    )


def _argument(parameter: Parameter) -> Schema:
    schema = typed(parameter.type, parameter.doc)
    if parameter.choices:
        # A choice may be a template too, so an enum is a pattern here; the words stay visible to an editor.
        words = [str(value) for value in parameter.choices]
        schema["pattern"] = f"^({'|'.join(words)})$|\\{{\\{{"
        schema["examples"] = words
        schema["title"] = "one of " + ", ".join(words)
    if parameter.default is not None:
        schema["default"] = thaw(parameter.default)
    return schema
