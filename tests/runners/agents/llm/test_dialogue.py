"""How much of a conversation a model is shown."""

from __future__ import annotations

from runners.agents.llm.connection import Message
from runners.agents.llm.dialogue import Dialogue

OPENING = ({"role": "system", "content": "s" * 300}, {"role": "user", "content": "u" * 300})


def turn(number: int, length: int = 300) -> tuple[Message, Message]:
    return {"role": "assistant", "content": f"a{number}"}, {"role": "user", "content": f"{number}:" + "o" * length}


def numbers(shown: list[Message]) -> list[str]:
    return [str(message["content"]) for message in shown if message["role"] == "assistant"]


def long_one(budget: int, turns: int = 10) -> Dialogue:
    dialogue = Dialogue(OPENING, budget)
    for number in range(turns):
        dialogue.add(*turn(number))
    return dialogue


def test_all_of_it_where_it_fits() -> None:
    shown = long_one(10_000).shown()
    assert len(shown) == 2 + 20
    assert shown[:2] == list(OPENING)


def test_the_oldest_turns_are_left_out_whole_and_it_says_so() -> None:
    dialogue = long_one(700)
    shown = dialogue.shown()
    assert shown[:2] == list(OPENING)
    assert "left out" in str(shown[2]["content"])
    assert numbers(shown) == ["a6", "a7", "a8", "a9"]
    assert sum(map(dialogue.tokens, shown)) <= 730


def test_the_endpoints_count_is_believed() -> None:
    dialogue = long_one(700)
    before = len(dialogue.shown())
    dialogue.measured(dialogue.shown(), tokens=len("x" * 300))
    assert len(dialogue.shown()) > before
    dialogue.measured(OPENING, tokens=600)
    assert len(dialogue.shown()) < before


def test_a_turn_that_is_too_long_is_cut_in_its_middle() -> None:
    dialogue = Dialogue(OPENING, 1000)
    dialogue.add(*turn(0, length=100_000))
    shown = dialogue.shown()
    content = str(shown[-1]["content"])
    assert content.startswith("0:ooo")
    assert content.endswith("ooo")
    assert "characters …]" in content
    assert sum(map(dialogue.tokens, shown)) < 1100


def test_it_is_halved_until_there_is_nothing_to_leave_out() -> None:
    dialogue = long_one(4000)
    lengths = [len(dialogue.shown())]
    while dialogue.halve():
        lengths.append(len(dialogue.shown()))
    assert lengths == sorted(lengths, reverse=True)
    assert numbers(dialogue.shown()) == ["a8", "a9"]
