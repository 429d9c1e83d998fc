"""Places for machines: a world of several waits for all of them at once, and gives them back together."""

from __future__ import annotations

import threading

import pytest

from runners.hosts.places import Places
from runners.turns import Shut


def test_several_are_taken_at_once_or_not_at_all() -> None:
    places, done = Places(4), threading.Event()
    places.take(2)

    def whole() -> None:
        with places.taken(9):
            done.set()

    waiting = threading.Thread(target=whole)
    waiting.start()
    assert not done.wait(0.05)
    places.take(1)
    places.give(1)
    assert not done.wait(0.05)
    places.give(2)
    assert done.wait(5)
    waiting.join(5)
    places.take(4)
    places.give(4)


def test_nobody_waits_for_a_place_once_they_are_shut() -> None:
    places, sent_away = Places(2), threading.Event()
    places.take(2)

    def wait() -> None:
        with pytest.raises(Shut):
            places.take(1)
        sent_away.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not sent_away.wait(0.05)
    places.shut()
    assert sent_away.wait(5)
    waiting.join(5)
    with pytest.raises(Shut):
        places.take(1)
