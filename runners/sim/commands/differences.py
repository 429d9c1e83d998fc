"""The differing stretches of two sequences (Myers' greedy algorithm)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Hunk(NamedTuple):
    """left[low:high] was replaced by right[other_low:other_high]."""

    low: int
    high: int
    other_low: int
    other_high: int


def matching(left: Sequence[bytes], right: Sequence[bytes], spend: Callable[[int], None]) -> list[Hunk]:
    """The shortest edit script as hunks, in order. Source: E. Myers, An O(ND) Difference Algorithm, 1986."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    first, second = left[start : len(left) - end], right[start : len(right) - end]
    hunks: list[Hunk] = []
    for low, high, other_low, other_high in _edits(first, second, spend):
        hunks.append(Hunk(low + start, high + start, other_low + start, other_high + start))
    return [_slide(hunk, left, right) for hunk in hunks]


def _slide(hunk: Hunk, left: Sequence[bytes], right: Sequence[bytes]) -> Hunk:
    """Move a pure insertion or deletion down as far as it goes, as GNU diff shows it."""
    low, high, other_low, other_high = hunk
    if low == high:
        while (
            other_high < len(right)
            and right[other_low] == right[other_high]
            and low < len(left)
            and left[low] == right[other_high]
        ):
            low, high, other_low, other_high = low + 1, high + 1, other_low + 1, other_high + 1
    elif other_low == other_high:
        while (
            high < len(left) and left[low] == left[high] and other_low < len(right) and right[other_low] == left[high]
        ):
            low, high, other_low, other_high = low + 1, high + 1, other_low + 1, other_high + 1
    return Hunk(low, high, other_low, other_high)


def _edits(
    left: Sequence[bytes], right: Sequence[bytes], spend: Callable[[int], None]
) -> list[tuple[int, int, int, int]]:
    size, other = len(left), len(right)
    reach = {1: 0}
    history: list[dict[int, int]] = []
    for distance in range(size + other + 1):
        history.append(dict(reach))
        spend(distance + 1)
        for diagonal in range(-distance, distance + 1, 2):
            if diagonal == -distance or (diagonal != distance and reach[diagonal - 1] < reach[diagonal + 1]):
                x = reach[diagonal + 1]
            else:
                x = reach[diagonal - 1] + 1
            y = x - diagonal
            while x < size and y < other and left[x] == right[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= size and y >= other:
                return _trace(history, size, other)
    return []


def _trace(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int, int]]:
    steps: list[tuple[int, int, int, int]] = []
    for distance in range(len(history) - 1, 0, -1):
        reach = history[distance]
        diagonal = x - y
        if diagonal == -distance or (diagonal != distance and reach[diagonal - 1] < reach[diagonal + 1]):
            before = diagonal + 1
        else:
            before = diagonal - 1
        old_x = reach[before]
        old_y = old_x - before
        steps.append((old_x, old_x + (before < diagonal), old_y, old_y + (before > diagonal)))
        x, y = old_x, old_y
    joined: list[tuple[int, int, int, int]] = []
    for low, high, other_low, other_high in reversed(steps):
        if joined and joined[-1][1] == low and joined[-1][3] == other_low:
            joined[-1] = (joined[-1][0], high, joined[-1][2], other_high)
        else:
            joined.append((low, high, other_low, other_high))
    return joined
