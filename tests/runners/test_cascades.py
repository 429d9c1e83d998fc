"""When cascades are due."""

from __future__ import annotations

from dataclasses import replace

from runners.cascades import CascadeClock
from scenario_dsl.model import Delay
from scenario_dsl.worlds import World
from tests.runners.cases import cascading


def clock(delay: Delay, *, repeat: bool = False) -> CascadeClock:
    world: World = cascading(delay).worlds[0]
    return CascadeClock(replace(world, cascades=(replace(world.cascades[0], repeat=repeat),)))


def names(cascades: CascadeClock, holds: bool, command: int, seconds: float) -> list[str]:
    wanted = [holds] * len(cascades.conditions())
    return [cascade.name for cascade in cascades.due(wanted, command, seconds)]


def test_without_a_delay_it_fires_at_once_and_only_once() -> None:
    cascades = clock(Delay())
    assert names(cascades, False, 0, 0.0) == []
    assert names(cascades, True, 1, 1.0) == ["flood"]
    assert cascades.conditions() == ()
    assert names(cascades, True, 2, 2.0) == []


def test_commands_are_counted_from_when_the_condition_began() -> None:
    cascades = clock(Delay(commands=2))
    assert [names(cascades, True, command, 0.0) for command in (3, 4, 5)] == [[], [], ["flood"]]


def test_both_delays_have_to_pass() -> None:
    cascades = clock(Delay(commands=1, seconds=10.0))
    assert names(cascades, True, 0, 0.0) == []
    assert names(cascades, True, 5, 9.9) == []
    assert names(cascades, True, 5, 10.0) == ["flood"]


def test_a_condition_that_ends_starts_over() -> None:
    cascades = clock(Delay(commands=2))
    assert names(cascades, True, 1, 0.0) == []
    assert names(cascades, False, 2, 0.0) == []
    assert names(cascades, True, 3, 0.0) == []
    assert names(cascades, True, 4, 0.0) == []
    assert names(cascades, True, 5, 0.0) == ["flood"]


def test_a_repeating_one_needs_its_condition_to_come_anew() -> None:
    cascades = clock(Delay(), repeat=True)
    assert [names(cascades, holds, 0, 0.0) for holds in (True, True, False, True)] == [["flood"], [], [], ["flood"]]
