"""Records as bytes: one canonical JSON object per line of `records.jsonl`, and how to read such a file back.

The newline commits a record. Whatever follows the last newline is the torn tail of a writer that was killed: readers
leave it out, and a writer that goes on cuts it off first (`committed_length`). Any other line that is no record means
the file was damaged, and is refused with its line number rather than skipped: a denominator never shrinks in silence.

A line is sealed: its first key, `_sha256`, is the digest of the line without it. So a record that a disk or a hand
altered is refused too, even where it still reads like one. (A seal is no signature: who alters a record on purpose can
seal it anew. What others are to believe is signed; see reports.)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from compiler.codec import Malformed, dump, load
from runners.records import ErrorKind, Outcome, TrialRecord
from scenario_dsl.errors import AuthorError

RECORDS_FILE = "records.jsonl"
_BLOCK = 1 << 16
_SEAL, _SEALED = b'{"_sha256":"', b'",'
_SEAL_LENGTH = len(_SEAL) + 64 + len(_SEALED)


class RecordsError(AuthorError):
    """A run folder without records, or a records file with a line that is not a record."""


class Line(NamedTuple):
    """One record as it is written, and what a run has to know of it. Made where it was played.

    `kind` is the kind of its error, if it has one; `tokens` are those read and written; `carried`: taken over from an
    earlier run. A tuple, like a job: thousands of them travel between processes, and dataclasses with slots are slow
    to pickle.
    """

    trial_id: str
    ordinal: int
    outcome: Outcome
    data: bytes
    agent: str
    pack: str
    kind: ErrorKind | None = None
    tokens: int = 0
    cost: float | None = 0.0
    carried: bool = False

    @classmethod
    def of(cls, record: TrialRecord) -> Line:
        return cls(
            record.trial_id,
            record.ordinal,
            record.outcome,
            seal(encode(record)),
            record.trial.agent.label,
            record.trial.pack,
            record.error_kind,
            record.tokens_in + record.tokens_out,
            record.cost,
            bool(record.origin),
        )


def encode(record: TrialRecord) -> bytes:
    """The record as canonical JSON (RFC 8785), without the newline. Same record, same bytes.

    Raises compiler.codec.NotCanonical for what JSON cannot hold (NaN, infinities, beyond 2^53, lone surrogates).
    """
    return dump(record)


def seal(data: bytes) -> bytes:
    """The record's bytes with their digest as a first key; still canonical JSON, for no other key sorts before it."""
    return b"".join((_SEAL, hashlib.sha256(data).hexdigest().encode(), _SEALED, data[1:]))


def unseal(line: bytes) -> bytes:
    """The record's bytes in a line. Raises compiler.codec.Malformed where it has no seal or is not as it was sealed."""
    data = b"{" + line[_SEAL_LENGTH:]
    if line[:_SEAL_LENGTH] != _SEAL + hashlib.sha256(data).hexdigest().encode() + _SEALED:
        raise Malformed(TrialRecord.__name__, "_sha256", "its bytes are not those that were written")
    return data


def decode(line: bytes) -> TrialRecord:
    """The record in one line; raises compiler.codec.Malformed when it is none, or is not as it was sealed."""
    return load(TrialRecord, unseal(line))


def records_file(run: Path) -> Path:
    """The records of a run folder; `run` may also be the file itself. Raises RecordsError when there is none, or
    something that is no plain file in its place."""
    path = run / RECORDS_FILE if run.is_dir() else run
    if not _is_there(path):
        raise RecordsError(f"{run}: not a run folder: it has no {RECORDS_FILE}")
    return path


def _is_there(path: Path) -> bool:
    """Raises RecordsError where it is something that could be read without end, or that is not what was written."""
    if not os.path.lexists(path):
        return False
    if path.is_symlink() or not path.is_file():
        raise RecordsError(f"{path}: is no plain file")
    return True


def read_committed(run: Path) -> Iterator[tuple[TrialRecord, bytes]]:
    """Every committed record of a run folder with the bytes of its line, in the order they were written.

    Retries are included. Reads line by line, so memory does not grow with the run. Raises RecordsError.
    """
    path = records_file(run)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            data = line[:-1]
            try:
                record = decode(data)
            except Malformed as error:
                raise RecordsError(f"{path}:{number}: {error}") from error
            yield record, data


def check_seals(path: Path) -> None:
    """Hold every committed line of a records file against its seal, without decoding it. Raises RecordsError."""
    if not _is_there(path):
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                try:
                    unseal(line[:-1])
                except Malformed as error:
                    raise RecordsError(f"{path}:{number}: {error}") from error


def read_records(run: Path) -> Iterator[TrialRecord]:
    """`read_committed` without the bytes."""
    return (record for record, _ in read_committed(run))


def read_records_at(run: Path, places: Iterable[tuple[int, int]]) -> Iterator[TrialRecord]:
    """The records whose lines have these starts and lengths in bytes. Raises RecordsError."""
    path = records_file(run)
    with path.open("rb") as stream:
        for start, length in places:
            stream.seek(start)
            try:
                yield decode(stream.read(length))
            except Malformed as error:
                raise RecordsError(f"{path}: at byte {start}: {error}") from error


def committed_length(path: Path) -> int:
    """How many bytes of a records file are committed: up to and with its last newline. 0 if there is no file.

    Raises RecordsError for what is no plain file.
    """
    if not _is_there(path):
        return 0
    with path.open("rb") as stream:
        position = stream.seek(0, 2)
        while position > 0:
            start = max(0, position - _BLOCK)
            stream.seek(start)
            found = stream.read(position - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            position = start
    return 0
