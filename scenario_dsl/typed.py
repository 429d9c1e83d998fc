"""Document -> its value with every typed text in its meaning: sizes in bytes, durations in seconds, patterns proven.

Runs on documents of the right shape; which value has which type is read off the schema. Text that holds a template is
left alone, since it is checked where it is rendered, save where there may be none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.nodes import Document, value_of
from scenario_dsl.parameters import FIXED_KEYWORD, is_template, type_of
from scenario_dsl.problems.meaning import WrongArgument
from scenario_dsl.schema import DocumentKind, inlined
from scenario_dsl.values import Route, Value


def typed_value(document: Document, kind: DocumentKind) -> tuple[Mapping[str, Value], tuple[Diagnostic, ...]]:
    """The document's value, and what in it is not of its type."""
    return typed_by(document, inlined(kind))


def typed_by(document: Document, schema: Mapping[str, object]) -> tuple[Mapping[str, Value], tuple[Diagnostic, ...]]:
    """The same for a document of any schema that it has the shape of."""
    found: list[Diagnostic] = []
    value = _walk(document, schema, value_of(document.root), (), found)
    assert isinstance(value, Mapping)
    return value, tuple(found)


def _walk(document: Document, schema: Any, value: Value, route: Route, found: list[Diagnostic]) -> Value:
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties")
        return {key: _walk(document, known.get(key, rest), item, (*route, key), found) for key, item in value.items()}
    if isinstance(value, tuple):
        items = schema.get("items")
        return tuple(_walk(document, items, item, (*route, index), found) for index, item in enumerate(value))
    own = type_of(schema)
    if own is None or value is None or (is_template(value) and not schema.get(FIXED_KEYWORD)):
        return value
    try:
        return own.normal(value)
    except ValueError as error:
        found.append(
            WrongArgument(
                source=document.source,
                span=document.place(route),
                name=str(next((step for step in reversed(route) if isinstance(step, str)), "this")),
                expected=own.article,
                found=f"`{value}`",
                reason=str(error),
                form=own.form,
            )
        )
        return value
