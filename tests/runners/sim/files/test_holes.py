"""What was never written takes no room, until it is."""

from __future__ import annotations

from runners.sim.files.content import Content


def test_growing_makes_a_hole_and_shrinking_takes_it_first() -> None:
    content = Content.of(b"abc").resized(1000)
    assert (content.size, content.hole) == (1000, 997)
    assert content.append(b"xy").hole == 997
    assert content.resized(500).hole == 497
    assert content.resized(2).hole == 0
    assert content.concat(Content.of(b"tail").resized(10)).hole == 1003


def test_what_is_written_is_no_hole() -> None:
    assert Content.filled(b"\0", 4096).hole == 0
    assert Content.of(b"abc").concat(Content.filled(b"\0", 10)).hole == 0
