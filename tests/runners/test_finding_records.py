"""One record out of a run folder, whatever its index knows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from runners import record_index, records_io
from runners.record_index import INDEX_FILE
from runners.records_io import RECORDS_FILE, RecordsError, decode, read_records
from runners.store import (
    RunFolderError,
    find_record,
)
from tests.runners.test_run import planned, start


def test_a_record_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    start(tmp_path)
    record = next(read_records(tmp_path))
    assert find_record(tmp_path, record.trial_id[:20]) == record
    assert find_record(tmp_path, record.trial_id, record.ordinal) == record
    with pytest.raises(RunFolderError, match="fits"):
        find_record(tmp_path, "")
    with pytest.raises(RunFolderError, match="no record of the trial `zz`"):
        find_record(tmp_path, "zz")


@pytest.mark.parametrize("state", ["missing", "behind", "ahead", "damaged", "of another version"])
def test_a_record_is_found_whatever_the_index_knows(tmp_path: Path, state: str) -> None:
    start(tmp_path)
    path, index = tmp_path / RECORDS_FILE, tmp_path / INDEX_FILE
    *_, last = read_records(tmp_path)
    connection = sqlite3.connect(index)
    with connection:
        if state == "behind":
            connection.execute("DELETE FROM trials WHERE start = (SELECT max(start) FROM trials)")
        elif state == "of another version":
            connection.execute("PRAGMA user_version=1")
            connection.execute("UPDATE trials SET start = 0")
    connection.close()
    if state == "missing":
        index.unlink()
    elif state == "damaged":
        index.write_bytes(b"no database at all")
    elif state == "ahead":
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(lines[-1] + b"".join(lines[:-2]))
    with path.open("ab") as records:
        records.write(b'{"torn')
    assert find_record(tmp_path, last.trial_id) == last
    assert start(tmp_path).done == planned().size


def test_a_damaged_record_is_not_gone_on_from(tmp_path: Path) -> None:
    start(tmp_path)
    path = tmp_path / RECORDS_FILE
    path.write_bytes(path.read_bytes().replace(b'"commands":', b'"commandz":', 1))
    with pytest.raises(RecordsError, match=r"records\.jsonl:1: .*not those that were written"):
        start(tmp_path)


def test_finding_a_record_reads_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path)
    *_, last = read_records(tmp_path)
    read: list[int] = []
    monkeypatch.setattr(records_io, "decode", lambda line: read.append(len(line)) or decode(line))
    monkeypatch.setattr(record_index, "decode", lambda _line: pytest.fail("another record was read"))
    assert find_record(tmp_path, last.trial_id[:16]) == last
    assert len(read) == 1
