"""A run's folder: `plan.json`, `records.jsonl`, and an index that can be rebuilt from them.

One writer appends; the newline commits a record. The lock is on the folder itself, so that it ends with the process
that holds it, however that ends. A reader needs no lock.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from compiler.codec import Malformed
from runners.plan import Plan, differences, from_json, to_json
from runners.records import TrialRecord
from runners.records_io import RECORDS_FILE, committed_length, decode, encode, read_committed
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.writing import write_file, writing_to

PLAN_FILE = "plan.json"
INDEX_FILE = "index.sqlite"
_SYNC_EVERY = 200
"""Records between two fsyncs: a power cut may cost that many, a killed process none."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS trials (
  trial_id TEXT NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
  agent TEXT NOT NULL, scenario TEXT NOT NULL, world TEXT NOT NULL, seed INTEGER NOT NULL, attempt INTEGER NOT NULL,
  outcome TEXT NOT NULL, score REAL, PRIMARY KEY (trial_id, ordinal)
) WITHOUT ROWID
"""


class RunFolderError(AuthorError):
    """The folder cannot be run into, or does not hold what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One record as it is written, and what is worth knowing of it without reading it. Made where it was played."""

    trial_id: str
    ordinal: int
    agent: str
    scenario: str
    world: str
    seed: int
    attempt: int
    outcome: str
    score: float | None
    error: str | None
    data: bytes

    @classmethod
    def of(cls, record: TrialRecord) -> Line:
        trial = record.trial
        return cls(
            trial_id=record.trial_id,
            ordinal=record.ordinal,
            agent=trial.agent.label,
            scenario=trial.scenario,
            world=trial.world,
            seed=trial.seed,
            attempt=trial.attempt,
            outcome=record.outcome,
            score=record.score,
            error=record.error,
            data=encode(record),
        )


class RunWriter:
    """The one writer of a run folder, made by `open_run`."""

    def __init__(self, folder: Path, stream: FileIO, index: sqlite3.Connection, played: dict[str, tuple[int, str]]):
        self._folder = folder
        self._stream = stream
        self._index = index
        self._played = played
        self._unsynced = 0
        self._end = stream.seek(0, os.SEEK_END)

    @property
    def played(self) -> Mapping[str, tuple[int, str]]:
        """For each trial with a record: the highest ordinal and its outcome."""
        return self._played

    def append(self, lines: Sequence[Line]) -> None:
        """Write records. Raises HostError when the disk takes no more; what was written before stays whole."""
        rows: list[tuple[object, ...]] = []
        end = self._end
        data: list[bytes] = []
        for line in lines:
            data += (line.data, b"\n")
            rows.append(_row(line, end))
            end += len(line.data) + 1
        try:
            self._write(b"".join(data))
            self._unsynced += len(lines)
            if self._unsynced >= _SYNC_EVERY:
                self.sync()
        except OSError as error:
            self._cut()
            raise self._full(error) from error
        self._end = end
        for line in lines:
            self._played[line.trial_id] = (line.ordinal, line.outcome)
        try:
            with self._index:
                self._index.executemany(_INSERT, rows)
        except sqlite3.OperationalError as error:
            raise self._full(error) from error

    def sync(self) -> None:
        """Make everything written so far survive a power cut."""
        os.fsync(self._stream.fileno())
        self._unsynced = 0

    def _write(self, data: bytes) -> None:
        """All of `data`: a disk that is nearly full takes a part of it before it refuses the rest."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._stream.write(rest) :]

    def _cut(self) -> None:
        """Take back a half-written line; if even that fails, the next opening does it."""
        try:
            os.ftruncate(self._stream.fileno(), self._end)
        except OSError:
            return

    def _full(self, error: Exception) -> HostError:
        return HostError(
            f"cannot write to the run folder {self._folder}: {error}",
            remedy="make room or mend the disk, then start the same run again: it goes on where it stopped",
        )


@contextmanager
def open_run(folder: Path, plan: Plan) -> Iterator[RunWriter]:
    """Begin a run in `folder` or go on with one, as its only writer.

    Raises RunFolderError when another run is writing there, when the stored plan is another one (saying how it
    differs), and when the folder holds something else; HostError when it cannot be written.
    """
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        _settle_plan(folder, plan)
        path = folder / RECORDS_FILE
        if path.exists():
            os.truncate(path, committed_length(path))
        index = _open_index(folder)
        try:
            played = _played(index)
            # Unbuffered: after a failed write nothing may linger that would be written later, behind our back.
            with path.open("ab", buffering=0) as stream:
                writer = RunWriter(folder, stream, index, played)
                yield writer
                writer.sync()
        finally:
            index.close()


def read_plan(folder: Path) -> Plan:
    """The plan of a run folder. Raises RunFolderError."""
    try:
        return from_json((folder / PLAN_FILE).read_bytes())
    except FileNotFoundError as error:
        raise RunFolderError(f"{folder}: not a run folder: it has no {PLAN_FILE}") from error
    except Malformed as error:
        raise RunFolderError(f"{folder / PLAN_FILE}: {error}") from error


def find_record(folder: Path, identifier: str, ordinal: int | None = None) -> TrialRecord:
    """The record of a trial, the last one unless `ordinal` says which; `identifier` may be the beginning of an id.

    Raises RunFolderError when there is none, or when the beginning fits several trials.
    """
    found: dict[tuple[str, int], TrialRecord] = {}
    for record, _ in read_committed(folder):
        if record.trial_id.startswith(identifier):
            found[(record.trial_id, record.ordinal)] = record
    names = sorted({name for name, _ in found})
    if len(names) > 1:
        raise RunFolderError(f"{folder}: `{identifier}` fits {len(names)} trials, such as {names[0]} and {names[1]}")
    wanted = [record for (_, number), record in sorted(found.items()) if ordinal in (None, number)]
    if not wanted:
        raise RunFolderError(f"{folder}: there is no record of the trial `{identifier}`")
    return wanted[-1]


def rebuild_index(folder: Path) -> int:
    """Make the index anew from the records; returns how many there are."""
    for name in (INDEX_FILE, f"{INDEX_FILE}-wal", f"{INDEX_FILE}-shm"):
        (folder / name).unlink(missing_ok=True)
    index = _open_index(folder)
    try:
        return int(index.execute("SELECT count(*) FROM trials").fetchone()[0])
    finally:
        index.close()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RunFolderError(
                f"{folder}: another run is writing there; wait for it or choose another folder"
            ) from error
        yield
    finally:
        os.close(descriptor)


def _settle_plan(folder: Path, plan: Plan) -> None:
    """Store the plan of a new run; hold an old one's against it."""
    path = folder / PLAN_FILE
    if path.exists():
        changed = differences(read_plan(folder), plan)
        if changed:
            listed = "\n".join(f"  {sentence}" for sentence in changed)
            raise RunFolderError(f"{folder}: holds a run with another plan; choose another folder.\n{listed}")
        return
    if (folder / RECORDS_FILE).exists():
        raise RunFolderError(f"{folder}: has records but no {PLAN_FILE}")
    write_file(path, to_json(plan))


_INSERT = "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _row(line: Line, start: int) -> tuple[object, ...]:
    return (
        line.trial_id,
        line.ordinal,
        start,
        len(line.data),
        line.agent,
        line.scenario,
        line.world,
        line.seed,
        line.attempt,
        line.outcome,
        line.score,
    )


def _open_index(folder: Path) -> sqlite3.Connection:
    """The index, brought up to the records: it may be missing, behind (a kill) or ahead (a power cut)."""
    path = folder / INDEX_FILE
    try:
        index = _connect(path)
    except sqlite3.DatabaseError:
        path.unlink()
        index = _connect(path)
    length = committed_length(folder / RECORDS_FILE)
    indexed = index.execute("SELECT coalesce(max(start + length + 1), 0) FROM trials").fetchone()[0]
    if indexed != length:
        with index:
            if indexed > length:
                index.execute("DELETE FROM trials")
                indexed = 0
            index.executemany(_INSERT, _rows_from(folder / RECORDS_FILE, indexed))
    return index


def _connect(path: Path) -> sqlite3.Connection:
    index = sqlite3.connect(path)
    index.execute("PRAGMA journal_mode=WAL")
    # It can be rebuilt, so it need not be synced with every batch.
    index.execute("PRAGMA synchronous=OFF")
    index.execute(_SCHEMA)
    return index


def _rows_from(path: Path, start: int) -> Iterator[tuple[object, ...]]:
    with path.open("rb") as lines:
        lines.seek(start)
        position = start
        for data in lines:
            try:
                record = decode(data[:-1])
            except Malformed as error:
                raise RunFolderError(f"{path}: at byte {position}: {error}") from error
            yield _row(Line.of(record), position)
            position += len(data)


def _played(index: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    rows = index.execute("SELECT trial_id, ordinal, outcome FROM trials ORDER BY ordinal")
    return {identifier: (ordinal, outcome) for identifier, ordinal, outcome in rows}
