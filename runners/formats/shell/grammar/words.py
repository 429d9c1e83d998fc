"""The place in the text, and how words are made: each knows from its birth what is known before it is expanded."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.formats.shell.ast import Literal, Part, Word
from runners.formats.shell.braces import few_alternatives, has_braces

MAX_NESTING = 150
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GLOB = re.compile(r"[*?]|\[.*\]|[+@!]\(", re.DOTALL)
_ANSI = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_OCTAL = re.compile(r"[0-7]{1,3}")
_TWO_HEX = re.compile(r"[0-9A-Fa-f]{1,2}")
_FOUR_HEX = re.compile(r"[0-9A-Fa-f]{1,4}")
_EIGHT_HEX = re.compile(r"[0-9A-Fa-f]{1,8}")


class ShellSyntaxError(Exception):
    """The text does not parse. `at`: the position it is about; `shown`: bash repeats the line after the message."""

    def __init__(self, message: str, at: int, *, shown: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.shown = shown


class Scan(NamedTuple):
    """Parts read, and the character in front of which reading stopped; "" at the end of the word or the text."""

    parts: list[Part]
    stopped_by: str


def glob_free(text: str) -> bool:
    return not _GLOB.search(text)


def make_word(parts: list[Part], *, braces: bool = True) -> Word:
    """A word from its parts, with what is known about it beforehand. braces: do they mean anything?"""
    only = parts[0] if len(parts) == 1 else None
    if type(only) is Literal and (only.quoted or (not (braces and has_braces(only.text)) and glob_free(only.text))):
        return Word((only,), only.text)
    merged = tuple(parts)
    unquoted = "".join(part.text if not part.quoted else "\0" for part in merged if isinstance(part, Literal))
    if braces and has_braces(unquoted):
        return Word(merged, None, True, few_alternatives(merged))
    if all(type(part) is Literal for part in merged) and glob_free(unquoted):
        return Word(merged, "".join(part.text for part in merged if isinstance(part, Literal)))
    return Word(merged, None)


def text_word(text: str) -> Word:
    """A word that is this text, whatever is in it."""
    return Word((Literal(text, True),), text)


class Scanner:
    """Position `pos` in `src`. `extglob`: are extended globs read here? `depth`: how far nested."""

    EXPANDED = True
    """Do words know braces and `<(…)`?"""

    def __init__(self, src: str, *, extglob: bool = False, depth: int = 0) -> None:
        self.src = src
        self.pos = 0
        self.extglob = extglob
        self.depth = depth

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ShellSyntaxError("memory exhausted", self.pos, shown=False)

    def unexpected_end(self, closer: str, start: int) -> ShellSyntaxError:
        return ShellSyntaxError(
            f"unexpected EOF while looking for matching `{closer}'", start, shown=False
        )  # fmt: skip


def ansi_escape(src: str, position: int) -> tuple[str, int]:
    """The escape after a backslash in `$'…'` (and `printf %b`, `echo -e`): its text, and where it ends."""
    char = src[position : position + 1]
    if char in _ANSI:
        return _ANSI[char], position + 1
    if char == "x":
        match = _TWO_HEX.match(src, position + 1)
        if match is not None:
            return _byte(int(match.group(), 16)), match.end()
    if char in ("u", "U"):
        match = (_FOUR_HEX if char == "u" else _EIGHT_HEX).match(src, position + 1)
        if match is not None:
            code = int(match.group(), 16)
            return (chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""), match.end()
    if char == "c" and position + 1 < len(src):
        return chr(ord(src[position + 1]) & 0x1F), position + 2
    match = _OCTAL.match(src, position)
    if match is not None:
        return _byte(int(match.group(), 8) & 0xFF), match.end()
    return "\\" + char, position + 1


def _byte(value: int) -> str:
    return chr(value) if value < 0x80 else bytes([value]).decode("utf-8", "surrogateescape")
