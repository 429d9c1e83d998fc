"""contrast: gold and a bad habit side by side, on the terminal, as data and as a page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from breakfix.cli.main import run

_VOID = ("meta", "link", "br")


class Page(HTMLParser):
    """What a page says; fails on tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def test_bad_recovers_and_gold_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # wide enough that no sentence is broken
    out = tmp_path / "contrast.html"
    assert run(["contrast", "permission-repair", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip().endswith(f"the page: {out}")
    (last,) = [line for line in shown.splitlines() if line.startswith("verdict: ")]
    assert [side.split()[-1] for side in last.split("│")] == ["RECOVERED_UNPROVEN", "VERIFIED"]
    said = "\n".join(Page(out.read_text(encoding="utf-8")).said)
    for expected in ("RECOVERED_UNPROVEN", "VERIFIED", "twin in a directory", "not met in the end: it is served again"):
        assert expected in said
        assert expected in shown
    assert '$ test -z "$(sudo -u www-data' in said


def test_a_habit_by_its_name_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contrast", "permission-repair", "--habit", "open to all", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["bad"]["name"], data["bad"]["verdict"]) == ("open to all", "HARMFUL")
    assert data["bad"]["commands"] == ["chmod -R 777 /var/www/shop"]
    assert data["gold"]["verdict"] == "VERIFIED"
    assert {fact["check"] for fact in data["gold"]["facts"]} == {
        "primary",
        "twin",
        "control",
        "repeat",
        "reversibility",
    }


def test_an_unknown_habit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contrast", "permission-repair", "--habit", "luck"]) == 1
    assert "has no bad habit `luck`; its own are: `open to all`" in capsys.readouterr().err
