"""The difference between two sequences of lines: a shortest edit script, chosen among equals as GNU diff does.

The search is Myers' from both ends (E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986); afterwards
each run of changes slides to where it joins others or ends up last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from runners.sim.budget import Budget


class Change(NamedTuple):
    """Lines `first` to `first_end` of the one became `second` to `second_end` of the other (0-based, half-open)."""

    first: int
    first_end: int
    second: int
    second_end: int


def changes(one: Sequence[Hashable], other: Sequence[Hashable], budget: Budget, horizon: int = 0) -> list[Change]:
    """The changes from `one` to `other`, in order. Work is charged to the budget.

    What both begin and end with is set aside before the search, all but `horizon` lines: changes never slide into it.
    """
    budget.spend(1 + ((len(one) + len(other)) >> 2))
    shorter = min(len(one), len(other))
    before = 0
    while before < shorter and one[before] == other[before]:
        before += 1
    after = 0
    while after < shorter - before and one[-1 - after] == other[-1 - after]:
        after += 1
    before, after = max(before - horizon, 0), max(after - horizon, 0)
    script = _changes(one[before : len(one) - after], other[before : len(other) - after], budget)
    return [Change(*(position + before for position in change)) for change in script]


def _changes(one: Sequence[Hashable], other: Sequence[Hashable], budget: Budget) -> list[Change]:
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(line, len(numbers)) for line in one]
    second = [numbers.setdefault(line, len(numbers)) for line in other]
    # A line that the other side does not have at all is changed for sure; only the rest is searched.
    there, here = set(second), set(first)
    kept_first = [index for index, line in enumerate(first) if line in there]
    kept_second = [index for index, line in enumerate(second) if line in here]
    search = _Search([first[index] for index in kept_first], [second[index] for index in kept_second], budget)
    search.compare(0, len(kept_first), 0, len(kept_second))
    deleted, inserted = [True] * len(first), [True] * len(second)
    for index, changed in zip(kept_first, search.deleted, strict=True):
        deleted[index] = changed
    for index, changed in zip(kept_second, search.inserted, strict=True):
        inserted[index] = changed
    _slide(first, deleted, inserted)
    _slide(second, inserted, deleted)
    return _script(deleted, inserted)


class _Search:
    """Marks what is deleted from `xs` and inserted from `ys`."""

    def __init__(self, xs: list[int], ys: list[int], budget: Budget) -> None:
        self.xs = xs
        self.ys = ys
        self.budget = budget
        self.deleted = [False] * len(xs)
        self.inserted = [False] * len(ys)

    def compare(self, low_x: int, high_x: int, low_y: int, high_y: int) -> None:
        """Compare xs[low_x:high_x] with ys[low_y:high_y], halving at a point that a shortest script passes."""
        xs, ys = self.xs, self.ys
        pending = [(low_x, high_x, low_y, high_y)]
        while pending:
            low_x, high_x, low_y, high_y = pending.pop()
            while low_x < high_x and low_y < high_y and xs[low_x] == ys[low_y]:
                low_x, low_y = low_x + 1, low_y + 1
            while low_x < high_x and low_y < high_y and xs[high_x - 1] == ys[high_y - 1]:
                high_x, high_y = high_x - 1, high_y - 1
            if low_x == high_x:
                self.inserted[low_y:high_y] = [True] * (high_y - low_y)
            elif low_y == high_y:
                self.deleted[low_x:high_x] = [True] * (high_x - low_x)
            else:
                x, y = self._middle(low_x, high_x, low_y, high_y)
                pending += [(x, high_x, y, high_y), (low_x, x, low_y, y)]

    def _middle(self, low_x: int, high_x: int, low_y: int, high_y: int) -> tuple[int, int]:
        """Where the furthest paths from both ends meet. Diagonals are numbered x - y."""
        xs, ys = self.xs, self.ys
        least, most = low_x - high_y, high_x - low_y
        ahead, back = low_x - low_y, high_x - high_y
        odd = (ahead - back) % 2 == 1
        far = high_x + len(ys) + 2
        forward, backward = {ahead: low_x}, {back: high_x}
        ahead_low = ahead_high = ahead
        back_low = back_high = back
        while True:
            self.budget.spend(1 + ((ahead_high - ahead_low) >> 1))
            if ahead_low > least:
                ahead_low -= 1
                forward[ahead_low - 1] = -1
            else:
                ahead_low += 1
            if ahead_high < most:
                ahead_high += 1
                forward[ahead_high + 1] = -1
            else:
                ahead_high -= 1
            for diagonal in range(ahead_high, ahead_low - 1, -2):
                below, above = forward[diagonal - 1], forward[diagonal + 1]
                x = above if below < above else below + 1
                y = x - diagonal
                while x < high_x and y < high_y and xs[x] == ys[y]:
                    x, y = x + 1, y + 1
                forward[diagonal] = x
                if odd and back_low <= diagonal <= back_high and backward[diagonal] <= x:
                    return x, y
            if back_low > least:
                back_low -= 1
                backward[back_low - 1] = far
            else:
                back_low += 1
            if back_high < most:
                back_high += 1
                backward[back_high + 1] = far
            else:
                back_high -= 1
            for diagonal in range(back_high, back_low - 1, -2):
                below, above = backward[diagonal - 1], backward[diagonal + 1]
                x = below if below < above else above - 1
                y = x - diagonal
                while x > low_x and y > low_y and xs[x - 1] == ys[y - 1]:
                    x, y = x - 1, y - 1
                backward[diagonal] = x
                if not odd and ahead_low <= diagonal <= ahead_high and x <= forward[diagonal]:
                    return x, y


def _slide(lines: list[int], changed: list[bool], other: list[bool]) -> None:
    """Move each run of changes of one side without changing its meaning: back onto earlier runs, then forward as far as
    it goes, and last back to where the other side changes too."""
    total = len(lines)
    flags = [*changed, False]
    across = [False, *other, False]
    index, place = 0, 1
    while True:
        while index < total and not flags[index]:
            while across[place]:
                place += 1
            place += 1
            index += 1
        if index == total:
            break
        start = index
        while flags[index]:
            index += 1
        while across[place]:
            place += 1
        while True:
            length = index - start
            while start and lines[start - 1] == lines[index - 1]:
                start, index = start - 1, index - 1
                flags[start], flags[index] = True, False
                while start and flags[start - 1]:
                    start -= 1
                place -= 1
                while across[place]:
                    place -= 1
            matched = index if across[place - 1] else total
            while index != total and lines[start] == lines[index]:
                flags[start], flags[index] = False, True
                start, index = start + 1, index + 1
                while flags[index]:
                    index += 1
                place += 1
                while across[place]:
                    matched = index
                    place += 1
            if length == index - start:
                break
        while matched < index:
            start, index = start - 1, index - 1
            flags[start], flags[index] = True, False
            place -= 1
            while across[place]:
                place -= 1
    changed[:] = flags[:total]


def _script(deleted: list[bool], inserted: list[bool]) -> list[Change]:
    found: list[Change] = []
    first = second = 0
    while first < len(deleted) or second < len(inserted):
        if (first < len(deleted) and deleted[first]) or (second < len(inserted) and inserted[second]):
            start = first, second
            while first < len(deleted) and deleted[first]:
                first += 1
            while second < len(inserted) and inserted[second]:
                second += 1
            found.append(Change(start[0], first, start[1], second))
        else:
            first, second = first + 1, second + 1
    return found
