"""A system's description holds nothing that nobody reads: a key without effect only seems to describe something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from scenario_dsl.schema import inlined

RUNNERS = Path(__file__).parents[3] / "runners"
# What the language itself reads, and what is for people.
READERS = ("spec.", ".settings", "runners.system import")
"""One of these is in the text of every module that reads settings."""
ELSEWHERE = {"system", "title", "doc", "files", "healthy", "nodes"}


def keys(schema: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key that the schema knows, with those above it."""
    assert isinstance(schema, Mapping)
    for name, inner in schema.get("properties", {}).items():
        if at or name not in ELSEWHERE:
            yield (*at, name)
            yield from keys(inner, (*at, name))
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), Mapping):
            yield from keys(schema[part], at)


def test_every_key_of_a_system_has_a_reader() -> None:
    sources = [
        path.read_text() for folder in ("sim", "hosts", "kernel") for path in sorted((RUNNERS / folder).rglob("*.py"))
    ]
    readers = "\n".join(text for text in sources if any(one in text for one in READERS))
    readers += (RUNNERS / "system.py").read_text()
    routes = [route for route in keys(inlined("system")) if route[:2] != ("image", "files")]  # read as `files` are
    unread = [".".join(route) for route in routes if f'"{route[-1]}"' not in readers]
    assert unread == []
