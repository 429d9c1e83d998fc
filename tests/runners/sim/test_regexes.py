"""POSIX expressions as GNU tools read them."""

from __future__ import annotations

import pytest

from runners.sim.budget import BudgetExceeded
from runners.sim.regexes import Regex, RegexError, basic, extended, fixed, perl


def found(regex: Regex, text: str) -> str | None:
    match = regex.search(text.encode())
    return match.group().decode() if match is not None else None


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        (r"a\(b*\)c", "xabbc", "abbc"), ("*a", "x*a", "*a"), (r"a\{2\}", "caaat", "aa"), (r"a\|b", "xb", "b"),
        ("a+", "aa+", "a+"), (r"a\+", "caat", "aa"), ("^*ab", "*ab", "*ab"), ("a^b$c", "a^b$c", "a^b$c"),
        (r"\<b\w*", "ab bc", "bc"), ("[]x]*", "]x]", "]x]"), ("[^]]*", "ab]", "ab"), ("[[:digit:]]*", "12a", "12"),
        ("h.llo", "héllo", "héllo"), (r"\(.\)\1", "abccd", "cc"), ("[a-c]*d", "abcd", "abcd"), (r"[\n]", "n", "n"),
    ],
)  # fmt: skip
def test_basic(pattern: str, text: str, match: str) -> None:
    assert found(basic(pattern), text) == match


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        ("(a|ab)(c|bcd)", "abcd", "abcd"), ("a{2,3}", "aaaa", "aaa"), ("a{,2}b", "aaab", "aab"), ("x{", "x{", "x{"),
        ("(ab)+", "ababa", "abab"), ("^(a|b)*$", "abab", "abab"), ("a**", "aaa", "aaa"), (r"(.)\1", "xyyz", "yy"),
        ("a|b|", "c", ""), (r"\.", "a.b", "."), ("()", "x", ""),
    ],
)  # fmt: skip
def test_extended(pattern: str, text: str, match: str) -> None:
    assert found(extended(pattern), text) == match


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "Unmatched ( or \\("), (")", "Unmatched ) or \\)"), ("[a", "Unmatched [, [^, [:, [., or [="),
        ("a\\", "Trailing backslash"), ("[z-a]", "Invalid range end"), ("[[:foo:]]", "Invalid character class name"),
        (r"(a)\2", "Invalid back reference"), ("a{9999}", "Regular expression too big"),
    ],
)  # fmt: skip
def test_wrong_patterns(pattern: str, message: str) -> None:
    with pytest.raises(RegexError) as caught:
        extended(pattern)
    assert str(caught.value) == message


def test_offsets_are_bytes() -> None:
    match = basic(r"\(.\)\1").search("aéé".encode())
    assert match is not None
    assert match.spans == ((1, 5), (1, 3))


def test_empty_matches_do_not_touch_the_match_before() -> None:
    assert [match.spans[0] for match in extended("x*").iterate(b"axb")] == [(0, 0), (1, 2), (3, 3)]


def test_plain_text_is_known_as_such() -> None:
    assert basic("foo").literal == b"foo"
    assert fixed("a.b").search(b"axb a.b") is not None
    assert found(fixed("A.B", ignore_case=True), "xa.bx") == "a.b"


def test_look_ahead_needs_perl() -> None:
    assert found(perl(r"\d+(?=px)"), "12 34px") == "34"


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        (r"(a|ab)(c|bcd)?\1?", "xabcd", "abcd"), (r"(x)?(xx)?\1", "xxxx", "xxxx"), (r"(a)\10", "aa0", "aa0"),
        (r"(b+)\1$", "bbb\n", None), (r"(.)\1", "a\n\n", "\n\n"), (r"(é)\1", "aéé", "éé"),
        (r"(a*)*\1", "a" * 60, "a" * 60),
    ],
)  # fmt: skip
def test_back_references_give_the_longest_match(pattern: str, text: str, match: str | None) -> None:
    assert found(extended(pattern), text) == match


def test_the_end_of_a_line_counts_with_several_lines() -> None:
    match = extended(r"(.)\1$", multiline=True).search(b"aa\nb")
    assert match is not None
    assert match.spans == ((0, 2), (0, 1))


def test_bytes_that_are_no_text_are_searched_too() -> None:
    match = perl(r"b(?=c)").search(b"\xffbc")
    assert match is not None
    assert match.spans == ((1, 2),)
    assert basic(r"\(.\)\1").search(b"\xff\xff") is not None


@pytest.mark.parametrize(
    "pattern", [perl(r"(a|aa)+$"), extended(r"((a|aa)+)b\1"), perl(r"(*LIMIT_MATCH=99999999)(a|aa)+$")]
)
def test_a_pattern_that_runs_away_is_stopped_by_its_steps(pattern: Regex) -> None:
    with pytest.raises(BudgetExceeded):
        pattern.search(b"a" * 60 + b"b")


def test_wrong_perl_patterns_are_told_as_grep_tells_them() -> None:
    with pytest.raises(RegexError, match="missing closing parenthesis"):
        perl("(")
