"""The guide to agents: each example is a file as it stands there, and plays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from breakfix.cli.main import run
from reports import load
from runners.agents.protocol import Submit
from runners.agents.wire import read_action
from runners.records_io import read_records
from tests.docs.markdown import Block, blocks, commands, perform, write

GUIDE = "agents.md"
BLOCKS = tuple(blocks(GUIDE))


def of(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def test_examples_are_short() -> None:
    for block in of("python"):
        assert len(block.text.strip().splitlines()) <= 24


def test_the_guide_followed_to_the_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert run(["compile", "packs/starter", "--out", "build/starter"]) == 0
    assert run(["keygen", "build/me.key"]) == 0
    assert run(["sign", "build/starter", "--key", "build/me.key", "--unproven"]) == 0
    for block in BLOCKS:
        if block.file is not None:
            write(block, tmp_path)
        elif block.language == "sh":
            for command in commands(block):
                assert perform(command) == 0, command
    sys.modules.pop("my_agents")
    for folder in ("program", "class"):
        attempts = load(f"runs/{folder}").attempts
        assert set(attempts["verdict"]) == {"VERIFIED"}
    programs = list(read_records(tmp_path / "runs" / "program"))
    assert {record.trial.agent.trusted for record in programs} == {False}
    assert {record.trial.agent.configuration.split("@")[0] for record in programs} == {"agent.py"}


def test_the_document_is_one_that_can_be_handed_in() -> None:
    (document,) = of("json")
    action = read_action(json.loads(document.text))
    assert isinstance(action, Submit)
    assert action.intervention.steps[0].discover == "unit"
