"""The guide to nightly runs: its plan is one, and it names every key and every error that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from breakfix.cli.main import run
from runners.course import KINDS
from runners.planning.document import read_plan_document
from runners.planning.schema import plan_schema
from tests.docs.markdown import DOCS, blocks, write

GUIDE = "nightly.md"
TEXT = (DOCS / GUIDE).read_text(encoding="utf-8")


def test_its_plan_is_one_and_without_a_server_its_models_are_errored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in blocks(GUIDE) if block.language == "yaml"]
    write(block, tmp_path)
    document = read_plan_document(Path("nightly.yml"))
    assert [agent.title for agent in document.agents] == ["gold", "nop", "random", "restarter", "small", "small, warm"]
    assert run(["compile", "packs/starter", "--out", "build/starter"]) == 0
    assert run(["keygen", "build/me.key"]) == 0
    assert run(["sign", "build/starter", "--key", "build/me.key", "--unproven"]) == 0
    (program,) = [block for block in blocks("agents.md") if block.file == "agent.py"]
    write(program, tmp_path)
    Path("agent.py").chmod(0o755)
    small = Path("nightly.yml").read_text().replace("attempts: 5", "scenarios: [process-recovery]")
    Path("nightly.yml").write_text(small.replace("8080", "9").replace("temperature: ", "resend: 0, temperature: "))
    words = ["run", "nightly.yml", "--trust", "build/me.key.pub", "--out", "runs/2026-03-01", "--executor", "local"]
    assert run([*words, "--since-last", "--quiet"]) == 2
    assert run(["status", "runs/2026-03-01"]) == 0


def test_every_key_of_a_plan_and_every_kind_of_error_is_described() -> None:
    properties = plan_schema()["properties"]
    assert isinstance(properties, dict)
    listed = re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", TEXT, re.MULTILINE)
    assert {name for cell in listed for name in re.findall(r"`([a-z]+)`", cell)} == set(properties)
    for kind in KINDS:
        assert f"`{kind}`" in TEXT
