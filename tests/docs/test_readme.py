"""The README says what is so: its scenario is the shipped one, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from breakfix.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SCENARIO = ROOT / "packs" / "starter" / "scenarios" / "process-recovery.yml"
PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))


def bare(line: str) -> str:
    """A line of YAML without a comment at its end and the space before it; its indentation counts."""
    return re.sub(r"\s+# .*$", "", line).rstrip()


def test_the_quoted_scenario_is_the_shipped_one() -> None:
    """Each quoted line stands in the file, in that order, except comments and `…`."""
    found = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    shipped = iter([bare(line) for line in SCENARIO.read_text(encoding="utf-8").splitlines()])
    quoted = [bare(line) for line in found[1].splitlines() if line.strip() not in ("", "…")]
    assert len(quoted) > 20
    for line in quoted:
        assert line in shipped, f"not in the file, or not there: {line!r}"


def typed() -> list[str]:
    blocks = re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("breakfix ")]


@pytest.mark.parametrize("line", typed())
def test_quoted_commands_are_understood(line: str) -> None:
    """The command exists and takes these options and arguments; nothing is run."""
    name, *words = shlex.split(line, comments=True)[1:]
    assert name in COMMANDS
    application = typer.Typer()
    application.command()(import_module(f"breakfix.cli.{name}_").command)
    assert get_command(application).make_context(name, words).params


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_links_to_headings_find_them(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        other = (ROOT / page).parent / target if target else ROOT / page
        headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, anchor
