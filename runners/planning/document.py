"""A plan's file to a `PlanDocument`: reading, parsing, shape, types. Nothing it refers to is looked at yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from runners.agents.spec import OWN_LANE
from runners.course import Budget, Course
from runners.plan import GivenLimits
from runners.planning.schema import plan_schema
from scenario_dsl.diagnostics import Diagnostics, errors_in
from scenario_dsl.loading import unreadable
from scenario_dsl.nodes import Document
from scenario_dsl.parsing import parse
from scenario_dsl.shape import departures
from scenario_dsl.source import SourceText, Span, Unreadable, read
from scenario_dsl.syntax import cut_texts
from scenario_dsl.typed import typed_by
from scenario_dsl.values import Route, Value

SUFFIXES = (".yml", ".yaml")
_HOW = ("agent", "training")
"""Keys of an agent that are no settings of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackEntry:
    """A bundle to play. `digest`: the beginning of what its digest has to be, empty for any."""

    path: Path
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """One agent: its title, what it is as on the command line, and its settings."""

    title: str
    text: str
    training: bool
    settings: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointEntry:
    """An endpoint; without a `url` it is one that is known by name, with another concurrency."""

    name: str
    url: str
    key_from: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """What the file says. `document` is its tree, for places; `folder` is where its relative paths begin."""

    document: Document
    folder: Path
    name: str
    packs: tuple[PackEntry, ...]
    agents: tuple[AgentEntry, ...]
    endpoints: tuple[EndpointEntry, ...]
    scenarios: tuple[str, ...]
    splits: tuple[str, ...]
    worlds: tuple[str, ...]
    attempts: int
    seeds: tuple[int, ...]
    limits: GivenLimits
    backends: tuple[str, ...]
    course: Course
    baseline: Path | None

    @property
    def source(self) -> SourceText:
        return self.document.source

    def place(self, route: Route) -> Span:
        """What a diagnostic underlines for the value at a route."""
        return self.document.place(route)


def is_plan(path: Path) -> bool:
    """Is this a document, going by its name?"""
    return path.suffix in SUFFIXES


def read_plan_document(path: Path) -> PlanDocument:
    """Read one. Raises Diagnostics with everything that is wrong with its text, its shape or its values."""
    try:
        source = read(path)
    except Unreadable as error:
        raise Diagnostics([unreadable(SourceText(str(path), error.text), error)]) from error
    document, found = parse(source)
    if document is None:
        raise Diagnostics(found)
    schema = plan_schema()
    found = (*found, *cut_texts(document), *departures(document, schema))
    if errors_in(found):
        raise Diagnostics(found)
    data, wrong = typed_by(document, schema)
    if wrong:
        raise Diagnostics(wrong)
    return _built(document, path.absolute().parent, data)


def _built(document: Document, folder: Path, data: Mapping[str, Value]) -> PlanDocument:
    limits, backends = _part(data, "limits"), _part(data, "backends")
    endpoints = {name: cast(Mapping[str, Value], entry) for name, entry in _part(data, "endpoints").items()}
    budget = _part(data, "budget")
    in_flight = {name: entry["concurrency"] for name, entry in endpoints.items() if "concurrency" in entry}
    if "concurrency" in _part(data, "programs"):
        in_flight[OWN_LANE] = _part(data, "programs")["concurrency"]
    plain = cast(Any, data)
    return PlanDocument(
        document=document,
        folder=folder,
        name=str(data["plan"]),
        packs=tuple(PackEntry(path=folder / pack["path"], digest=pack.get("digest", "")) for pack in plain["packs"]),
        agents=tuple(_agent(title, entry) for title, entry in plain["agents"].items()),
        endpoints=tuple(
            EndpointEntry(name=name, url=str(entry.get("url", "")), key_from=str(entry.get("key_from", "")))
            for name, entry in endpoints.items()
        ),
        scenarios=plain.get("scenarios", ()),
        splits=plain.get("splits", ()),
        worlds=plain.get("worlds", ()),
        attempts=plain.get("attempts", 1),
        seeds=plain.get("seeds", (0,)),
        limits=GivenLimits(
            commands=cast(Any, limits.get("commands")),
            seconds=cast(Any, limits.get("seconds")),
            output_bytes=cast(Any, limits.get("output_bytes")),
        ),
        backends=tuple(backends) or ("sim",),
        course=Course(
            retries=cast(Any, _part(data, "retries")),
            in_flight=cast(Any, in_flight),
            worlds={
                name: entry["concurrency"]
                for name, entry in plain.get("backends", {}).items()
                if "concurrency" in entry
            },
            budget=Budget(
                money=cast(Any, budget.get("money")),
                tokens=cast(Any, budget.get("tokens")),
                seconds=cast(Any, budget.get("wall")),
            ),
        ),
        baseline=folder / plain["baseline"] if "baseline" in plain else None,
    )


def _agent(title: str, entry: Mapping[str, Value]) -> AgentEntry:
    return AgentEntry(
        title=title,
        text=str(entry.get("agent", title)),
        training=entry.get("training") is True,
        settings={name: value for name, value in entry.items() if name not in _HOW},
    )


def _part(data: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    part = data.get(name, {})
    assert isinstance(part, Mapping)
    return part
