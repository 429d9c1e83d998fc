"""Extended patterns, `+(a|b)` and the like: every place where a pattern can end, worked out without going back.

A backtracking engine needs exponential time for `+(+(a))b`. Here a piece of the pattern turns the places where it may
begin into the places where it may end; each place counts as one step, which the caller pays for. As bash does, the
longest of all matches is taken, whichever alternative stands first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

Spend = Callable[[int], None]
Places = frozenset[int]


class Character(NamedTuple):
    """One character: itself, `?` or a bracket, as a regular expression."""

    expression: re.Pattern[str]


class Star(NamedTuple):
    """Anything."""


class Group(NamedTuple):
    """`kind` is one of `?*+@!`."""

    kind: str
    choices: tuple[tuple[Piece, ...], ...]


Piece = Character | Star | Group


class Found(NamedTuple):
    """A match, read as one of `re` is."""

    text: str
    low: int
    high: int

    def start(self) -> int:
        return self.low

    def end(self) -> int:
        return self.high

    def group(self) -> str:
        return self.text[self.low : self.high]


class Extended(NamedTuple):
    """A pattern that has groups, with the methods of `re.Pattern` that shells need; `spend` is charged for its work."""

    pieces: tuple[Piece, ...]
    greedy: bool
    spend: Spend

    def fullmatch(self, text: str, start: int = 0) -> Found | None:
        ends = _ends(self.pieces, text, frozenset((start,)), self.spend)
        return Found(text, start, len(text)) if len(text) in ends else None

    def match(self, text: str, start: int = 0) -> Found | None:
        ends = _ends(self.pieces, text, frozenset((start,)), self.spend)
        if not ends:
            return None
        return Found(text, start, max(ends) if self.greedy else min(ends))

    def search(self, text: str, start: int = 0) -> Found | None:
        for place in range(start, len(text) + 1):
            found = self.match(text, place)
            if found is not None:
                return found
        return None


def _ends(pieces: Sequence[Piece], text: str, places: Places, spend: Spend) -> Places:
    for piece in pieces:
        if not places:
            break
        spend(4 + len(places))
        if isinstance(piece, Character):
            fits = piece.expression.match
            places = frozenset(place + 1 for place in places if fits(text, place))
        elif isinstance(piece, Star):
            places = _from(min(places), text, spend)
        else:
            places = _after_group(piece, text, places, spend)
    return places


def _after_group(group: Group, text: str, places: Places, spend: Spend) -> Places:
    if group.kind == "!":
        # What is left out depends on where one begins, so each beginning is looked at by itself.
        kept: set[int] = set()
        for place in sorted(places):
            kept |= _from(place, text, spend) - _choices(group, text, frozenset((place,)), spend)
        return frozenset(kept)
    ends = _choices(group, text, places, spend)
    if group.kind in "*+":
        fresh = ends - places if group.kind == "*" else ends
        while fresh := _choices(group, text, fresh, spend) - ends:
            ends |= fresh
    return ends | places if group.kind in "?*" else ends


def _choices(group: Group, text: str, places: Places, spend: Spend) -> Places:
    ends: Places = frozenset()
    for choice in group.choices:
        ends |= _ends(choice, text, places, spend)
    return ends


def _from(place: int, text: str, spend: Spend) -> Places:
    spend(1 + ((len(text) - place) >> 4))
    return frozenset(range(place, len(text) + 1))
