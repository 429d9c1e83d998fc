"""Pieces of generated Markdown: tables, and values as YAML in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from scenario_dsl.model import Parameter
from scenario_dsl.values import Value

_PLAIN = re.compile(r"(?!(?i:true|false|null)$)[A-Za-z_/][A-Za-z0-9_./-]*|[1-9][0-9]*[A-Za-z]+")
"""Some of the texts that YAML reads as text without quotes, also between commas and braces."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, and an empty one after it."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def arguments(parameters: Sequence[Parameter], exactly_one: Sequence[Sequence[str]] = ()) -> Iterator[str]:
    """The table of what a probe, a module or a fault takes. `exactly_one`: groups of which one is to be given."""
    rows = []
    for parameter in parameters:
        what = parameter.doc
        if parameter.choices:
            what += f" ({', '.join(f'`{choice}`' for choice in parameter.choices)})"
        note = "required" if parameter.required else ""
        if parameter.default is not None:
            note = f"default `{flow(parameter.default)}`"
        if any(parameter.name in group for group in exactly_one):
            note = "one of " + ", ".join(f"`{name}`" for group in exactly_one for name in group)
        rows.append((f"`{parameter.name}`", parameter.type, what, note))
    yield from table(("argument", "type", "what", ""), rows)


def flow(value: Value) -> str:
    """A value as YAML in one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else "'" + value.replace("'", "''") + "'"
    return str(value)
