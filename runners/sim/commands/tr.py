"""tr: translate or delete characters."""

from __future__ import annotations

import re
import string

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error

_CLASSES = {
    "alpha": string.ascii_uppercase + string.ascii_lowercase, "digit": string.digits, "space": "\t\n\v\f\r ",
    "upper": string.ascii_uppercase, "lower": string.ascii_lowercase, "blank": "\t ",
    "alnum": string.digits + string.ascii_uppercase + string.ascii_lowercase,
    "punct": "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum()),
    "print": "".join(chr(code) for code in range(32, 127)), "graph": "".join(chr(code) for code in range(33, 127)),
    "cntrl": "".join(chr(code) for code in (*range(32), 127)), "xdigit": "0123456789ABCDEFabcdef",
}  # fmt: skip
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}


class _Set:
    """The bytes of one operand. `fill`: where a `[c*]` grows; `classes`: where `[:upper:]` and `[:lower:]` stand."""

    def __init__(self, ctx: Context, text: str) -> None:
        self.ctx = ctx
        self.text = text
        self.bytes: list[int] = []
        self.fill: tuple[int, int] | None = None
        self.classes: list[tuple[int, str]] = []
        self._read()

    def _one(self, data: bytes, index: int) -> tuple[int, int]:
        if data[index] != 92 or index + 1 >= len(data):
            return data[index], index + 1
        match = re.compile(rb"[0-7]{1,3}").match(data, index + 1)
        if match is not None:
            return int(match.group(), 8) & 0xFF, match.end()
        return _ESCAPES.get(chr(data[index + 1]), data[index + 1]), index + 2

    def _read(self) -> None:
        data = self.text.encode("utf-8", "surrogateescape")
        index = 0
        while index < len(data):
            named = re.compile(rb"\[:([a-z]*):\]").match(data, index)
            if named is not None:
                name = named.group(1).decode()
                if name not in _CLASSES:
                    self.ctx.die(f"invalid character class ‘{name}’")
                if name in ("upper", "lower"):
                    self.classes.append((len(self.bytes), name))
                self.bytes += _CLASSES[name].encode("utf-8", "surrogateescape")
                index = named.end()
                continue
            repeated = re.compile(rb"\[(\\?.)\*(0?[0-9]*)\]", re.DOTALL).match(data, index)
            if repeated is not None:
                char, _ = self._one(repeated.group(1), 0)
                digits = repeated.group(2).decode()
                count = int(digits, 8 if digits.startswith("0") else 10) if digits else 0
                if count:
                    self.bytes += [char] * min(count, 65536)
                else:
                    self.fill = (len(self.bytes), char)
                index = repeated.end()
                continue
            char, index = self._one(data, index)
            if data[index : index + 1] == b"-" and index + 1 < len(data):
                high, index = self._one(data, index + 1)
                if high < char:
                    self.ctx.die(
                        f"range-endpoints of ‘{chr(char)}-{chr(high)}’ are in reverse collating sequence order"
                    )
                self.bytes += range(char, high + 1)
            else:
                self.bytes.append(char)

    def grown(self, size: int) -> list[int]:
        """Padded to `size`, by its `[c*]` or by its last byte."""
        if self.fill is not None:
            at, char = self.fill
            return [*self.bytes[:at], *[char] * max(size - len(self.bytes), 0), *self.bytes[at:]]
        if len(self.bytes) < size and self.bytes:
            return self.bytes + [self.bytes[-1]] * (size - len(self.bytes))
        return self.bytes


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+cCdst", ["complement/c", "delete/d", "squeeze-repeats/s", "truncate-set1/t"],
        usage="Usage: tr [OPTION]... STRING1 [STRING2]\nTranslate, squeeze, and/or delete characters.",
    )  # fmt: skip
    operands = options.operands
    delete, squeeze = options.has("d"), options.has("s")
    if not operands:
        usage_error(ctx, "missing operand")
    if len(operands) == 1 and ((not delete and not squeeze) or (delete and squeeze)):
        action = (
            "Two strings must be given when translating."
            if not delete
            else ("Two strings must be given when both deleting and squeezing repeats.")
        )
        ctx.err(f"missing operand after ‘{operands[0]}’")
        ctx.stderr.write(f"{action}\nTry 'tr --help' for more information.\n".encode("utf-8", "surrogateescape"))
        return 1
    if len(operands) > 2 or (len(operands) == 2 and delete and not squeeze):
        ctx.err(f"extra operand ‘{operands[-1]}’")
        if delete:
            ctx.stderr.write(b"Only one string may be given when deleting without squeezing repeats.\n")
        ctx.stderr.write(b"Try 'tr --help' for more information.\n")
        return 1
    first = _Set(ctx, operands[0])
    second = _Set(ctx, operands[1]) if len(operands) > 1 else None
    source = first.bytes
    if options.has("c", "C"):
        taken = set(source)
        source = [byte for byte in range(256) if byte not in taken]
    table: bytes | None = None
    removed = b""
    squeezed: set[int] = set()
    if delete:
        removed = bytes(sorted(set(source)))
        squeezed = set(second.bytes) if squeeze and second is not None else set()
    elif second is not None:
        if not second.bytes and second.fill is None and source:
            ctx.die("when not truncating set1, string2 must be non-empty")
        mapping = bytearray(range(256))
        target = second.bytes if options.has("t") else second.grown(len(source))
        for old, new in zip(source, target, strict=False):
            mapping[old] = new
        table = bytes(mapping)
        squeezed = set(target) if squeeze else set()
    else:
        squeezed = set(source)
    previous = -1
    while chunk := ctx.stdin.read(65536):
        ctx.spend(1 + (len(chunk) >> 8))
        data = chunk.translate(table, removed)
        if squeezed:
            ctx.spend(len(data) >> 4)
            kept = bytearray()
            for byte in data:
                if byte != previous or byte not in squeezed:
                    kept.append(byte)
                previous = byte
            data = bytes(kept)
        if data:
            ctx.stdout.write(data)
    return 0
