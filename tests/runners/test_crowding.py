"""What several threads want is made by one of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from runners.crowding import Once


def test_it_is_made_once_whoever_comes() -> None:
    made: list[int] = []
    meeting = threading.Barrier(4)

    def make() -> int:
        made.append(1)
        return len(made)

    once = Once(make)

    def come() -> int:
        meeting.wait(10)
        return once()

    with ThreadPoolExecutor(4) as pool:
        assert [one.result() for one in [pool.submit(come) for _ in range(4)]] == [1, 1, 1, 1]
    assert made == [1]


def test_what_could_not_be_made_is_tried_anew() -> None:
    attempts: list[int] = []

    def make() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("not yet")
        return "made"

    once = Once(make)
    with pytest.raises(OSError, match="not yet"):
        once()
    assert once() == once() == "made"
    assert len(attempts) == 2
