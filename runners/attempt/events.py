"""The log of an attempt: one event for each thing that happened, each naming the hash of the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from compiler.codec import Malformed, dump, load, plain
from compiler.evidence import EvidenceRef
from compiler.layout import sha256
from compiler.receipts import Change
from compiler.verdict import GateFact, Verdict
from runners.attempt.stages import Stage, admit
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Hypothesis, Intervention, Limits
from scenario_dsl.values import Value

T = TypeVar("T")


class LogError(AuthorError):
    """A log that was not written by an attempt, or was changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the log. at: seconds on the world's clock; previous: sha256 of the line before, empty in the first;
    content: one of the values below, by its stage."""

    number: int
    stage: Stage
    at: float
    previous: str
    content: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """agent, model, help: who makes the attempt, which model has a part in it, and which part."""

    complaint: str
    questions: tuple[str, ...]
    limits: Limits
    bundle_digest: str
    scenario: str
    backend: str
    seed: int
    fingerprint: str
    agent: str
    model: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """`typed` is the command as it was typed: what is typed again to get back to this point. `changed`: what it changed
    for good, though it was to look; it is judged like everything else."""

    typed: str
    evidence: EvidenceRef
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contracted:
    """The document, its evidence by whole ids. `foretold`: its hypothesis is one of those predicted."""

    intervention: Intervention
    foretold: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of the document in the primary: see `runners.interventions.Applied`. Secrets are taken out."""

    refuted: bool
    evidence: tuple[EvidenceRef, ...]
    bindings: Mapping[str, str] = field(default_factory=dict)
    played: tuple[int, ...] = ()
    undo: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    recovered: bool
    reason: str
    score: float
    full_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    facts: tuple[GateFact, ...]
    harms: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipted:
    """`sha256` is that of the envelope; None where there is none, and `reason` says why."""

    sha256: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """`borne_out`: the chosen hypothesis was foretold, not refuted, and the repair built on it is VERIFIED."""

    borne_out: bool
    text: str


def appended(events: Sequence[Event], stage: Stage, content: object, *, at: float) -> tuple[Event, ...]:
    """The log with one more event. Raises StageError where the stage may not be entered now."""
    admit([event.stage for event in events], stage)
    previous = hash_of(events[-1]) if events else ""
    event = Event(number=len(events), stage=stage, at=round(at, 6), previous=previous, content=plain(content))
    return (*events, event)


def hash_of(event: Event) -> str:
    """The sha256 (hex) of an event's line."""
    return sha256(dump(event))


def contents(events: Iterable[Event], stage: Stage, wanted: type[T]) -> tuple[T, ...]:
    """The contents of a stage's events."""
    return tuple(load(wanted, dump(event.content)) for event in events if event.stage == stage)


def to_lines(events: Iterable[Event]) -> bytes:
    return b"".join(dump(event) + b"\n" for event in events)


def from_lines(data: bytes, file: str) -> tuple[Event, ...]:
    """The opposite of `to_lines`. Raises LogError where a line is not the one that followed, and StageError."""
    events: list[Event] = []
    for number, line in enumerate(data.splitlines()):
        try:
            event = load(Event, line)
        except Malformed as error:
            raise LogError(f"{file}:{number + 1}: is no event of an attempt: {error.reason}") from error
        previous = hash_of(events[-1]) if events else ""
        if dump(event) != line or event.number != number or event.previous != previous:
            raise LogError(f"{file}:{number + 1}: was changed, or does not follow on the line before")
        admit([each.stage for each in events], event.stage)
        events.append(event)
    if not events:
        raise LogError(f"{file}: is empty: begin with `start`")
    return tuple(events)
