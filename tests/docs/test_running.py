"""The guide to runs: its commands, its agent and its look at the frames, as they stand there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from breakfix.cli.main import run
from reports import load
from runners.agents.registry import READERS
from tests.docs.markdown import DOCS, blocks, commands, perform, write

GUIDE = "running.md"
TEXT = (DOCS / GUIDE).read_text(encoding="utf-8")


def install(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip install` would leave behind for a pure distribution: it importable, and its entry points known."""
    project = tomllib.loads((distribution / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = distribution / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (told / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(distribution))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the signed bundle that the guide takes for granted."""
    monkeypatch.chdir(tmp_path)
    assert run(["compile", "packs/starter", "--out", "build/starter"]) == 0
    assert run(["keygen", "build/me.key"]) == 0
    assert run(["sign", "build/starter", "--key", "build/me.key", "--unproven"]) == 0
    return tmp_path


def test_the_guide_followed_to_the_letter(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for block in blocks(GUIDE):
        if block.file is not None:
            write(block, folder)
        elif block.language == "python":
            capsys.readouterr()
            exec(compile(block.text, GUIDE, "exec"), {})
            shown = capsys.readouterr().out
            assert "VERIFIED" in shown
            assert "nothing was broken, yet it restarted" in shown
        else:
            for command in commands(block):
                if command.startswith("pip install "):
                    install(folder / command.removeprefix("pip install "), monkeypatch)
                else:
                    assert perform(command.replace("TRIAL", first_trial(folder))) == 0, command

    verdicts = load(folder / "runs" / "mine").attempts.set_index("agent")["verdict"]
    assert verdicts.to_dict() == {"restarter": "VERIFIED", "restarter:failed,auto-restart": "VERIFIED"}


def first_trial(folder: Path) -> str:
    run_folder = folder / "runs" / "first"
    return str(load(run_folder).trials["trial_id"][0])[:16] if run_folder.is_dir() else "TRIAL"


def test_every_agent_of_ours_is_described() -> None:
    assert {name for name in READERS if re.search(rf"^\| `{name}(:[A-Z/]+)?` \|", TEXT, re.MULTILINE)} == set(READERS)


def test_the_run_folder_holds_what_is_said(folder: Path) -> None:
    arguments = ["-a", "nop", "-s", "process-recovery", "-o", "runs/one", "--executor", "local", "--quiet"]
    assert run(["run", "build/starter", "--trust", "build/me.key.pub", *arguments]) == 0
    for path in (folder / "runs" / "one").iterdir():
        assert f"| `{path.name}` |" in TEXT
