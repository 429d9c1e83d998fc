"""Shell patterns as regular expressions: `case`, `[[ == ]]`, `${x%…}` and file names.

A pattern is text in which a backslash makes the next character literal; `escape` makes one from quoted text.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SPECIAL = frozenset("*?[]\\()|!+@")
_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "print": r" -~\x80-\U0010ffff", "graph": r"!-~\x80-\U0010ffff",
    "cntrl": r"\x00-\x1f\x7f", "xdigit": "0-9A-Fa-f", "word": r"\w",
}  # fmt: skip
_LITERAL = re.compile(r"[^*?\[\\+@!()|]+")


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
def compiled(pattern: str, *, greedy: bool = True, extglob: bool = True, ignore_case: bool = False) -> re.Pattern[str]:
    """The pattern, to be used with `fullmatch` (anchored at both ends) or `match` (a prefix: longest if greedy).

    Every star but the last takes the nearest continuation and never goes back, so that matching stays linear.
    """
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    try:
        return re.compile(_translate(pattern, greedy, extglob), flags)
    except (re.error, RecursionError, OverflowError):
        return re.compile(re.escape(pattern), flags)


def _translate(pattern: str, greedy: bool, extglob: bool) -> str:
    segments: list[list[str]] = [[]]
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if extglob and char in "?*+@!" and pattern[index + 1 : index + 2] == "(":
            closing = _closing(pattern, index + 1)
            if closing is not None:
                segments[-1].append(_group(char, pattern[index + 2 : closing], pattern[closing + 1 :], greedy))
                index = closing + 1
                continue
        if char == "*":
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


def _group(kind: str, inside: str, rest: str, greedy: bool) -> str:
    choices = "|".join(_plain(choice) for choice in _split(inside))
    if kind == "!":
        return f"(?:(?!(?:{choices}){_plain(rest)}\\Z).*{'' if greedy else '?'})"
    suffix = {"?": "?", "*": "*", "+": "+", "@": ""}[kind]
    return f"(?:{choices}){suffix}" + ("" if greedy or not suffix else "?")


def _plain(pattern: str) -> str:
    """The translation without the linear-time trick, for use inside groups."""
    out: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char in "?*+@!" and pattern[index + 1 : index + 2] == "(":
            closing = _closing(pattern, index + 1)
            if closing is not None:
                out.append(_group(char, pattern[index + 2 : closing], pattern[closing + 1 :], True))
                index = closing + 1
                continue
        if char == "*":
            out.append(".*")
            index += 1
            continue
        text, index = _single(pattern, index)
        out.append(text)
    return "".join(out)


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
