from __future__ import annotations

import pytest

from runners.sim.files.content import EMPTY, READABLE, Content


def test_appended_pieces_read_as_one() -> None:
    content = EMPTY
    for number in range(500):
        content = content.append(f"line {number}\n".encode())
    whole = b"".join(f"line {number}\n".encode() for number in range(500))
    assert content.read() == whole
    assert content.read(100, 200) == whole[100:200]
    assert b"".join(content.chunks(7)) == whole
    assert len(content.pieces) < 200


def test_a_long_piece_is_shared_and_not_copied_when_lines_are_added() -> None:
    long = b"x" * 100_000
    content = Content.of(long)
    for _ in range(300):
        content = content.append(b"more\n")
    assert content.pieces[0] is long


def test_a_fill_is_read_at_any_offset() -> None:
    content = Content.filled(b"abc", 1000)
    assert content.read(997) == b"bca"[0:0] + (b"abc" * 334)[997:1000]
    assert content.read(4, 10) == (b"abc" * 10)[4:10]


def test_a_huge_file_costs_nothing_and_cannot_be_read_whole() -> None:
    content = Content.filled(b"\0", 8 << 30)
    assert content.size == 8 << 30
    with pytest.raises(OSError, match="Cannot allocate memory"):
        content.read(0, READABLE + 1)


@pytest.mark.parametrize(("size", "expected"), [(3, b"abc"), (8, b"abcdef\0\0"), (6, b"abcdef"), (0, b"")])
def test_resizing_cuts_or_adds_zeros(size: int, expected: bytes) -> None:
    assert Content.of(b"abc").append(b"def").resized(size).read() == expected


def test_equal_bytes_in_different_pieces_share_a_digest() -> None:
    assert Content.of(b"abcdef").digest() == Content.of(b"abc").append(b"def").digest()
    assert Content.of(b"abcdef").digest() != Content.of(b"abcdeg").digest()
