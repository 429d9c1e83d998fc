"""Run folders to the records that count: each trial's last retry, without its transcript, and where that lies on disk.

One pass over the records, in memory that grows with their number but not with what the agents saw. Transcripts are
fetched again by their place when a page wants them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from runners.records import TrialRecord, Turn
from runners.records_io import read_committed, records_file, unseal

_TOLD_EVERY = 500

Watch: TypeAlias = Callable[[int, int, str], None]
"""Told how far long work is: done, of how many, and what is being done."""

DIFFICULTIES = ("easy", "medium", "hard", "expert")


class TurnRow(NamedTuple):
    """One turn with the record it belongs to; `number` counts from 1."""

    record: TrialRecord
    number: int
    turn: Turn


class Kept(NamedTuple):
    """A record without its turns, how many there were, and its line: file, first byte, length, sha256."""

    record: TrialRecord
    turn_count: int
    reward: float
    path: Path
    start: int
    length: int
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The records that count, ordered by what they are and never by when they arrived.

    `superseded` counts the records that a later retry, or another run's record of the same trial, replaced.
    """

    kept: tuple[Kept, ...]
    superseded: int

    @property
    def digest(self) -> str:
        """sha256 (hex) over the sorted digests of the records: it names the evidence."""
        return hashlib.sha256(b"".join(sorted(item.digest for item in self.kept))).hexdigest()


def unwatched(done: int, total: int, what: str) -> None:
    """A `Watch` that nobody looks at."""


def read(run: Path, watch: Watch = unwatched) -> Reading:
    """The records of one run folder; `watch` is told per cent. Raises runners.records_io.RecordsError."""
    path = records_file(run)
    size = path.stat().st_size
    kept: dict[str, Kept] = {}
    start = read = 0
    for record, line in read_committed(path):
        read += 1
        if read % _TOLD_EVERY == 0:
            watch(100 * start // size, 100, f"reading {run.name}")
        known = kept.get(record.trial_id)
        if known is None or record.ordinal >= known.record.ordinal:
            reward = round(sum(turn.reward for turn in record.turns), 9)
            bare, digest = replace(record, turns=()), hashlib.sha256(line).digest()
            kept[record.trial_id] = Kept(bare, len(record.turns), reward, path, start, len(line), digest)
        start += len(line) + 1
    return Reading(kept=tuple(sorted(kept.values(), key=place)), superseded=read - len(kept))


def together(readings: Sequence[Reading]) -> Reading:
    """Several runs as one. A trial found twice counts once: its last retry, of equal ones that of the last run."""
    if len(readings) == 1:
        return readings[0]
    kept: dict[str, Kept] = {}
    for item in (item for reading in readings for item in reading.kept):
        known = kept.get(item.record.trial_id)
        if known is None or item.record.ordinal >= known.record.ordinal:
            kept[item.record.trial_id] = item
    doubled = sum(len(reading.kept) for reading in readings) - len(kept)
    superseded = doubled + sum(reading.superseded for reading in readings)
    return Reading(kept=tuple(sorted(kept.values(), key=place)), superseded=superseded)


def documents(items: Sequence[Kept]) -> Iterator[bytes]:
    """The records' JSON without their seals."""
    return map(unseal, lines(items))


def lines(items: Sequence[Kept]) -> Iterator[bytes]:
    """The records' lines as they were written, transcripts included, one after the other."""
    streams = {path: path.open("rb") for path in sorted({item.path for item in items})}
    try:
        for item in items:
            stream = streams[item.path]
            stream.seek(item.start)
            yield stream.read(item.length)
    finally:
        for stream in streams.values():
            stream.close()


def place(item: Kept) -> tuple[object, ...]:
    """Sorting key of a trial: pack, scenario from easy to expert, agent, attempt, world in document order."""
    trial = item.record.trial
    worlds = [name for name, _ in trial.required_worlds]
    world = worlds.index(trial.world) if trial.world in worlds else len(worlds)
    return (
        *(trial.pack, trial.bundle_digest, trial.backend, DIFFICULTIES.index(trial.difficulty), trial.scenario),
        *(trial.agent.label, trial.seed, trial.attempt, world, trial.world, item.record.trial_id),
    )
