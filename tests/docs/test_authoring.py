"""The guide for authors, followed to the letter in an empty folder."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from breakfix.cli.main import run
from breakfix.content import SHIPPED
from reports import load
from scenario_dsl.library import check_paths, load_library
from scenario_dsl.model import Scenario
from tests.docs.markdown import DOCS, Block, blocks, commands, perform, write

GUIDE = "authoring.md"
BLOCKS = tuple(blocks(GUIDE))
RUNNERS = DOCS.parent / "runners"


def files() -> tuple[Block, ...]:
    return tuple(block for block in BLOCKS if block.language == "yaml")


def test_every_block_is_a_file_or_commands() -> None:
    assert {block.language for block in BLOCKS} == {"yaml", "sh"}
    assert all(block.file for block in files())


def test_the_guide_followed_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # at every prompt, the reader leaves
    said: dict[str, str] = {}
    for block in BLOCKS:
        if block.language == "yaml":
            write(block, tmp_path)
            continue
        for command in commands(block):
            code = perform(command)
            said[command] = capsys.readouterr().out
            assert code == 0, command
            if command == "breakfix prove mine":
                assert "unreadable-secret: proven" in said[command]

    by_hand = next(text for command, text in said.items() if "chmod 600" in command)
    assert "auto-restart" in by_hand
    assert "Permission denied: '/etc/shop/secret.key'" in by_hand
    assert "502 Bad Gateway" in by_hand

    assert check_paths([tmp_path / "mine"], SHIPPED) == ()
    attempts = load(tmp_path / "runs" / "mine").attempts
    verdicts = attempts.groupby("agent")["verdict"].unique()
    assert list(verdicts["gold"]) == ["VERIFIED"]
    assert list(verdicts["nop"]) == ["NOT_RECOVERED"]
    assert "HARMFUL" in list(verdicts["bad"])


def test_the_skeleton_tells_the_guides_incident(tmp_path: Path) -> None:
    """`breakfix new` and the guide give the same scenario, to the last value."""
    for block in files():
        write(block, tmp_path / "guide")
    assert run(["new", str(tmp_path / "new" / "mine")]) == 0
    assert scenario(tmp_path / "new") == scenario(tmp_path / "guide")


def scenario(folder: Path) -> Scenario:
    found = load_library(folder / "mine", SHIPPED).scenarios["unreadable-secret"]
    return replace(found, complaint=found.complaint.strip())


def findings() -> list[tuple[str, str]]:
    """The rows of the table of findings: (check, a message it quotes)."""
    rows = re.findall(r"^\| (\w+) \| (`.*?) \| ", (DOCS / GUIDE).read_text(encoding="utf-8"), re.MULTILINE)
    return [(check, quoted) for check, cell in rows for quoted in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize(("check", "message"), findings())
def test_quoted_findings_are_what_prove_says(check: str, message: str) -> None:
    folders = [RUNNERS / "prove", RUNNERS / "gate"]
    sources = [path for folder in folders for path in folder.glob("*.py")] + [RUNNERS / "opening.py"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    for piece in re.split(r"\s*…\s*", message):
        if piece and piece not in ("RECOVERED_UNPROVEN: twin in",):
            assert piece in code, (check, piece)


def test_there_is_a_word_on_every_check() -> None:
    from runners.prove.proving import CHECKS

    assert {check for check, _ in findings()} == {name for name, _ in CHECKS}
