"""What the operators of `${name…}` do to one text. They know nothing of the shell but how to charge for work."""

from __future__ import annotations

from collections.abc import Callable

from runners.formats.shell.grammar.words import ansi_escape
from runners.sim.budget import BudgetExceeded
from runners.sim.shell.patterns import matcher

MAX_TEXT = 16 << 20
"""Characters that one value, or the words of one command together, may have."""


def strip_suffix(text: str, pattern: str, longest: bool, spend: Callable[[int], None]) -> str:
    matches = matcher(pattern, spend).fullmatch
    positions = range(len(text) + 1) if longest else range(len(text), -1, -1)
    cost = 1 + (len(text) >> 6)
    for start in positions:
        spend(cost)
        if matches(text, start):
            return text[:start]
    return text


def change_case(text: str, operator: str, pattern: str, spend: Callable[[int], None]) -> str:
    spend(1 + (len(text) >> 2))
    upper = operator[0] == "^"
    matches = matcher(pattern or "?", spend).fullmatch
    change = str.upper if upper else str.lower
    if len(operator) == 2:
        return "".join(change(char) if matches(char) else char for char in text)
    return change(text[0]) + text[1:] if text and matches(text[0]) else text


def replace(text: str, pattern: str, replacement: list[str | None], operator: str, spend: Callable[[int], None]) -> str:
    if not pattern and operator not in ("/#", "/%"):
        return text
    spend(1 + (len(text) >> 5))
    expression = matcher(pattern, spend)

    def filled(matched: str) -> str:
        return "".join(matched if piece is None else piece for piece in replacement)

    if operator == "/#":
        match = expression.match(text)
        return filled(match.group()) + text[match.end() :] if match else text
    if operator == "/%":
        cost = 1 + (len(text) >> 6)
        for start in range(len(text) + 1):
            spend(cost)
            match = expression.fullmatch(text, start)
            if match:
                return text[:start] + filled(match.group())
        return text
    out: list[str] = []
    position = size = 0
    while position <= len(text):
        match = expression.search(text, position)
        if match is None:
            break
        spend(1)
        if match.end() == match.start():
            if match.start() >= len(text):
                break
            out.append(text[position : match.start() + 1])
            position = match.start() + 1
            continue
        piece = filled(match.group())
        size += len(piece)
        if size > MAX_TEXT:
            raise BudgetExceeded
        out += [text[position : match.start()], piece]
        position = match.end()
        if operator == "/":
            break
    return "".join(out) + text[position:]


def quote(text: str) -> str:
    """As `${x@Q}` writes it."""
    if any(ord(char) < 32 or char == "\x7f" for char in text):
        escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\E", "'": "\\'", "\\": "\\\\"}
        return (
            "$'" + "".join(escapes.get(char, char if ord(char) >= 32 else f"\\{ord(char):03o}") for char in text) + "'"
        )
    return "'" + text.replace("'", "'\\''") + "'"


def transform(kind: str, text: str, name: str) -> str:
    if kind == "Q":
        return quote(text)
    if kind == "U":
        return text.upper()
    if kind == "L":
        return text.lower()
    if kind == "u":
        return text[:1].upper() + text[1:]
    if kind == "A":
        return f"{name}={quote(text)}"
    if kind == "E":
        out = []
        index = 0
        while index < len(text):
            if text[index] == "\\":
                piece, index = ansi_escape(text, index + 1)
                out.append(piece)
            else:
                out.append(text[index])
                index += 1
        return "".join(out)
    return "" if kind == "a" else text
