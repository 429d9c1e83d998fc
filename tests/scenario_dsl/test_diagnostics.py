"""How a diagnostic looks: the shape, the caret under wide and odd characters, long lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from scenario_dsl.diagnostics import Diagnostic, Label, as_json, closest, listing, ordered, render, render_text
from scenario_dsl.source import SourceText, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Diagnostic):
    code: ClassVar[str] = "sample-code"
    title: ClassVar[str] = "unknown key `{key}`"
    caret: ClassVar[str] = "not a key"
    key: str


TEXT = "- disk:\n  probe:\n    kind: http_get\n    ur1: http://localhost\n"


def sample(text: str = TEXT, word: str = "ur1", **fields: object) -> Sample:
    at = text.index(word)
    return Sample(source=SourceText("disk.yml", text), span=Span(at, at + len(word)), key=word, **fields)  # type: ignore[arg-type]


def test_the_whole_shape() -> None:
    at = TEXT.index("http_get")
    label = Label(span=Span(at, at + 8), text="this probe accepts: kind, url")
    assert render(sample(labels=(label,), suggestion="url", advice=("look it up",))) == (
        "error[sample-code]: unknown key `ur1`\n"
        " --> disk.yml:4:5\n"
        "  |\n"
        "3 |     kind: http_get\n"
        "  |           -------- this probe accepts: kind, url\n"
        "4 |     ur1: http://localhost\n"
        "  |     ^^^ not a key\n"
        "  |\n"
        "  = help: did you mean `url`?\n"
        "  = help: look it up\n"
    )


@pytest.mark.parametrize(
    ("line", "under"),
    [
        ("漢字 x!", "     ^^"),
        ("a\tx!", "     ^^"),
        ("e\u0301 x!", "  ^^"),
        ("\u200b x!", "  ^^"),
    ],
)
def test_the_caret_stands_under_what_it_means(line: str, under: str) -> None:
    rows = render(sample(line, "x!")).splitlines()
    assert rows[4] == f"  | {under} not a key"


def test_a_long_line_is_cut_around_the_caret() -> None:
    rows = render(sample("a" * 5000 + "x!" + "b" * 5000, "x!")).splitlines()
    assert len(rows[3]) < 200
    assert rows[3][rows[4].index("^") :].startswith("x!")
    assert rows[1] == " --> disk.yml:1:5001"


def test_text_of_a_document_cannot_move_the_cursor() -> None:
    text = render(sample("k\x1b[2J\u202e: x!", "x!", suggestion="a\x1b[31m\nb"))
    assert all(char == "\n" or char.isprintable() for char in text)


def test_braces_in_a_document_are_no_template() -> None:
    assert sample("{key} {0} {x.y}", "{0}").message == "unknown key `{0}`"


def test_order_and_duplicates() -> None:
    first, second = sample("b a", "b"), sample("b a", "a")
    assert ordered([second, first, second]) == (first, second)
    assert render_text(ordered([second, first])).count("\n\n") == 1


def test_json() -> None:
    (data,) = as_json([sample(suggestion="url")])
    assert data == {
        "code": "sample-code",
        "severity": "error",
        "message": "unknown key `ur1`",
        "path": "disk.yml",
        "line": 4,
        "column": 5,
        "end_line": 4,
        "end_column": 8,
        "label": "not a key",
        "labels": [],
        "help": ["did you mean `url`?"],
    }


def test_suggestions() -> None:
    assert closest("crash-servise", ["crash_service", "fill_disk"]) == "crash_service"
    assert closest("zzz", ["crash_service"]) is None
    assert closest("x", []) is None
    assert listing(["a", "b", "c"], 2) == "a, b and 1 more"
