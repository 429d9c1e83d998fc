"""join: join lines of two files on a common field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import lines
from runners.sim.commands.options import Options, missing_operand, parse, usage_error
from runners.text import is_digits

_LONG = ("ignore-case/i", "check-order", "nocheck-order", "header", "zero-terminated/z")
_USAGE = (
    "Usage: join [OPTION]... FILE1 FILE2\n"
    "For each pair of input lines with identical join fields, write a line to standard output."
)


class _Line(NamedTuple):
    key: bytes
    fields: Sequence[bytes]
    text: bytes


class _Join:
    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        separator = options.value("t")
        if separator is not None and len(separator) > 1 and separator not in ("\\0", "\\t"):
            ctx.die(f"multi-character tab ‘{separator}’")
        self.separator = (
            None if separator is None else {"\\0": b"\0"}.get(separator, separator.encode("utf-8", "surrogateescape"))
        )
        self.empty = (options.value("e") or "").encode("utf-8", "surrogateescape")
        self.fold = options.has("i")
        shared = options.value("j")
        self.places = (
            _field(ctx, options.value("1") or shared or "1"), _field(ctx, options.value("2") or shared or "1"),
        )  # fmt: skip
        self.form: list[tuple[int, int]] | None = None
        text = options.value("o")
        self.auto = text == "auto"
        if text is not None and not self.auto:
            self.form = [self._entry(item) for item in text.replace(",", " ").split()]
        self.out: list[bytes] = []

    def _entry(self, text: str) -> tuple[int, int]:
        side, _, field = text.partition(".")
        if text == "0":
            return 0, 0
        if side not in ("1", "2") or not is_digits(field) or field == "0":
            if side not in ("1", "2"):
                self.ctx.die(f"invalid file number in field spec: ‘{text}’")
            self.ctx.die(f"invalid field number: ‘{field}’")
        return int(side), int(field) - 1

    def read(self, name: str, side: int) -> list[_Line]:
        try:
            raw = [line.rstrip(b"\n") for line in lines(self.ctx, self.ctx.open(name))]
        except OSError as error:
            self.ctx.die(f"{name}: {error.strerror}")
        found = []
        for line in raw:
            fields = _cut(line, self.separator)
            place = self.places[side]
            key = fields[place] if place < len(fields) else b""
            found.append(_Line(key.lower() if self.fold else key, fields, line))
        return found

    def write(self, one: _Line | None, other: _Line | None, counts: tuple[int, int]) -> None:
        self.ctx.spend(1)
        present = one or other
        assert present is not None
        place = self.places[0] if one is not None else self.places[1]
        key = present.fields[place] if place < len(present.fields) else b""
        cells: list[bytes] = []
        if self.form is not None:
            for side, index in self.form:
                line = (present, one, other)[side]
                value = (
                    key if side == 0 else line.fields[index] if line is not None and index < len(line.fields) else b""
                )
                cells.append(value or self.empty)
        else:
            cells.append(key or self.empty)
            for side, line in enumerate((one, other)):
                fields = () if line is None else line.fields
                total = counts[side] if self.auto else len(fields)
                for index in range(total):
                    if index != self.places[side]:
                        cells.append((fields[index] if index < len(fields) else b"") or self.empty)
        self.out.append((self.separator or b" ").join(cells) + b"\n")


def _cut(line: bytes, separator: bytes | None) -> list[bytes]:
    if separator is None:
        return line.split()
    return line.split(separator) if separator else [line]


def _field(ctx: Context, text: str) -> int:
    if not is_digits(text) or text == "0":
        ctx.die(f"invalid field number: ‘{text}’")
    return int(text) - 1


class _Order:
    """Watches that the files are sorted. Until some line has no partner, order is of no consequence."""

    def __init__(
        self, ctx: Context, sides: tuple[list[_Line], list[_Line]], names: list[str], options: Options
    ) -> None:
        self.ctx = ctx
        self.sides = sides
        self.names = names
        self.strict = options.has("check-order")
        self.off = options.has("nocheck-order")
        self.unpaired = self.strict
        self.seen = [False, False]
        self.complaints: list[str] = []

    def reached(self, side: int, place: int) -> None:
        """A line is read and compared with the one before it."""
        lines = self.sides[side]
        if self.off or self.seen[side] or not self.unpaired or not 0 < place < len(lines):
            return
        if lines[place].key < lines[place - 1].key:
            text = lines[place].text.decode("utf-8", "replace")
            message = f"{self.names[side]}:{place + 1}: is not sorted: {text}"
            if self.strict:
                self.ctx.die(message)
            self.seen[side] = True
            self.complaints.append(message)


def main(ctx: Context) -> int:
    options = parse(ctx, "a:e:i1:2:j:o:t:v:z", _LONG, usage=_USAGE)
    operands = options.operands
    if not operands:
        missing_operand(ctx)
    if len(operands) == 1:
        usage_error(ctx, f"missing operand after ‘{operands[0]}’")
    if len(operands) > 2:
        usage_error(ctx, f"extra operand ‘{operands[2]}’")
    for value in (*options.values("a"), *options.values("v")):
        if value not in ("1", "2"):
            ctx.die(f"invalid field number: ‘{value}’")
    join = _Join(ctx, options)
    sides = join.read(operands[0], 0), join.read(operands[1], 1)
    alone = {*options.values("a"), *options.values("v")}
    counts = tuple(len(side[0].fields) if side else 0 for side in sides)
    assert len(counts) == 2
    if options.has("header") and sides[0] and sides[1]:
        join.write(sides[0].pop(0), sides[1].pop(0), counts)
    first = second = 0
    one, other = sides
    order = _Order(ctx, sides, operands, options)
    while first < len(one) or second < len(other):
        left = one[first].key if first < len(one) else None
        right = other[second].key if second < len(other) else None
        if right is None or (left is not None and left < right):
            if "1" in alone:
                join.write(one[first], None, counts)
            first += 1
            order.reached(0, first)
            order.unpaired |= right is not None
        elif left is None or right < left:
            if "2" in alone:
                join.write(None, other[second], counts)
            second += 1
            order.reached(1, second)
            order.unpaired |= left is not None
        else:
            end_first, end_second = first, second
            while end_first < len(one) and one[end_first].key == left:
                end_first += 1
            while end_second < len(other) and other[end_second].key == right:
                end_second += 1
            if not options.has("v"):
                for row in one[first:end_first]:
                    for match in other[second:end_second]:
                        join.write(row, match, counts)
            for place in range(first + 1, end_first + 1):
                order.reached(0, place)
            for place in range(second + 1, end_second + 1):
                order.reached(1, place)
            first, second = end_first, end_second
    ctx.stdout.write(b"".join(join.out))
    for message in order.complaints:
        ctx.err(message)
    if order.complaints:
        ctx.err("input is not in sorted order")
    return int(bool(order.complaints))
