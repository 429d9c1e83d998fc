"""What `set -x` writes: each command as it is run, behind one PS4 mark for every level of text run inside text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runners.sim.shell.expansion import ArrayArgument
from runners.sim.shell.operators import quote

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_META = frozenset(" \t\n\"'\\$`*?[]{}()<>|&;!#~^")


def traced(shell: Shell) -> bool:
    return "xtrace" in shell.session.options


def mark(shell: Shell) -> str:
    """What stands before each line: PS4, with its first character repeated for each level."""
    prompt = shell.session.get("PS4") or "+ "
    if shell.dialect.traces_plainly:
        return prompt
    return prompt[:1] * shell.text_depth + prompt


def trace(shell: Shell, text: str) -> None:
    shell.write_error(f"{mark(shell)}{text}\n")


def trace_words(shell: Shell, words: Sequence[str]) -> None:
    trace(shell, " ".join(words if shell.dialect.traces_plainly else [quoted(word) for word in words]))


def trace_assignment(shell: Shell, name: str, value: str, mark_before: str) -> None:
    """`mark_before`: as it was before the assignment, which may be one to PS4."""
    shell.write_error(f"{mark_before}{name}={quoted(value) if value else ''}\n")


def quoted(word: str) -> str:
    """A word as it could be typed."""
    if isinstance(word, ArrayArgument):
        return f"{word}(...)"
    if word == "":
        return "''"
    if any(char in _META for char in word):
        return "'" + word.replace("'", "'\\''") + "'"
    return quote(word) if any(ord(char) < 32 or char == "\x7f" for char in word) else word
