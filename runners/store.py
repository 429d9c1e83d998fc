"""A run's folder: `plan.json`, `records.jsonl`, and an index that can be rebuilt from them.

One writer appends; the newline commits a record. The lock is on the folder itself, so that it ends with the process
that holds it, however that ends. A reader needs no lock.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from compiler.codec import Malformed
from compiler.reading import read_file
from compiler.refusals import Missing, Refusal
from runners.plan import Plan, differences, from_json, to_json
from runners.record_index import Entry, Last, Spent, add, entries_like, open_index, played, spent
from runners.records import TrialRecord
from runners.records_io import RECORDS_FILE, Line, check_seals, committed_length, read_records_at, records_file
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.writing import write_file, writing_to

PLAN_FILE = "plan.json"
_LARGEST_PLAN = 1 << 30
_SYNC_EVERY = 200
"""Records between two fsyncs: a power cut may cost that many, a killed process none."""


class RunFolderError(AuthorError):
    """The folder cannot be run into, or does not hold what was asked for."""


class RunWriter:
    """The one writer of a run folder, made by `open_run`."""

    def __init__(self, folder: Path, stream: FileIO, index: sqlite3.Connection):
        self._folder = folder
        self._stream = stream
        self._index = index
        self._played = played(index)
        self._spent = spent(index)
        self._unsynced = 0
        self._end = stream.seek(0, os.SEEK_END)

    @property
    def played(self) -> Mapping[str, Last]:
        """For each trial with a record: how its last one ended."""
        return self._played

    @property
    def spent(self) -> Spent:
        """What the run used so far, over all its starts."""
        return self._spent

    def append(self, lines: Sequence[Line]) -> None:
        """Write records. Raises HostError when the disk takes no more; what was written before stays whole."""
        entries: list[Entry] = []
        end = self._end
        data: list[bytes] = []
        now = time.time()
        for line in lines:
            data += (line.data, b"\n")
            entries.append(Entry.of(line, end, now))
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
            self._played[line.trial_id] = Last(line.ordinal, line.outcome, line.kind)
            if not line.carried:
                self._spent = Spent(self._spent.tokens + line.tokens, self._spent.money + (line.cost or 0.0))
        try:
            add(self._index, entries)
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
        return _cannot_write(self._folder, error)


def _cannot_write(folder: Path, error: Exception) -> HostError:
    return HostError(
        f"cannot write to the run folder {folder}: {error}",
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
        if os.path.lexists(path):
            os.truncate(path, committed_length(path))
            # What goes on stands on what is there: a record that was altered since is no result.
            check_seals(path)
        try:
            index = open_index(folder)
        except (sqlite3.OperationalError, OSError) as error:
            raise _cannot_write(folder, error) from error
        try:
            # Unbuffered: after a failed write nothing may linger that would be written later, behind our back.
            with path.open("ab", buffering=0) as stream:
                writer = RunWriter(folder, stream, index)
                yield writer
                writer.sync()
        finally:
            index.close()


def read_plan(folder: Path) -> Plan:
    """The plan of a run folder. Raises RunFolderError."""
    try:
        return from_json(read_file(folder / PLAN_FILE, limit=_LARGEST_PLAN))
    except Missing as error:
        raise RunFolderError(f"{folder}: not a run folder: it has no {PLAN_FILE}") from error
    except Refusal as error:
        raise RunFolderError(f"not a run folder: {error}") from error
    except Malformed as error:
        raise RunFolderError(f"{folder / PLAN_FILE}: {error}") from error


def find_record(folder: Path, identifier: str, ordinal: int | None = None) -> TrialRecord:
    """The record of a trial, the last one unless `ordinal` says which; `identifier` may be the beginning of an id.

    Raises RunFolderError when there is none or when the beginning fits several trials, RecordsError for a damaged file.
    """
    records_file(folder)
    found = entries_like(folder, identifier)
    names = sorted({entry.trial_id for entry in found})
    if len(names) > 1:
        raise RunFolderError(f"{folder}: `{identifier}` fits {len(names)} trials, such as {names[0]} and {names[1]}")
    wanted = [entry for entry in found if ordinal in (None, entry.ordinal)]
    if not wanted:
        raise RunFolderError(f"{folder}: there is no record of the trial `{identifier}`")
    (record,) = read_records_at(folder, [(wanted[-1].start, wanted[-1].length)])
    return record


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
    if os.path.lexists(path):
        changed = differences(read_plan(folder), plan)
        if changed:
            listed = "\n".join(f"  {sentence}" for sentence in changed)
            raise RunFolderError(
                f"{folder}: holds a run with another plan; choose another folder, and name this one with "
                f"--since to take over what stayed the same.\n{listed}"
            )
        return
    # Hidden files are what a killed writer leaves before there is a plan.
    others = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    if others:
        raise RunFolderError(f"{folder}: holds {others[0]} and no {PLAN_FILE}: name a new folder, or one with a run")
    write_file(path, to_json(plan))
