"""Brace expansion: `{a,b}` and `{1..9..2}`, before everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import TypeAlias

from runners.formats.shell.ast import Literal, Part, Word
from runners.text import is_digits

_CANDIDATE = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")
_FEW = 64
_MAX_NESTING = 40

Item: TypeAlias = str | Part
"""One unquoted character, or a part that braces do not look into."""


def has_braces(unquoted: str) -> bool:
    """Could this text, taken from the unquoted parts of a word, hold a brace expression?"""
    return "{" in unquoted and _CANDIDATE.search(unquoted) is not None


def few_alternatives(parts: Sequence[Part]) -> tuple[Word, ...] | None:
    """The words a brace expression makes, when they are few enough to keep; else None."""
    made = list(islice(alternatives(parts), _FEW + 1))
    return tuple(made) if len(made) <= _FEW else None


def alternatives(parts: Sequence[Part]) -> Iterator[Word]:
    """The words that `parts` expand to, one at a time."""
    items: list[Item] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            items.extend(part.text)
        else:
            items.append(part)
    for expanded in _expand(items, 0):
        yield _word(expanded)


def _word(items: list[Item]) -> Word:
    parts: list[Part] = []
    run: list[str] = []
    for item in items:
        if isinstance(item, str):
            run.append(item)
            continue
        if run:
            parts.append(Literal("".join(run), False))
            run = []
        parts.append(item)
    if run:
        parts.append(Literal("".join(run), False))
    literal = None
    if all(type(part) is Literal and (part.quoted or not set(part.text) & set("*?[")) for part in parts):
        literal = "".join(part.text for part in parts if isinstance(part, Literal))
    return Word(tuple(parts), literal)


def _expand(items: list[Item], depth: int) -> Iterator[list[Item]]:
    start = 0
    while True:
        opening = next((at for at in range(start, len(items)) if items[at] == "{"), None)
        if opening is None or depth > _MAX_NESTING:
            yield items
            return
        closing, commas = _matching(items, opening)
        if closing is None:
            start = opening + 1
            continue
        inside = items[opening + 1 : closing]
        choices: Iterator[list[Item]] | None = None
        if commas:
            bounds = [opening, *commas, closing]
            pieces = [items[low + 1 : high] for low, high in pairwise(bounds)]
            choices = (choice for piece in pieces for choice in _expand(piece, depth + 1))
        elif all(isinstance(item, str) for item in inside):
            sequence = _SEQUENCE.fullmatch("".join(item for item in inside if isinstance(item, str)))
            if sequence is not None:
                choices = _sequence(*sequence.groups())
        if choices is None:
            start = opening + 1
            continue
        before, rest = items[:opening], items[closing + 1 :]
        for choice in choices:
            for tail in _expand(rest, depth + 1):
                yield [*before, *choice, *tail]
        return


def _matching(items: list[Item], opening: int) -> tuple[int | None, list[int]]:
    """The closing brace for the one at `opening`, and the commas between them at that level."""
    depth = 0
    commas: list[int] = []
    for at in range(opening, len(items)):
        item = items[at]
        if item == "{" and (at == opening or items[at + 1 : at + 2] != ["}"]):
            depth += 1
        elif item == "}" and items[at - 1] != "{":
            # (A brace right behind an opening one is text: `{}` is no expression.)
            depth -= 1
            if depth == 0:
                return at, commas
        elif item == "," and depth == 1:
            commas.append(at)
    return None, []


def _sequence(first: str, last: str, step: str | None) -> Iterator[list[Item]] | None:
    numeric = is_digits(first.lstrip("-")), is_digits(last.lstrip("-"))
    if numeric[0] != numeric[1]:
        return None
    by = abs(int(step)) if step else 1
    by = by or 1
    if not numeric[0]:
        low, high = ord(first), ord(last)
        return ([chr(code)] for code in _steps(low, high, by))
    padded = any(text.lstrip("-").startswith("0") and len(text.lstrip("-")) > 1 for text in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return (list(f"{value:0{width}d}" if padded else str(value)) for value in _steps(int(first), int(last), by))


def _steps(low: int, high: int, by: int) -> Iterator[int]:
    return iter(range(low, high + 1, by) if low <= high else range(low, high - 1, -by))
