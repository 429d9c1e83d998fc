"""split: split a file into pieces."""

from __future__ import annotations

from collections.abc import Iterator

from runners.sim.commands import children
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import quoted, size
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.commands.streams import Buffer
from runners.text import is_digits

_LONG = (
    "suffix-length=/a", "additional-suffix=", "bytes=/b", "line-bytes=/C", "elide-empty-files/e", "filter=",
    "lines=/l", "number=/n", "numeric-suffixes=?", "hex-suffixes=?", "separator=/t", "unbuffered/u", "verbose",
)  # fmt: skip
_USAGE = (
    "Usage: split [OPTION]... [FILE [PREFIX]]\n"
    "Output pieces of FILE to PREFIXaa, PREFIXab, ...; default size is 1000 lines."
)
_ALPHABETS = {"a": "abcdefghijklmnopqrstuvwxyz", "d": "0123456789", "x": "0123456789abcdef"}


def main(ctx: Context) -> int:
    options = parse(ctx, "a:b:C:del:n:t:ux", _LONG, usage=_USAGE)
    ways = [name for name, _ in options.given if name in ("b", "C", "l", "n")]
    if len(ways) > 1:
        usage_error(ctx, "cannot split in more than one way")
    if len(options.operands) > 2:
        usage_error(ctx, f"extra operand ‘{options.operands[2]}’")
    name = options.operands[0] if options.operands else "-"
    prefix = options.operands[1] if len(options.operands) > 1 else "x"
    way = ways[0] if ways else "l"
    amount = _amount(ctx, way, options.value(way) or "1000")
    try:
        data = ctx.open(name).read()
    except OSError as error:
        problem = f"cannot open {quoted(name)} for reading: {error.strerror}"
        ctx.die(f"{name}: read error: {error.strerror}" if error.errno == 21 else problem)
    ctx.spend(1 + (len(data) >> 9))
    end = (options.value("t") or "\n").encode("utf-8", "surrogateescape")
    if way == "n":
        return _chunks(ctx, options, data, prefix, end)
    pieces = {"b": _by_bytes, "C": _by_line_bytes, "l": _by_lines}[way](data, amount, end)
    return _write(ctx, options, prefix, pieces)


def _amount(ctx: Context, way: str, text: str) -> int:
    if way == "n":
        return 0
    found = size(text)
    what = "lines" if way == "l" else "bytes"
    if found is None:
        ctx.die(f"invalid number of {what}: ‘{text}’")
    if found == 0:
        ctx.die(f"invalid number of {what}: ‘{text}’: Numerical result out of range")
    return found


def _by_bytes(data: bytes, amount: int, _end: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), amount):
        yield data[start : start + amount]


def _lines(data: bytes, end: bytes) -> list[bytes]:
    pieces = data.split(end)
    last = pieces.pop()
    return [piece + end for piece in pieces] + ([last] if last else [])


def _by_lines(data: bytes, amount: int, end: bytes) -> Iterator[bytes]:
    lines = _lines(data, end)
    for start in range(0, len(lines), amount):
        yield b"".join(lines[start : start + amount])


def _by_line_bytes(data: bytes, amount: int, end: bytes) -> Iterator[bytes]:
    """As many whole lines as fit; longer lines are cut."""
    piece = b""
    for line in _lines(data, end):
        if piece and len(piece) + len(line) > amount:
            yield piece
            piece = b""
        while len(line) > amount:
            yield line[:amount]
            line = line[amount:]
        piece += line
    if piece:
        yield piece


def _chunks(ctx: Context, options: Options, data: bytes, prefix: str, end: bytes) -> int:
    """-n: N, K/N, l/N, l/K/N, r/N, r/K/N."""
    text = options.value("n") or ""
    kind, *rest = text.split("/") if text[:1] in "lr" else ("", *text.split("/"))
    numbers = [int(part) if is_digits(part) else 0 for part in rest]
    if not 1 <= len(numbers) <= 2 or not all(numbers):
        ctx.die(f"invalid number of chunks: ‘{rest[-1] if rest else text}’")
    total = numbers[-1]
    if kind == "r":
        lines = _lines(data, end)
        pieces = [b"".join(lines[start::total]) for start in range(total)]
    else:
        base = max(len(data) // total, 1)
        ends = [min(base * (number + 1), len(data)) for number in range(total - 1)] + [len(data)]
        pieces = _whole_lines(data, ends, end) if kind == "l" else [
            data[(ends[number - 1] if number else 0) : ends[number]] for number in range(total)
        ]  # fmt: skip
    if len(numbers) == 2:
        if numbers[0] > total:
            ctx.die(f"invalid chunk number: ‘{numbers[0]}’")
        ctx.stdout.write(pieces[numbers[0] - 1])
        return 0
    if options.has("e"):
        pieces = [piece for piece in pieces if piece]
    return _write(ctx, options, prefix, iter(pieces))


def _whole_lines(data: bytes, ends: list[int], end: bytes) -> list[bytes]:
    """A line belongs to the chunk in which it begins."""
    pieces = [b""] * len(ends)
    position = 0
    chunk = 0
    for line in _lines(data, end):
        while position >= ends[chunk] and chunk < len(ends) - 1:
            chunk += 1
        pieces[chunk] += line
        position += len(line)
    return pieces


def _write(ctx: Context, options: Options, prefix: str, pieces: Iterator[bytes]) -> int:
    kind = "a"
    start = 0
    for name, value in options.given:
        if name in ("d", "numeric-suffixes"):
            kind, start = "d", int(value) if value and is_digits(value) else 0
        elif name in ("x", "hex-suffixes"):
            kind, start = "x", int(value, 16) if value else 0
    alphabet = _ALPHABETS[kind]
    fixed = options.value("a")
    length = int(fixed) if fixed and is_digits(fixed) and fixed != "0" else 2
    command = options.value("filter")
    for number, piece in enumerate(pieces, start):
        ctx.spend(2)
        suffix = _suffix(alphabet, number, length, widening=fixed is None or fixed == "0")
        if suffix is None:
            ctx.die("output file suffixes exhausted")
        name = f"{prefix}{suffix}{options.value('additional-suffix') or ''}"
        if command is not None:
            ctx.environment["FILE"] = name
            status = children.shell(ctx, command, stdin=Buffer(piece))
            if status:
                ctx.die(f"with FILE={name}, exit {status} from command: {command}")
            continue
        if options.has("verbose"):
            ctx.line(f"creating file {quoted(name)}")
        try:
            out = ctx.create(name)
        except OSError as error:
            ctx.die(f"{name}: {error.strerror}")
        try:
            out.write(piece)
        except OSError as error:
            ctx.die(f"{name}: {error.strerror}")
        children.finish(ctx, out)
    return 0


def _suffix(alphabet: str, number: int, length: int, *, widening: bool) -> str | None:
    """The suffix of a piece. Where its length is not fixed, it grows by two when the last first letter is reached."""
    base = len(alphabet)
    head = ""
    if widening:
        room = base**length - base ** (length - 1)
        while number >= room:
            number -= room
            head += alphabet[-1]
            length += 1
            room = base**length - base ** (length - 1)
    elif number >= base**length:
        return None
    digits = ""
    for _ in range(length):
        digits = alphabet[number % base] + digits
        number //= base
    return head + digits
