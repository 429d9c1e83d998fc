"""The page about the gate: its story is what the gate says."""

from __future__ import annotations

import json

import pytest

from breakfix.cli.main import run
from tests.docs.markdown import DOCS, blocks, commands, perform

GUIDE = "gate.md"
HABITS = ("readable for all", "whatever failed may pass everywhere")


def story() -> list[list[str]]:
    """The cells of the story's table, a row for each question."""
    text = (DOCS / GUIDE).read_text(encoding="utf-8").split("## A story")[1].split("## ")[0]
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_the_story_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: list[list[str]] = []
    for block in blocks(GUIDE):
        for command in commands(block):
            assert perform(command) == 0, command
            assert any(habit in command for habit in HABITS)
            lines = capsys.readouterr().out.splitlines()
            (last,) = [line for line in lines if line.startswith("verdict: ")]
            verdicts.append([side.split()[-1] for side in last.split("│")])
    assert verdicts == [["HARMFUL", "VERIFIED"], ["RECOVERED_UNPROVEN", "VERIFIED"]]
    said = " ".join((DOCS / GUIDE).read_text(encoding="utf-8").split())
    assert "So the first is `HARMFUL`, the second `RECOVERED_UNPROVEN`, and the third `VERIFIED`." in said


@pytest.mark.slow
def test_so_is_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Each cell is the finding of that check in that world; what was not asked is empty."""
    columns: list[list[str]] = []
    for habit in HABITS:
        assert run(["contrast", "service-identity", "--habit", habit, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        for side in ("bad", "gold"):
            facts = data[side]["facts"]
            asked = {(fact["check"], fact["world"]): fact["finding"] for fact in facts}
            broken = [world for check, world in asked if check in ("primary", "twin")]
            assert all(asked[check, world] == "pass" for check, world in asked if check == "control")
            rows = [("twin" if world != "primary" else "primary", world) for world in broken]
            rows += [("control", "a rightly closed secret"), ("repeat", "primary"), ("reversibility", "primary")]
            columns.append([asked.get(row, "") for row in rows])
    (everything, gold), (folder, same) = columns[:2], columns[2:]
    assert gold == same
    everything += [""] * (len(gold) - len(everything))
    assert [row[1:] for row in story()] == [list(row) for row in zip(everything, folder, gold, strict=True)]
