"""Many episodes at once: who plays, whose world waits warm, and that none is left open on any way out."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from compiler.model import PackContent
from runners import turns
from runners.crowding import each
from runners.pool.local import LocalExecutor
from runners.run import Progress, Report, Summary, run
from runners.turns import Shut, Turns
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.test_run import AGENTS, BUNDLE, final, planned
from tests.runners.toy import ToyBackend, ToyWorld


@dataclass
class Place:
    """A world that knows whether it is open."""

    number: int
    open: bool = True

    def close(self) -> None:
        assert self.open
        self.open = False


@dataclass
class Places:
    """Makes places, and keeps them."""

    made: list[Place] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> Place:
        with self.lock:
            self.made.append(Place(len(self.made)))
            return self.made[-1]

    @property
    def open(self) -> int:
        return sum(place.open for place in self.made)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def player(taking: Turns, places: Places, go: threading.Event, played: list[int]) -> threading.Thread:
    def play() -> None:
        try:
            with taking.take(places) as place:
                played.append(place.number)
                go.wait(10)
                place.close()
        except Shut:
            played.append(-1)

    thread = threading.Thread(target=play)
    thread.start()
    return thread


def test_so_many_play_and_the_next_ones_are_prepared() -> None:
    taking, places, go = Turns(2, 1), Places(), threading.Event()
    played: list[int] = []
    threads = [player(taking, places, go, played) for _ in range(6)]
    until(lambda: len(places.made) == 3)
    time.sleep(0.05)
    assert (len(played), places.open) == (2, 3)
    go.set()
    for thread in threads:
        thread.join(10)
    assert sorted(played) == [0, 1, 2, 3, 4, 5]
    assert places.open == 0


def test_a_warm_world_is_given_up_where_the_run_ends() -> None:
    taking, places, go = Turns(1, 1), Places(), threading.Event()
    played: list[int] = []
    first = player(taking, places, go, played)
    until(lambda: played == [0])
    others = [player(taking, places, go, played) for _ in range(2)]
    until(lambda: len(places.made) == 2)
    taking.shut()
    for thread in others:
        thread.join(10)
    assert played == [0, -1, -1]
    assert places.open == 1
    go.set()
    first.join(10)
    assert places.open == 0
    with pytest.raises(Shut), taking.take(places):
        pass
    taking.open()
    with taking.take(places) as place:
        place.close()


def test_a_warm_world_that_waited_for_too_long_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_FRESH_SECONDS", 0.0)
    taking, places, go = Turns(1, 1), Places(), threading.Event()
    played: list[int] = []
    first = player(taking, places, go, played)
    until(lambda: played == [0])
    second = player(taking, places, go, played)
    until(lambda: len(places.made) == 2)
    go.set()
    first.join(10)
    second.join(10)
    assert played == [0, 2]
    assert places.open == 0


def test_who_cannot_prepare_takes_no_turn_away() -> None:
    taking, places = Turns(1, 1), Places()

    def broken() -> Place:
        raise OSError("no room")

    for _ in range(3):
        with pytest.raises(OSError, match="no room"), taking.take(broken):
            pass
    with taking.take(places) as place:
        place.close()


class Crowd(ToyBackend):
    """Toy worlds as if they waited; `most`: that were open at once."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once, self.turns, self.abandoned = 6, Turns(4, 2), 0
        self.lock, self.living, self.most = threading.Lock(), 0, 0

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        live = super().open(content, scenario, world, seed=seed)
        close = live.close
        with self.lock:
            self.living += 1
            self.most = max(self.most, self.living)

        def closing() -> None:
            with self.lock:
                self.living -= 1
            close()

        live.close = closing  # type: ignore[method-assign]
        time.sleep(0.005)
        return live

    def abandon(self) -> None:
        self.abandoned += 1


def play(folder: Path, backend: ToyBackend, progress: Report | None = None) -> Summary:
    made = planned(attempts=3)
    return run(made, (BUNDLE,), AGENTS, (backend,), folder, executor=LocalExecutor(), progress=progress)


def test_a_run_of_many_at_once_has_the_records_of_one_after_the_other(tmp_path: Path) -> None:
    crowd = Crowd()
    play(tmp_path / "crowd", crowd)
    play(tmp_path / "one", ToyBackend())
    assert final(tmp_path / "crowd") == final(tmp_path / "one")
    assert crowd.most > 4
    assert crowd.living == 0


def test_a_run_that_is_stopped_leaves_no_world_and_goes_on_later(tmp_path: Path) -> None:
    crowd = Crowd()

    def stop_soon(told: Progress) -> None:
        if told.lines and told.done == len(told.lines):
            os.kill(os.getpid(), signal.SIGINT)

    stopped = play(tmp_path, crowd, stop_soon)
    assert stopped.interrupted
    assert 0 < stopped.done < stopped.planned
    assert crowd.living == 0
    assert play(tmp_path, crowd).done == stopped.planned
    assert crowd.living == 0


def test_a_second_ctrl_c_abandons_what_is_still_open(tmp_path: Path) -> None:
    crowd = Crowd()

    def interrupt(told: Progress) -> None:
        if told.lines:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, crowd, interrupt)
    assert crowd.abandoned == 1


def test_ctrl_c_while_many_are_at_work_abandons_their_worlds_before_it_waits_for_them() -> None:
    crowd, ended = Crowd(), threading.Event()

    def work(number: int) -> None:
        if number:
            until(lambda: crowd.abandoned == 1)
            ended.set()
        else:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        each(crowd, work, range(3))
    assert ended.is_set()
