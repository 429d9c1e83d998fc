"""The guide to reports: its commands as they stand there, and its columns as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run
from tests.docs.columns import columns_as_markdown
from tests.docs.markdown import DOCS, blocks, commands, perform

GUIDE = "reports.md"


def test_its_columns_are_the_frames_own() -> None:
    """After a change: put what `columns_as_markdown` gives behind the heading."""
    text = (DOCS / GUIDE).read_text(encoding="utf-8")
    assert text.partition("## Columns\n\n")[2] == columns_as_markdown()


def test_the_guide_followed_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["compile", "packs/starter", "--out", "build/starter"]) == 0
    assert run(["keygen", "build/me.key"]) == 0
    assert run(["sign", "build/starter", "--key", "build/me.key", "--unproven"]) == 0
    for block in blocks(GUIDE):
        if block.language == "python":
            capsys.readouterr()
            exec(compile(block.text, GUIDE, "exec"), {})
            assert "VERIFIED" in capsys.readouterr().out
        else:
            for command in commands(block):
                assert perform(command) == 0, command
    gold = [json.loads(line) for line in Path("train/gold.jsonl").read_text().splitlines()]
    assert {row["agent"] for row in gold} == {"gold"}
    changes = json.loads(Path("reports/tuesday/tables/regressions.json").read_text())["rows"]
    assert {change["call"] for change in changes} == {"unchanged"}
