"""Work on files far larger than memory: what is repeated is counted and packed at once, in the disk's own time."""

from __future__ import annotations

import gzip

import pytest

from runners.sim.commands.gzip_ropes import compress, expand
from runners.sim.files.content import Content, Fill
from runners.sim.files.counting import count, line_counts
from tests.runners.sim.worlds import opened, typed

_ROPE = Content(5_000_009, (b"abc\nx ", Fill(b"one two\nthree ", 5_000_000), b"end"))


def test_counts_are_those_of_the_bytes() -> None:
    data = _ROPE.read()
    assert count(_ROPE) == (data.count(b"\n"), len(data.split()), len(data))
    assert sum(line_counts(_ROPE).values()) == len(data.splitlines())


def test_any_gunzip_reads_what_was_packed() -> None:
    packed = compress(_ROPE, 6)
    assert packed.size < 100_000
    assert gzip.decompress(packed.read()) == _ROPE.read()
    back = expand(packed)
    assert back is not None
    assert back.read() == _ROPE.read()


def test_what_was_cut_off_is_not_expanded_at_once() -> None:
    packed = compress(_ROPE, 6)
    assert expand(packed.resized(packed.size // 2)) is None


_LINE = "2026-03-14 ERROR too much of it"
_LINES = 1_700_000_000 // (len(_LINE) + 1)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("wc -l < {f}", f"{_LINES}\n"),
        ("grep -c ERROR {f}", f"{_LINES}\n"),
        ("grep -vc ERROR {f}", "0\n"),
        ("gzip {f} && ls {f}* && gunzip {f}.gz && stat -c %s {f}", "/opt/big.log.gz\n1700000000\n"),
        ("gzip -c {f} | gunzip -c | head -n 1", f"{_LINE}\n"),
        ("xxd {f} | head -n 1", "00000000: 3230 3236 2d30 332d 3134 2045 5252 4f52  2026-03-14 ERROR\n"),
    ],
)
def test_a_log_of_gigabytes(command: str, expected: str) -> None:
    world = opened()
    world.machine.view().write("/opt/big.log", Content.filled(f"{_LINE}\n".encode(), 1_700_000_000))
    live = world.live
    done = typed(live, command.format(f="/opt/big.log"), seconds=60)
    assert not done.timed_out
    assert done.output.decode() == expected
    assert done.seconds < 60
