"""Points: what earns them, what takes them away, and what merely looks as if."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runners.objectives import Scoreboard, essential, fits, missing, saw
from runners.worlds import Observation
from scenario_dsl.model import Answer, Objective, Probe, Seen
from tests.runners.cases import cascading, investigation, repair, unit

YES, NO = Observation(holds=True, detail=""), Observation(holds=False, detail="")


def test_a_probe_objective_is_lost_with_its_state() -> None:
    board = Scoreboard(repair().worlds[0])
    board.update((NO, YES), 3, 1.5)
    assert board.score == 0.5
    result = board.results()[2]
    assert (result.met, result.met_at_command, result.met_at_seconds) == (True, 3, 1.5)
    board.update((NO, NO), 4, 2.0)
    assert board.score == 0.0
    assert board.results()[2].met_at_command is None


def test_the_time_of_an_objective_is_that_of_its_last_rise() -> None:
    board = Scoreboard(repair().worlds[0])
    for number, observation in enumerate((YES, YES, NO, YES), start=1):
        board.update((observation, NO), number, float(number))
    assert board.results()[1].met_at_command == 4


def test_nothing_counts_before_it_is_armed() -> None:
    board = Scoreboard(cascading().worlds[0])
    assert len(board.probes()) == 2
    board.arm("flood")
    assert len(board.probes()) == 3
    board.update((NO, NO, YES), 1, 1.0)
    assert board.score == 0.3


def test_looking_is_kept_once_earned() -> None:
    board = Scoreboard(repair().worlds[0])
    assert board.looked("failed", "app\n", 1, 0.1)
    assert not board.looked("failed", "app\n", 2, 0.2)
    assert board.score == 0.2


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("systemctl --failed", "app.service failed", True),
        ("systemctl --failed", "nothing", False),
        ("ls", "app.service failed", False),
        ("echo failed # systemctl", "failed", False),
        ("systemctl is-active app", "failed", True),
        ("grep failed log # systemctl", "x\nUnit failed here\n", True),
        ("echo failed; systemctl --failed", "failed\napp failed at last", True),
    ],
)
def test_typing_a_word_is_not_seeing_it(command: str, output: str, expected: bool) -> None:
    assert saw(Seen(output="failed", command="systemctl"), command, output) is expected


def test_answers_fold_white_space_and_match_patterns() -> None:
    assert fits(Answer(question="?", equals="10:15  UTC"), " 10:15 UTC\n")
    assert not fits(Answer(question="?", equals="10:15"), "10:15 or 10:16")
    assert fits(Answer(question="?", matches=r"\b10:15\b"), "at 10:15, I think")
    assert not fits(Answer(question="?", matches=r"\b10:15\b"), "110:15")


def test_only_as_many_answers_stand_as_there_are_questions() -> None:
    board = Scoreboard(investigation().worlds[0])
    board.answered("10:15", 1, 1.0)
    assert board.score == 0.99
    board.answered("10:16", 1, 2.0)
    assert board.score == 0.0
    assert board.answers == ("10:16",)


def test_an_endless_answer_is_read_in_part_only() -> None:
    world = investigation().worlds[0]
    asked = replace(world.objectives[0], check=Answer(question="When?", matches="10:15"))
    board = Scoreboard(replace(world, objectives=(asked,)))
    board.answered(" ".join(f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)), 1, 1.0)
    assert board.score == 0.0


def test_keep_takes_back_what_did_not_hold() -> None:
    board = Scoreboard(repair().worlds[0])
    board.update((YES, YES), 1, 1.0)
    board.keep(frozenset({"configured"}))
    assert board.met() == frozenset({"configured"})
    assert board.score == 0.3


def test_what_is_essential_depends_on_the_kind() -> None:
    look = Objective(name="look", points=0.1, check=Seen(output="x"))
    state = Objective(name="state", points=0.2, check=unit("app"))
    answer = Objective(name="answer", points=0.3, check=Answer(question="?", equals="x"))
    assert essential("repair", (look, state, answer)) == (state,)
    assert essential("investigation", (look, state, answer)) == (state, answer)
    assert essential("repair", (look,)) == (look,)


def test_an_unarmed_objective_had_nothing_to_repair() -> None:
    world = cascading().worlds[0]
    board = Scoreboard(world)
    board.update((YES, YES), 1, 1.0)
    assert missing("repair", world, board.results()) == ()
    board.arm("flood")
    board.update((YES, YES, NO), 2, 2.0)
    assert [one.name for one in missing("repair", world, board.results())] == ["emptied"]


def test_what_is_not_met_says_what_was_seen_when_it_did_not_hold_last() -> None:
    board = Scoreboard(cascading().worlds[0])
    board.update((NO, Observation(holds=False, detail="app is inactive")), 1, 1.0)
    board.update((YES, YES), 2, 2.0)
    board.update((NO, YES), 3, 3.0)
    assert [one.detail for one in board.results() if one.met] == [""]
    board.keep(frozenset())
    assert "app is inactive" in [one.detail for one in board.results()]


def test_pending_means_that_time_could_help() -> None:
    board = Scoreboard(repair().worlds[0])
    assert board.pending()
    board.update((YES, YES), 1, 1.0)
    assert not board.pending()
    assert isinstance(board.probes()[0], Probe)
