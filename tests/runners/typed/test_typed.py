"""What lines would do, read before they run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners.typed.destructive import destructive
from runners.typed.diagnostic import diagnostic
from runners.typed.reading import Reader, Typed
from tests.runners.typed.tables import CHANGES, DESTRUCTIVE, HARMLESS, LOOKS, LOOKS_AT_NOTHING


def read(entry: str) -> Typed:
    """The last of the lines that an entry holds; a here-document is one line."""
    reader = Reader()
    lines = [entry] if "<<" in entry else entry.split("\n")
    for line in lines[:-1]:
        typed = reader.read(line)
        assert destructive(typed) is None, line
    return reader.read(lines[-1])


def test_the_tables_are_large_enough() -> None:
    assert len(set(DESTRUCTIVE)) >= 40
    assert len(set(HARMLESS)) >= 40


@pytest.mark.parametrize("entry", DESTRUCTIVE)
def test_a_destructive_line_is_recognised(entry: str) -> None:
    assert destructive(read(entry))


@pytest.mark.parametrize("entry", HARMLESS)
def test_what_only_looks_like_one_is_not(entry: str) -> None:
    assert destructive(read(entry)) is None


@pytest.mark.parametrize("entry", LOOKS)
def test_a_line_that_only_looks_is_a_diagnosis(entry: str) -> None:
    typed = read(entry)
    assert diagnostic(typed)
    assert destructive(typed) is None


@pytest.mark.parametrize("entry", [*LOOKS_AT_NOTHING, *CHANGES, *DESTRUCTIVE])
def test_a_line_that_changes_something_or_looks_at_nothing_is_none(entry: str) -> None:
    assert not diagnostic(read(entry))


def test_the_reason_names_what_would_be_lost() -> None:
    assert destructive(read("rm -rf /")) == "it removes everything"
    assert destructive(read("sudo find /etc -type f -delete")) == "it removes /etc"
    assert destructive(read("dd if=/dev/zero of=/dev/sda")) == "it overwrites the disk /dev/sda"


def test_each_session_has_its_own_variables() -> None:
    reader = Reader()
    reader.read("D=/")
    assert destructive(reader.read("rm -rf $D"))
    assert destructive(Reader().read("rm -rf $D")) is None


PIECES = [
    "rm",
    "-rf",
    "/",
    "*",
    "$",
    "(",
    ")",
    "{",
    "}",
    "|",
    "&",
    ";",
    "'",
    '"',
    "\\",
    "`",
    "<",
    ">",
    "x=",
    "for",
    "do\n",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=24))
def test_nothing_breaks_the_reader(pieces: list[str]) -> None:
    typed = Reader().read(" ".join(pieces))
    destructive(typed)
    diagnostic(typed)


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 200 + "x" + ")" * 200,
        "f() { f; }; f",
        "eval " * 5000 + "x",
        "bash -c " * 400 + "x",
        "for a in {1..9}; do for b in {1..9}; do for c in {1..9}; do for d in {1..9}; do for e in {1..9}; do "
        "x; done; done; done; done; done",
        "a=x; " + 'a="$a$a"; ' * 64 + "rm $a",
        "\x00\ufffe\udcff",
    ],
)
def test_reading_ends(text: str) -> None:
    typed = Reader().read(text)
    assert destructive(typed) is None
