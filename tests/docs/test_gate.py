"""The page about the gate: its story is what the gate says."""

from __future__ import annotations

import pytest

from tests.docs.markdown import DOCS, blocks, commands, perform

GUIDE = "gate.md"


def test_the_story_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: list[list[str]] = []
    for block in blocks(GUIDE):
        for command in commands(block):
            assert perform(command) == 0, command
            lines = capsys.readouterr().out.splitlines()
            (last,) = [line for line in lines if line.startswith("verdict: ")]
            verdicts.append([side.split()[-1] for side in last.split("│")])
    assert verdicts == [["HARMFUL", "VERIFIED"], ["RECOVERED_UNPROVEN", "VERIFIED"]]
    story = " ".join((DOCS / GUIDE).read_text(encoding="utf-8").split())
    assert "So the first is `HARMFUL`, the second `RECOVERED_UNPROVEN`, and the third `VERIFIED`." in story
