"""Patterns mean the same wherever they meet a text: whole or line by line, in a probe, an answer or an output."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.objectives import fits, saw
from runners.patterns import found, lines_with, passages
from scenario_dsl.model import Answer, Seen

PATTERNS = ("a", "^a", "b$", r"a\sb", r"a\s*b", "^$", r"\bab\b", "a.*b", "", r"é.", "(a|b)+é")


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("ab é\n", max_size=30))
def test_lines_with_a_pattern_are_those_that_have_it(pattern: str, text: str) -> None:
    alone = [line for line in text.split("\n") if found(pattern, line)]
    assert [line.decode() for line in lines_with(pattern, text.encode())] == alone


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("ab é\n", max_size=30))
def test_passages_are_whole_lines_and_hold_each_line_that_has_the_pattern(pattern: str, text: str) -> None:
    taken = list(passages(pattern, text))
    assert all(found(pattern, passage) for passage in taken)
    lines = [line for passage in taken for line in passage.split("\n")]
    assert all(line in lines for line in text.split("\n") if found(pattern, line))


def test_a_line_begins_alike_for_a_probe_of_a_log_and_for_what_was_seen() -> None:
    pattern, log = "^FAIL", "all well\nFAIL: disk\n"
    assert [*lines_with(pattern, log.encode())] == [b"FAIL: disk"]
    assert found(pattern, log)
    assert saw(Seen(output=pattern), "cat log", log)
    assert saw(Seen(output="disk", command=pattern), "true\nFAIL=1 cat log", log)
    assert not saw(Seen(output=pattern), "cat log", "no FAIL at the beginning")


@pytest.mark.parametrize("look", [found, lambda pattern, text: list(passages(pattern, text))])
def test_no_text_makes_a_pattern_slow(look: Callable[[str, str], object]) -> None:
    began = time.process_time()
    look("(a+)+$", "a" * 50_000 + "!")
    look("a|b", "ab" * 50_000)
    assert not fits(Answer(question="?", matches="(a+)+$"), "a" * 50_000 + "!")
    assert time.process_time() - began < 2.0


def test_half_a_character_is_looked_at_too() -> None:
    assert found("failed", "\ud800 failed \udcff")
    assert list(passages("failed", "\udcff failed")) == ["? failed"]
