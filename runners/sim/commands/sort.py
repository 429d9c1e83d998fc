"""sort: sort lines of text."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, inputs, lines
from runners.sim.commands.options import parse
from runners.sim.machine import mix

_NUMBER = re.compile(rb"\s*(-?)(\d*)(?:\.(\d*))?")
_GENERAL = re.compile(rb"\s*[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)", re.I)
_HUMAN = b" KMGTPEZY"
_MONTHS = {name: number for number, name in enumerate(b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)}
_KEY = re.compile(r"(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*)(?:,(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*))?")


class Key(NamedTuple):
    """One -k: fields and characters count from 1; `end_field` 0 means the end of the line."""

    field: int
    char: int
    end_field: int
    end_char: int
    flags: str
    skip_start: bool
    skip_end: bool


def _number(data: bytes) -> tuple[int, bytes, bytes] | tuple[int]:
    match = _NUMBER.match(data)
    assert match is not None
    whole = match.group(2).lstrip(b"0")
    fraction = (match.group(3) or b"").rstrip(b"0")
    if not whole and not fraction:
        return (0,)
    size = len(whole)
    if match.group(1):
        # Negative: larger magnitudes come first, so every part is turned around.
        return (-1, bytes([255 - min(size, 255)]), bytes(255 - byte for byte in whole + b"." + fraction) + b"\xff")
    return (1, bytes([min(size, 255)]), whole + b"." + fraction)


def _general(data: bytes) -> tuple[int, float]:
    match = _GENERAL.match(data)
    if match is None:
        return (0, 0.0)
    value = float(match.group())
    return (1, 0.0) if value != value else (2, value)


def _human(data: bytes) -> tuple[int, int, float]:
    match = re.match(rb"\s*(-?)(\d*\.?\d*)([KkMGTPEZY]?)", data)
    assert match is not None
    number = float(match.group(2)) if match.group(2) not in (b"", b".") else 0.0
    power = _HUMAN.find(match.group(3).upper()) if match.group(3) else 0
    sign = -1 if match.group(1) and number else 1 if number else 0
    return (sign, sign * power, sign * number)


def version_key(data: bytes) -> tuple[Any, ...]:
    """The order of `sort -V`: digits as numbers, `~` before everything, letters before the rest."""

    def order(text: bytes) -> tuple[int, ...]:
        return (*(-1 if byte == 126 else byte if chr(byte).isalpha() else byte + 256 for byte in text), 0)

    match = re.search(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*)*$", data)
    stem = data[: match.start()] if match and match.start() else data
    parts: list[Any] = []
    for part in (stem, data):
        pieces = re.findall(rb"(\D*)(\d*)", part)
        parts.append(tuple((order(text), int(digits or 0)) for text, digits in pieces))
    return tuple(parts)


def _month(data: bytes) -> int:
    return _MONTHS.get(data.lstrip()[:3].upper(), 0)


_CONVERT: dict[str, Callable[[bytes], Any]] = {
    "n": _number, "g": _general, "h": _human, "V": version_key, "M": _month,
}  # fmt: skip


def _conversion(flags: str, seed: str) -> Callable[[bytes], Any]:
    """A key function for one piece of a line."""
    for letter in "nghVM":
        if letter in flags:
            return _CONVERT[letter]
    if "R" in flags:
        return lambda data: mix(seed + data.hex())
    steps: list[Callable[[bytes], bytes]] = []
    if "d" in flags:
        steps.append(lambda data: re.sub(rb"[^A-Za-z0-9 \t]", b"", data))
    if "i" in flags:
        steps.append(lambda data: re.sub(rb"[^ -~]", b"", data))
    if "f" in flags:
        steps.append(bytes.upper)
    if not steps:
        return lambda data: data
    return lambda data: functools.reduce(lambda value, step: step(value), steps, data)


def _fields(line: bytes, separator: bytes | None) -> list[tuple[int, int]]:
    """Where each field begins and ends. Without a separator, blanks belong to the field behind them."""
    if separator is not None:
        spans = []
        start = 0
        for piece in line.split(separator):
            spans.append((start, start + len(piece)))
            start += len(piece) + 1
        return spans
    return [match.span() for match in re.finditer(rb"[ \t]*[^ \t]+|[ \t]+$", line)]


def _extract(line: bytes, key: Key, separator: bytes | None) -> bytes:
    spans = _fields(line, separator)
    if key.field > len(spans):
        return b""
    start, field_end = spans[key.field - 1]
    if key.skip_start:
        while start < len(line) and line[start : start + 1] in (b" ", b"\t"):
            start += 1
    start = min(start + key.char - 1, len(line) if key.end_field != key.field else max(field_end, start))
    if key.end_field == 0:
        return line[start:]
    if key.end_field > len(spans):
        return line[start:]
    low, high = spans[key.end_field - 1]
    if key.end_char:
        if key.skip_end:
            while low < high and line[low : low + 1] in (b" ", b"\t"):
                low += 1
        high = min(low + key.end_char, len(line))
    return line[start:high]


def _parse_key(ctx: Context, text: str, common: str) -> Key:
    match = _KEY.fullmatch(text)
    if match is None:
        ctx.die(f"invalid number at field start: invalid count at start of ‘{text}’", 2)
    field, char, first, end, end_char, second = match.groups()
    if int(field) == 0:
        ctx.die(f"field number is zero: invalid field specification ‘{text}’", 2)
    own = first + (second or "")
    flags = own.replace("b", "") or (common.replace("b", "") if "b" not in own else "")
    inherits = not own
    return Key(
        int(field), int(char or 1), int(end or 0), int(end_char or 0), flags,
        "b" in first or (inherits and "b" in common), "b" in (second or "") or (inherits and "b" in common),
    )  # fmt: skip


def main(ctx: Context) -> int:
    options = parse(
        ctx, "bcCdfghik:mMno:rRsS:t:T:uVz",
        ["ignore-leading-blanks/b", "check=?{quiet|silent,diagnose-first}/c", "dictionary-order/d", "ignore-case/f",
         "general-numeric-sort/g", "human-numeric-sort/h", "ignore-nonprinting/i", "key=/k",
         "merge/m", "month-sort/M", "numeric-sort/n",
         "output=/o", "reverse/r", "random-sort/R", "stable/s", "buffer-size=/S", "field-separator=/t",
         "temporary-directory=/T", "unique/u", "version-sort/V", "zero-terminated/z", "parallel=",
         "sort={general-numeric,human-numeric,month,numeric,random,version}"],
        status=2, usage="Usage: sort [OPTION]... [FILE]...\n"
        "Write sorted concatenation of all FILE(s) to standard output.",
    )  # fmt: skip
    has = options.has
    common = "".join(letter for letter in "bdfgiMhnRV" if has(letter))
    named = {"numeric": "n", "general-numeric": "g", "human-numeric": "h", "month": "M", "version": "V", "random": "R"}
    common += named.get(options.value("sort") or "", "")
    separator_text = options.value("t")
    separator = None
    if separator_text is not None:
        separator = b"\0" if separator_text == "\\0" else separator_text.encode("utf-8", "surrogateescape")
        if len(separator_text) != 1 and separator_text != "\\0":
            ctx.die("empty tab" if not separator_text else f"multi-character tab ‘{separator_text}’", 2)
    keys = [_parse_key(ctx, text, common + ("r" if has("r") else "")) for text in options.values("k")]
    end = b"\0" if has("z") else b"\n"
    spend = ctx.machine.budget.spend
    rows: list[bytes] = []
    failed: list[str] = []
    for item in inputs(ctx, options.operands, failed, message="cannot read: {name}: {problem}"):
        try:
            if end == b"\0":
                rows += [piece for piece in item.reader.read().split(b"\0") if piece]
            else:
                for line in lines(ctx, item.reader):
                    spend(3)
                    rows.append(line[:-1] if line.endswith(b"\n") else line)
        except OSError as error:
            if not error.filename:
                raise
            ctx.err(f"read failed: {item.name}: {describe(error)}")
            failed.append(item.name)
        if failed:
            break
    if failed:
        return 2
    whole = _conversion(common, f"{ctx.machine.seed}:sort:{ctx.pid}:")
    converted = [(key, _conversion(key.flags, f"{ctx.machine.seed}:sort:{ctx.pid}:")) for key in keys]
    backwards = has("r")

    def compared(row: bytes) -> tuple[Any, ...]:
        if not keys:
            return (whole(row.lstrip(b" \t") if "b" in common else row),)
        return tuple(convert(_extract(row, key, separator)) for key, convert in converted)

    decorated = [(compared(row), row) for row in rows]
    if has("c", "C"):
        return _check(ctx, options.operands, decorated, keys, backwards, has("u"), has("C"))
    for index in range(len(keys) - 1, -1, -1) if keys else [0]:
        reverse = ("r" in keys[index].flags) if keys else backwards
        if index == (len(keys) - 1 if keys else 0) and not has("u", "s"):
            # The last resort is the whole line; with no key of another kind it is the same comparison.
            decorated.sort(key=lambda pair: pair[1], reverse=backwards)
        decorated.sort(key=lambda pair, index=index: pair[0][index], reverse=reverse)  # type: ignore[misc]
    if has("u"):
        unique: list[tuple[tuple[Any, ...], bytes]] = []
        for pair in decorated:
            if not unique or unique[-1][0] != pair[0]:
                unique.append(pair)
        decorated = unique
    data = b"".join([row + end for _, row in decorated])
    target = options.value("o")
    if target is not None:
        try:
            ctx.create(target).write(data)
        except OSError as error:
            ctx.die(f"open failed: {target}: {describe(error)}", 2)
    elif data:
        ctx.stdout.write(data)
    return 0


def _check(
    ctx: Context,
    operands: list[str],
    decorated: list[tuple[tuple[Any, ...], bytes]],
    keys: list[Key],
    backwards: bool,
    unique: bool,
    quiet: bool,
) -> int:
    for number, (before, after) in enumerate(itertools.pairwise(decorated), 2):
        left, right = (after[0], before[0]) if backwards and not keys else (before[0], after[0])
        if left > right or (left == right and (unique or (before[1] > after[1] and not keys))):
            if not quiet:
                name = operands[0] if operands else "-"
                ctx.err(f"{name}:{number}: disorder: {after[1].decode('utf-8', 'surrogateescape')}")
            return 1
    return 0
