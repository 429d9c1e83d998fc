"""What a guide asks its reader to do, read out of its Markdown: files to write and commands to type, in order."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from breakfix.cli.main import run

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^`([^`\s]+/[^`\s]+|[^`\s]+\.\w+)`( goes on)?:$")
"""The line before a block of a file: `` `path`: `` begins it, `` `path` goes on: `` adds to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block. `file` is the path its marker line names; `more`: it adds to what stands there."""

    language: str
    text: str
    file: str | None = None
    more: bool = False


def blocks(document: str) -> Iterator[Block]:
    """All fenced blocks of a document below `docs/`, in order."""
    text = (DOCS / document).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        before = text[: found.start()].rstrip().rsplit("\n", 1)[-1]
        marker = _FILE.match(before)
        yield Block(
            language=found[1],
            text=found[2],
            file=marker[1] if marker else None,
            more=bool(marker and marker[2]),
        )


def write(block: Block, folder: Path) -> None:
    """Write the block's file below `folder`; what is added comes after an empty line."""
    assert block.file is not None
    path = folder / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    if block.more:
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{block.text}", encoding="utf-8")
    else:
        assert not path.exists(), f"{block.file} begins twice"
        path.write_text(block.text, encoding="utf-8")


def commands(block: Block) -> Iterator[str]:
    """The lines of a block of commands; a backslash at a line's end joins the next."""
    yield from filter(None, block.text.replace("\\\n", " ").splitlines())


def perform(command: str) -> int:
    """Run one command in the current folder and return its exit code. breakfix itself runs in this process: faster."""
    words = shlex.split(command, comments=True)
    if words[0] == "breakfix":
        return run(words[1:])
    return subprocess.run(["sh", "-c", command], check=False, timeout=60).returncode
