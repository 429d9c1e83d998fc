"""Patterns of probes: looking through a whole text finds the lines that looking at each line would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.patterns import found, lines_with

PATTERNS = ("a", "^a", "b$", r"a\sb", r"a\s*b", "^$", r"\bab\b", "a.*b", "", r"é.", "(a|b)+é")


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("ab é\n", max_size=30))
def test_lines_with_a_pattern_are_those_that_have_it(pattern: str, text: str) -> None:
    alone = [line for line in text.split("\n") if found(pattern, line)]
    assert [line.decode() for line in lines_with(pattern, text.encode())] == alone
