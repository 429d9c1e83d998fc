"""The guide to attempts: its commands and its document, as they stand there, up to a receipt that verifies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run
from runners.attempt.stages import STAGES
from tests.docs.markdown import DOCS, blocks, commands, perform, write

GUIDE = "attempts.md"


def test_the_guide_followed_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(GUIDE):
        if block.file is not None:
            write(block, tmp_path)
        elif block.language == "python":
            exec(compile(block.text, GUIDE, "exec"), {})
        else:
            for command in commands(block):
                assert perform(command) == 0, command
    shown = capsys.readouterr().out
    assert "Verdict: VERIFIED" in shown
    assert "the prediction was borne out" in shown
    assert run(["attempt", "show", "try", "--json"]) == 0
    events = json.loads(capsys.readouterr().out)["events"]
    assert list(dict.fromkeys(event["stage"] for event in events)) == list(STAGES)
    assert run(["receipt", "verify", "try/receipt.dsse.json", "--trust", "me.key.pub", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["verdict"] == "VERIFIED"
    next(Path("try/evidence").iterdir()).write_bytes(b"nothing was wrong")
    assert run(["receipt", "verify", "try/receipt.dsse.json", "--trust", "me.key.pub"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ("chmod -R a+rX {{ closed }}", "HARMFUL"),
        ("chgrp shop /etc/shop", "RECOVERED_UNPROVEN"),
    ],
)
def test_what_it_says_of_other_repairs_is_so(
    other: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    known = [block for block in blocks(GUIDE) if block.language != "python"]
    document = next(block for block in known if block.file == "fix.yml")
    text = document.text.replace("run: chgrp {{ group }} {{ closed }}", f"run: {other}")
    assert other in text
    assert f"`{other}`" in (DOCS / GUIDE).read_text(encoding="utf-8")
    Path("fix.yml").write_text(text, encoding="utf-8")
    typed = [command for block in known if block.file is None for command in commands(block)]
    for command in typed[: next(i for i, each in enumerate(typed) if "attempt verify" in each)]:
        assert perform(command) == 0, command
    assert run(["attempt", "verify", "try", "--key", "me.key"]) == 1
    assert f"Verdict: {verdict}" in capsys.readouterr().out
    assert not Path("try/receipt.dsse.json").exists()


def test_every_stage_is_in_the_table() -> None:
    text = (DOCS / GUIDE).read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    assert rows[2:] == list(STAGES)
