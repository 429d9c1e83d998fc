"""The index of a run's records: which trial's record lies where in `records.jsonl`. It can be rebuilt at any time.

Table `trials`: trial_id, ordinal, outcome, the record's line by start and length in bytes (without its newline), and
what a run is watched by: agent, pack, kind of error, tokens, cost (NULL where unknown), whether it was carried over
from an earlier run, and the time at which it was written (seconds since 1970; 0 once the index was made anew).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from compiler.codec import Malformed
from runners.records import ErrorKind
from runners.records_io import RECORDS_FILE, Line, RecordsError, committed_length, decode

INDEX_FILE = "index.sqlite"
_VERSION = 3
_SCHEMA = """
CREATE TABLE trials (
  trial_id TEXT NOT NULL, ordinal INTEGER NOT NULL, outcome TEXT NOT NULL, start INTEGER NOT NULL,
  length INTEGER NOT NULL, agent TEXT NOT NULL, pack TEXT NOT NULL, kind TEXT, tokens INTEGER NOT NULL, cost REAL,
  carried INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (trial_id, ordinal)
) WITHOUT ROWID
"""
_INSERT = "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_END = "SELECT coalesce(max(start + length + 1), 0) FROM trials"


class Entry(NamedTuple):
    """One record: whose it is, how it ended, where its line is, and what it is counted as. A row of the table."""

    trial_id: str
    ordinal: int
    outcome: str
    start: int
    length: int
    agent: str
    pack: str
    kind: str | None
    tokens: int
    cost: float | None
    carried: bool
    at: float

    @classmethod
    def of(cls, line: Line, start: int, at: float = 0.0) -> Entry:
        """The entry of a line that is, or will be, written from that byte on."""
        place = (line.trial_id, line.ordinal, line.outcome, start, len(line.data))
        return cls(*place, line.agent, line.pack, line.kind, line.tokens, line.cost, line.carried, at)


class Last(NamedTuple):
    """How the last record of a trial ended. `kind`: whose trouble it was, where it is Errored."""

    ordinal: int
    outcome: str
    kind: ErrorKind | None


class Spent(NamedTuple):
    """What a run used, retried records included, carried ones not. `money` leaves out what is unknown."""

    tokens: int
    money: float


def open_index(folder: Path) -> sqlite3.Connection:
    """The index, brought up to the records: it may be missing, behind (a kill), ahead (a power cut) or an older one's.

    For the one writer of the folder. Raises RecordsError for a line that is no record, sqlite3.OperationalError or
    OSError where the disk refuses (full, locked): only an index that is damaged is made anew.
    """
    path = folder / INDEX_FILE
    try:
        index = _connect(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        path.unlink()
        index = _connect(path)
    length = committed_length(folder / RECORDS_FILE)
    indexed = index.execute(_END).fetchone()[0]
    if indexed != length:
        with index:
            if indexed > length:
                index.execute("DELETE FROM trials")
                indexed = 0
            index.executemany(_INSERT, _entries_from(folder / RECORDS_FILE, indexed))
    return index


def add(index: sqlite3.Connection, entries: list[Entry]) -> None:
    """Note records that were just written."""
    with index:
        index.executemany(_INSERT, entries)


def played(index: sqlite3.Connection) -> dict[str, Last]:
    """For each trial with a record: how the one with the highest ordinal ended."""
    rows = index.execute("SELECT trial_id, ordinal, outcome, kind FROM trials ORDER BY ordinal")
    return {identifier: Last(ordinal, outcome, kind) for identifier, ordinal, outcome, kind in rows}


def spent(index: sqlite3.Connection) -> Spent:
    """What all records together used."""
    query = "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0.0) FROM trials WHERE NOT carried"
    return Spent(*index.execute(query).fetchone())


def entries_like(folder: Path, beginning: str) -> tuple[Entry, ...]:
    """The committed records of trials whose id begins so, in the order of ids and ordinals.

    For readers, also while a run goes on: what the index does not know yet is read from the records themselves.
    Raises RecordsError.
    """
    known, end = _known(folder, beginning)
    if end > committed_length(folder / RECORDS_FILE):
        known, end = (), 0
    rest = (entry for entry in _entries_from(folder / RECORDS_FILE, end) if entry.trial_id.startswith(beginning))
    return tuple(sorted((*known, *rest)))


def _known(folder: Path, beginning: str) -> tuple[tuple[Entry, ...], int]:
    """The fitting entries of the index, and up to which byte it knows the records; nothing where it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{(folder / INDEX_FILE).absolute().as_uri()}?mode=rw", uri=True)) as index:
            if not _is_current(index):
                return (), 0
            # One transaction, so that both answers are about the same moment.
            index.execute("BEGIN")
            rows = index.execute("SELECT * FROM trials WHERE substr(trial_id, 1, ?) = ?", (len(beginning), beginning))
            return tuple(Entry(*row) for row in rows), index.execute(_END).fetchone()[0]
    except sqlite3.Error:
        return (), 0


def _connect(path: Path) -> sqlite3.Connection:
    index = sqlite3.connect(path)
    index.execute("PRAGMA journal_mode=WAL")
    # It can be rebuilt, so it need not be synced with every batch.
    index.execute("PRAGMA synchronous=OFF")
    if not _is_current(index):
        with index:
            index.execute("DROP TABLE IF EXISTS trials")
            index.execute(_SCHEMA)
            index.execute(f"PRAGMA user_version={_VERSION}")
    return index


def _is_current(index: sqlite3.Connection) -> bool:
    if index.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        return False
    table = index.execute("SELECT sql FROM sqlite_schema WHERE name = 'trials'").fetchone()
    return table is not None and table[0].strip() == _SCHEMA.strip()


def _entries_from(path: Path, start: int) -> Iterator[Entry]:
    """The entries of the committed lines from that byte on."""
    with path.open("rb") as lines:
        lines.seek(start)
        position = start
        for data in lines:
            if not data.endswith(b"\n"):
                return
            try:
                record = decode(data[:-1])
            except Malformed as error:
                raise RecordsError(f"{path}: at byte {position}: {error}") from error
            yield Entry.of(Line.of(record), position)
            position += len(data)
