"""Records as lines: they come back as they went in, a torn tail is left out, damage is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from compiler.codec import Malformed
from runners.records import AgentIdentity, GateFact, ObjectiveResult, Trial, TrialRecord, Turn
from runners.records_io import (
    RECORDS_FILE,
    Line,
    RecordsError,
    committed_length,
    decode,
    encode,
    read_committed,
    read_records,
    seal,
)

RECORD = TrialRecord(
    trial_id="a1",
    trial=Trial(
        pack="starter", pack_version="1.0.0", bundle_digest="0" * 64, proven=True, scenario="s", difficulty="easy",
        kind="repair", split="train", world="primary", role="primary", full_score=1.0,
        required_worlds=(("primary", "primary"), ("t", "twin")), backend="sim", seed=1, attempt=0,
        agent=AgentIdentity(name="llm", configuration="x=1", trusted=False),
        max_commands=10, max_seconds=60.0, output_bytes=1024,
    ),
    ordinal=0,
    outcome="Passed",
    score=0.5,
    commands=1,
    seconds=2.5,
    objectives=(ObjectiveResult(name="o", points=0.5, met=True, armed=True, met_at_command=1, met_at_seconds=2.0),),
    turns=(Turn(kind="run", text="ls\n\x00é", output="\x1b[31mred\u202e", exit_code=0, cascades=("flood",)),),
    facts=(GateFact(check="primary", world="primary", means="policy", finding="pass", reason="met"),),
    cost=0.25,
)  # fmt: skip


def write(folder: Path, data: bytes) -> Path:
    (folder / RECORDS_FILE).write_bytes(data)
    return folder


def test_a_record_comes_back_as_it_went_in() -> None:
    line = seal(encode(RECORD))
    assert b"\n" not in line
    assert decode(line) == RECORD
    assert seal(encode(decode(line))) == line


def test_a_written_line_is_sealed_canonical_json() -> None:
    line = Line.of(RECORD).data
    assert line == seal(encode(RECORD))
    assert decode(line) == RECORD
    assert rfc8785.dumps(json.loads(line)) == line


@given(st.integers(0, len(seal(encode(RECORD))) - 1), st.integers(1, 255))
def test_no_altered_byte_is_believed(place: int, flip: int) -> None:
    line = bytearray(seal(encode(RECORD)))
    line[place] ^= flip
    with pytest.raises(Malformed):
        decode(bytes(line))


def test_damage_of_equal_length_is_refused_with_its_line(tmp_path: Path) -> None:
    line = Line.of(RECORD).data
    run = write(tmp_path, line + b"\n" + line.replace(b'"score":0.5', b'"score":0.9') + b"\n")
    with pytest.raises(RecordsError, match=r"records\.jsonl:2: .*not those that were written"):
        list(read_records(run))


@pytest.mark.parametrize(
    ("known", "unknown"), [('"primary"', '"bystander"'), ('"easy"', '"simple"'), ('"repair"', '"x"'), ('"train"', '""')]
)
def test_a_word_that_no_record_knows_is_refused(known: str, unknown: str) -> None:
    line = seal(encode(RECORD).decode().replace(known, unknown).encode())
    with pytest.raises(Malformed):
        decode(line)


def test_a_line_without_its_seal_is_refused() -> None:
    with pytest.raises(Malformed, match="not those that were written"):
        decode(encode(RECORD))


def test_records_are_read_in_order_with_their_bytes(tmp_path: Path) -> None:
    line = seal(encode(RECORD))
    run = write(tmp_path, line + b"\n" + line + b"\n")
    assert list(read_committed(run)) == [(RECORD, line), (RECORD, line)]
    assert list(read_records(run / RECORDS_FILE)) == [RECORD, RECORD]


@pytest.mark.parametrize("cut", [1, 200, -1])
def test_a_torn_tail_is_left_out_and_can_be_cut_off(tmp_path: Path, cut: int) -> None:
    line = seal(encode(RECORD))
    run = write(tmp_path, line + b"\n" + line[:cut])
    assert list(read_records(run)) == [RECORD]
    assert committed_length(run / RECORDS_FILE) == len(line) + 1


def test_a_whole_record_without_its_newline_is_not_committed(tmp_path: Path) -> None:
    run = write(tmp_path, seal(encode(RECORD)))
    assert list(read_records(run)) == []
    assert committed_length(run / RECORDS_FILE) == 0


def test_the_committed_length_is_found_behind_a_long_tail(tmp_path: Path) -> None:
    run = write(tmp_path, b"x\n" + b"y" * 200_000)
    assert committed_length(run / RECORDS_FILE) == 2
    assert committed_length(tmp_path / "absent") == 0


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"[1]", b"null", seal(encode(RECORD))[:-3]])
def test_damage_before_the_tail_is_refused_with_its_line(tmp_path: Path, damage: bytes) -> None:
    line = seal(encode(RECORD))
    run = write(tmp_path, line + b"\n" + damage + b"\n" + line + b"\n")
    with pytest.raises(RecordsError, match=r"records\.jsonl:2: .*TrialRecord") as caught:
        list(read_records(run))
    assert caught.value.exit_code == 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("made", ["folder", "link"])
def test_what_is_no_plain_file_is_not_read(tmp_path: Path, made: str) -> None:
    """A link to an endless device would be read to the end of memory."""
    place = tmp_path / RECORDS_FILE
    place.mkdir() if made == "folder" else place.symlink_to("/dev/zero")
    for read in (lambda: list(read_records(tmp_path)), lambda: committed_length(place)):
        with pytest.raises(RecordsError, match=r"records\.jsonl: is no plain file"):
            read()


def test_a_folder_without_records_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match=r"not a run folder: it has no records\.jsonl"):
        list(read_records(tmp_path))
    with pytest.raises(RecordsError, match="not a run folder"):
        list(read_records(tmp_path / "absent"))
