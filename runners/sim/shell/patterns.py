"""Shell patterns as regular expressions: `case`, `[[ == ]]`, `${x%…}` and file names.

A pattern is text in which a backslash makes the next character literal; `escape` makes one from quoted text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from runners.sim.shell.extglob import Character, Extended, Group, Piece, Spend, Star

_SPECIAL = frozenset("*?[]\\()|!+@")
_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "print": r" -~\x80-\U0010ffff", "graph": r"!-~\x80-\U0010ffff",
    "cntrl": r"\x00-\x1f\x7f", "xdigit": "0-9A-Fa-f", "word": r"\w",
}  # fmt: skip
_GROUP = re.compile(r"[?*+@!]\(")
_NOTHING = re.compile(r"(?!)")


def escape(text: str) -> str:
    """Quoted text as a pattern that matches itself."""
    return "".join("\\" + char if char in _SPECIAL else char for char in text)


def unescape(pattern: str) -> str:
    """The text of a pattern in which nothing special is left."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def is_pattern(text: str, extglob: bool = False) -> bool:
    """Does the pattern have anything that could match more than itself?"""
    index = 0
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char in "*?" or (char == "[" and text.find("]", index + 2) > 0):
            return True
        if extglob and char in "+@!" and text[index + 1 : index + 2] == "(":
            return True
        index += 1
    return False


@lru_cache(maxsize=2048)
def compiled(pattern: str, *, greedy: bool = True, ignore_case: bool = False) -> re.Pattern[str]:
    """A pattern without groups, to be used with `fullmatch` (the whole) or `match` (a prefix: longest if greedy).

    Every star but the last takes the nearest continuation and never goes back, so that matching stays linear.
    """
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    try:
        return re.compile(_translate(pattern, greedy), flags)
    except (re.error, RecursionError, OverflowError):
        return re.compile(re.escape(pattern), flags)


def matcher(
    pattern: str, spend: Spend, *, greedy: bool = True, extglob: bool = True, ignore_case: bool = False
) -> re.Pattern[str] | Extended:
    """The pattern, groups and all (`extglob`). Groups charge `spend` for their work; the rest is linear."""
    if extglob and _GROUP.search(pattern):
        try:
            pieces = _pieces(pattern, ignore_case)
        except RecursionError:
            return re.compile(re.escape(pattern))
        if any(isinstance(piece, Group) for piece in pieces):
            return Extended(pieces, greedy, spend)
    return compiled(pattern, greedy=greedy, ignore_case=ignore_case)


@lru_cache(maxsize=512)
def _pieces(pattern: str, ignore_case: bool) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char in "?*+@!" and pattern[index + 1 : index + 2] == "(":
            closing = _closing(pattern, index + 1)
            if closing is not None:
                choices = tuple(_pieces(choice, ignore_case) for choice in _split(pattern[index + 2 : closing]))
                pieces.append(Group(char, choices))
                index = closing + 1
                continue
        if char == "*":
            pieces.append(Star())
            index += 1
            continue
        text, index = _single(pattern, index)
        pieces.append(Character(_character(text, ignore_case)))
    return tuple(pieces)


@lru_cache(maxsize=512)
def _character(text: str, ignore_case: bool) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
    except re.error:
        return _NOTHING


def _translate(pattern: str, greedy: bool) -> str:
    segments: list[list[str]] = [[]]
    index = 0
    while index < len(pattern):
        if pattern[index] == "*":
            if segments[-1] or len(segments) == 1:
                segments.append([])
            index += 1
            continue
        text, index = _single(pattern, index)
        segments[-1].append(text)
    if len(segments) == 1:
        return "".join(segments[0])
    head, *middle, last = ("".join(segment) for segment in segments)
    lazy = "".join(f"(?>.*?{segment})" for segment in middle)
    return f"{head}{lazy}.*{'' if greedy else '?'}{last}"


def _single(pattern: str, index: int) -> tuple[str, int]:
    char = pattern[index]
    if char == "\\":
        return re.escape(pattern[index + 1 : index + 2] or "\\"), index + 2
    if char == "?":
        return ".", index + 1
    if char == "[":
        found = _bracket(pattern, index)
        return found if found is not None else (r"\[", index + 1)
    return re.escape(char), index + 1


def _closing(pattern: str, opening: int) -> int | None:
    depth = 0
    index = opening
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return index
        index += 1
    return None


def _split(inside: str) -> list[str]:
    """The alternatives between bars at the top level."""
    pieces = [""]
    depth = index = 0
    while index < len(inside):
        char = inside[index]
        if char == "\\":
            pieces[-1] += inside[index : index + 2]
            index += 2
            continue
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += char
        index += 1
    return pieces


def _bracket(pattern: str, index: int) -> tuple[str, int] | None:
    position = index + 1
    out = ["["]
    if pattern[position : position + 1] in ("!", "^"):
        out.append("^")
        position += 1
    first = True
    while True:
        if position >= len(pattern):
            return None
        char = pattern[position]
        if char == "]" and not first:
            text = "".join([*out, "]"])
            return text, position + 1
        first = False
        if pattern.startswith("[:", position):
            end = pattern.find(":]", position)
            name = pattern[position + 2 : end] if end > 0 else ""
            if name in _CLASSES:
                out.append(_CLASSES[name])
                position = end + 2
                continue
        if char == "\\" and position + 1 < len(pattern):
            position += 1
            char = pattern[position]
        position += 1
        if pattern[position : position + 1] == "-" and pattern[position + 1 : position + 2] not in ("]", ""):
            high = pattern[position + 1]
            position += 2
            if high == "\\" and position < len(pattern):
                high = pattern[position]
                position += 1
            out.append(f"{_quoted(char)}-{_quoted(high)}" if high >= char else "")
        else:
            out.append(_quoted(char))


def _quoted(char: str) -> str:
    return "\\" + char if char in "\\]^-[&~|" else char
