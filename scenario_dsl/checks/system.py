"""One system document by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.model import System
from scenario_dsl.nodes import Document
from scenario_dsl.problems import packs as problems
from scenario_dsl.realise.system import realise_system
from scenario_dsl.realise.texts import check_texts
from scenario_dsl.values import Route, Value

_UNIQUE = (
    ("users", "name"),
    ("groups", "name"),
    ("mounts", "path"),
    ("clients", "name"),
    ("hosts", "name"),
    ("files", "path"),
)


def check_system(document: Document, system: System, data: Mapping[str, Value]) -> Iterator[Diagnostic]:
    """`data`: the typed document, with its parts that stay plain values."""
    source = document.source
    for part, key in _UNIQUE:
        yield from _unique(document, part, key, data)
    mounts = data.get("mounts")
    paths = [mount.get("path") for mount in mounts if isinstance(mount, Mapping)] if isinstance(mounts, tuple) else []
    if "/" not in paths:
        yield problems.RootNotMounted(source=source, span=document.key(("mounts",)))
    start = data.get("start")
    if isinstance(start, str):
        try:
            datetime.fromisoformat(start)
        except ValueError:
            yield problems.NotATime(source=source, span=document.place(("start",)), found=f"`{start}`")
    for index, entry in enumerate(system.files):
        if entry.type == "link" and entry.target is None:
            yield problems.LinkWithoutTarget(source=source, span=document.key(("files", index, "type")))
    for probe in system.healthy:
        yield from check_texts(document, probe.at, probe.arguments, frozenset())
    _, found = realise_system(document, system)
    yield from found


def _unique(document: Document, part: str, key: str, data: Mapping[str, Value]) -> Iterator[Diagnostic]:
    entries = data.get(part)
    first: dict[Value, Route] = {}
    for index, entry in enumerate(entries if isinstance(entries, tuple) else ()):
        name = entry.get(key) if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            continue
        route: Route = (part, index, key)
        if name in first:
            yield problems.NamedTwice(
                source=document.source,
                span=document.place(route),
                labels=(Label(span=document.place(first[name]), text="first described here"),),
                what=part.removesuffix("s"),
                name=name,
            )
        first.setdefault(name, route)
