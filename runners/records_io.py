"""Records as bytes: one canonical JSON object per line of `records.jsonl`, and how to read such a file back.

The newline commits a record. Whatever follows the last newline is the torn tail of a writer that was killed: readers
leave it out, and a writer that goes on cuts it off first (`committed_length`). Any other line that is no record means
the file was damaged, and is refused with its line number rather than skipped: a denominator never shrinks in silence.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from compiler.codec import Malformed, dump, load
from runners.records import TrialRecord
from scenario_dsl.errors import AuthorError

RECORDS_FILE = "records.jsonl"
_BLOCK = 1 << 16


class RecordsError(AuthorError):
    """A run folder without records, or a records file with a line that is not a record."""


def encode(record: TrialRecord) -> bytes:
    """The record as canonical JSON (RFC 8785), without the newline. Same record, same bytes.

    Raises compiler.codec.NotCanonical for what JSON cannot hold (NaN, infinities, beyond 2^53, lone surrogates).
    """
    try:
        return _ENCODER.encode(_plain(record)).encode()
    except (_UnusualNumberError, UnicodeEncodeError):
        return dump(record)


def decode(line: bytes) -> TrialRecord:
    """The record in one line; raises compiler.codec.Malformed when it is none."""
    return load(TrialRecord, line)


def records_file(run: Path) -> Path:
    """The records of a run folder; `run` may also be the file itself. Raises RecordsError when there is none."""
    path = run / RECORDS_FILE if run.is_dir() else run
    if not path.is_file():
        raise RecordsError(f"{run}: not a run folder: it has no {RECORDS_FILE}")
    return path


def read_committed(run: Path) -> Iterator[tuple[TrialRecord, bytes]]:
    """Every committed record of a run folder with the bytes of its line, in the order they were written.

    Retries are included. Reads line by line, so memory does not grow with the run. Raises RecordsError.
    """
    path = records_file(run)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = decode(line)
            except Malformed as error:
                raise RecordsError(f"{path}:{number}: {error}") from error
            yield record, line[:-1]


def read_records(run: Path) -> Iterator[TrialRecord]:
    """`read_committed` without the bytes."""
    return (record for record, _ in read_committed(run))


def committed_length(path: Path) -> int:
    """How many bytes of a records file are committed: up to and with its last newline. 0 if there is no file."""
    if not path.exists():
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


# A run encodes a record for every episode, and the general `dump` would take longer than a short episode does. Python's
# own encoder writes the same bytes as RFC 8785 for ASCII keys and for numbers in the range below; anything else is
# left to `dump`.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_LARGEST = 2**53 - 1
_SMALLEST_FRACTION = 1e-4


class _UnusualNumberError(Exception):
    """A number that Python may write in another form than RFC 8785."""


@lru_cache(maxsize=16)
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is tuple:
        return [_plain(item) for item in value]
    if kind is int:
        if -_LARGEST <= value <= _LARGEST:
            return value
        raise _UnusualNumberError
    if kind is float:
        if value.is_integer() and -_LARGEST <= value <= _LARGEST:
            return int(value)
        if _SMALLEST_FRACTION <= abs(value) <= _LARGEST:
            return value
        raise _UnusualNumberError
    return {name: _plain(getattr(value, name)) for name in _field_names(kind)}
