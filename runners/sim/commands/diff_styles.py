"""How diff shows changes: its normal, unified, context and side-by-side output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runners.sim.commands.diffing import Change

_NO_NEWLINE = b"\n\\ No newline at end of file\n"


class Side(NamedTuple):
    """One file: its lines with their newlines, and the label and time that headers show."""

    lines: Sequence[bytes]
    label: bytes


def _shown(prefix: bytes, line: bytes) -> bytes:
    return prefix + line if line.endswith(b"\n") else prefix + line + _NO_NEWLINE


def _span(start: int, end: int) -> str:
    """Lines as the normal format numbers them: `3` or `3,5`; the line before where there are none."""
    return f"{start + 1},{end}" if end - start > 1 else str(end)


def normal(one: Side, other: Side, script: Sequence[Change]) -> bytes:
    out = []
    for change in script:
        kind = "c"
        if change.first == change.first_end:
            kind = "a"
        elif change.second == change.second_end:
            kind = "d"
        first, second = _span(change.first, change.first_end), _span(change.second, change.second_end)
        out.append(f"{first}{kind}{second}\n".encode("utf-8", "surrogateescape"))
        out += [_shown(b"< ", line) for line in one.lines[change.first : change.first_end]]
        if kind == "c":
            out.append(b"---\n")
        out += [_shown(b"> ", line) for line in other.lines[change.second : change.second_end]]
    return b"".join(out)


def _hunks(script: Sequence[Change], context: int) -> list[list[Change]]:
    """Changes whose contexts touch stand together."""
    hunks: list[list[Change]] = []
    for change in script:
        if hunks and change.first - hunks[-1][-1].first_end <= 2 * context:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


class _Window(NamedTuple):
    first: int
    first_end: int
    second: int
    second_end: int


def _window(hunk: list[Change], one: Side, other: Side, context: int) -> _Window:
    before = min(context, hunk[0].first, hunk[0].second)
    after = min(context, len(one.lines) - hunk[-1].first_end, len(other.lines) - hunk[-1].second_end)
    return _Window(
        hunk[0].first - before, hunk[-1].first_end + after, hunk[0].second - before, hunk[-1].second_end + after
    )  # fmt: skip


def unified(one: Side, other: Side, script: Sequence[Change], context: int) -> bytes:
    out = [b"--- " + one.label + b"\n", b"+++ " + other.label + b"\n"]
    for hunk in _hunks(script, context):
        window = _window(hunk, one, other, context)
        first = _unified_span(window.first, window.first_end)
        second = _unified_span(window.second, window.second_end)
        out.append(f"@@ -{first} +{second} @@\n".encode("utf-8", "surrogateescape"))
        position = window.first
        for change in hunk:
            out += [_shown(b" ", line) for line in one.lines[position : change.first]]
            out += [_shown(b"-", line) for line in one.lines[change.first : change.first_end]]
            out += [_shown(b"+", line) for line in other.lines[change.second : change.second_end]]
            position = change.first_end
        out += [_shown(b" ", line) for line in one.lines[position : window.first_end]]
    return b"".join(out)


def _unified_span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(end)
    return f"{start + 1 if length else start},{length}"


def contextual(one: Side, other: Side, script: Sequence[Change], context: int) -> bytes:
    out = [b"*** " + one.label + b"\n", b"--- " + other.label + b"\n"]
    for hunk in _hunks(script, context):
        window = _window(hunk, one, other, context)
        out.append(b"***************\n")
        out.append(f"*** {_context_span(window.first, window.first_end)} ****\n".encode("utf-8", "surrogateescape"))
        if any(change.first < change.first_end for change in hunk):
            out += _half(one.lines, [(c.first, c.first_end, c.second < c.second_end) for c in hunk], window[:2], b"- ")
        out.append(f"--- {_context_span(window.second, window.second_end)} ----\n".encode("utf-8", "surrogateescape"))
        if any(change.second < change.second_end for change in hunk):
            out += _half(
                other.lines, [(c.second, c.second_end, c.first < c.first_end) for c in hunk], window[2:], b"+ "
            )
    return b"".join(out)


def _context_span(start: int, end: int) -> str:
    return f"{start + 1},{end}" if end - start > 1 else str(end)


def _half(
    lines: Sequence[bytes], parts: list[tuple[int, int, bool]], window: tuple[int, ...], mark: bytes
) -> list[bytes]:
    """One file's half of a context hunk: `! ` marks what the other file has in a changed form."""
    out = []
    position = window[0]
    for start, end, both in parts:
        out += [_shown(b"  ", line) for line in lines[position:start]]
        out += [_shown(b"! " if both else mark, line) for line in lines[start:end]]
        position = end
    return out + [_shown(b"  ", line) for line in lines[position : window[1]]]


def side_by_side(one: Side, other: Side, script: Sequence[Change], width: int, common: bool) -> bytes:
    """Two columns. `common`: show also what is the same."""
    # The gutter begins at a tab stop, as the columns are filled with tabs.
    stop = (width + 8 + 3) // 16 * 8 if width > 16 else width // 2
    half = max(0, min(stop - 3, width - stop))
    second = half and stop
    rows: list[tuple[bytes | None, bytes, bytes | None]] = []
    position = 0
    for change in [*script, Change(len(one.lines), len(one.lines), len(other.lines), len(other.lines))]:
        offset = change.second - change.first
        if common:
            for index in range(position, change.first):
                rows.append((one.lines[index], b" ", other.lines[index + offset]))
        left = list(one.lines[change.first : change.first_end])
        right = list(other.lines[change.second : change.second_end])
        paired = min(len(left), len(right))
        rows += [(left[index], b"|", right[index]) for index in range(paired)]
        rows += [(line, b"<", None) for line in left[paired:]]
        rows += [(None, b">", line) for line in right[paired:]]
        position = change.first_end
    return b"".join(_row(left, mark, right, half, second) for left, mark, right in rows)


def _row(left: bytes | None, mark: bytes, right: bytes | None, half: int, second: int) -> bytes:
    text, column = _fitted((left or b"").rstrip(b"\n"), half)
    if mark != b" ":
        middle = (half + second - 1) // 2
        text += _fill(column, middle) + mark
        column = middle + 1
    if right is not None and right != b"\n":
        text += _fill(column, second) + _fitted(right.rstrip(b"\n"), half)[0]
    return text + b"\n"


def _fitted(line: bytes, width: int) -> tuple[bytes, int]:
    """The part of a line that fits, and the column it ends in."""
    out = bytearray()
    column = 0
    for byte in line:
        size = 8 - column % 8 if byte == 9 else 1
        if column + size > width:
            break
        out.append(byte)
        column += size
    return bytes(out), column


def _fill(column: int, target: int) -> bytes:
    """Tabs and blanks from one column to another."""
    out = b""
    while column // 8 * 8 + 8 <= target:
        out += b"\t"
        column = column // 8 * 8 + 8
    return out + b" " * (target - column)
