"""xargs: build and execute command lines from standard input."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.commands import children
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.commands.streams import Buffer
from runners.text import is_digits

_LONG = (
    "null/0", "arg-file=/a", "delimiter=/d", "eof=?/E", "replace=?/I", "max-lines=?/L", "max-args=/n", "max-chars=/s",
    "max-procs=/P", "interactive/p", "open-tty/o", "no-run-if-empty/r", "verbose/t",
    "exit/x", "show-limits", "process-slot-var=",
)  # fmt: skip
_VERSION = "xargs (GNU findutils) 4.9.0"
_USAGE = (
    "Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...\n"
    "Run COMMAND with arguments INITIAL-ARGS and more arguments read from input."
)
_LONGEST_LINE = 131072
_BLANK = frozenset(b" \t")
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v"}


class _Item(NamedTuple):
    """One argument; `ends_line`: it was the last on its line, and the line did not go on after a blank."""

    text: str
    ends_line: bool


class _Runner:
    """Runs the command again and again and keeps the status."""

    def __init__(self, ctx: Context, command: list[str], verbose: bool) -> None:
        self.ctx = ctx
        self.command = command
        self.verbose = verbose
        self.status = 0

    def run(self, argv: list[str]) -> None:
        ctx = self.ctx
        ctx.spend(2)
        if self.verbose:
            ctx.stderr.write((" ".join(argv) + "\n").encode("utf-8", "surrogateescape"))
        try:
            status = children.with_streams(ctx, stdin=Buffer(b"", "/dev/null")).run(argv)
        except OSError as error:
            ctx.err(f"{argv[0]}: {error.strerror}")
            raise CommandExit(127 if error.errno == errno.ENOENT else 126) from None
        if status == 255:
            ctx.die(f"{argv[0]}: exited with status 255; aborting", 124)
        if status > 128:
            ctx.die(f"{argv[0]}: terminated by signal {status - 128}", 125)
        if status:
            self.status = 123


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+0a:d:E:e::i::I:L:l::n:s:P:potrx", _LONG, usage=_USAGE, version=_VERSION
    )  # fmt: skip
    replace, per_line, per_run = _mode(ctx, options)
    command = options.operands or ["echo"]
    runner = _Runner(ctx, command, options.has("t", "p"))
    data = _input(ctx, options)
    delimiter = b"\0" if options.has("0") else None
    if options.value("d") is not None:
        delimiter = _delimiter(ctx, options.value("d") or "")
    if replace is not None:
        for text in _lines(ctx, data) if delimiter is None else _delimited(data, delimiter):
            runner.run([word.replace(replace, text) for word in command])
        return runner.status
    items = _words(ctx, data, options.value("E") or options.value("e")) if delimiter is None else (
        _Item(text, True) for text in _delimited(data, delimiter)
    )  # fmt: skip
    _batches(ctx, options, runner, items, per_line, per_run)
    return runner.status


def _mode(ctx: Context, options: Options) -> tuple[str | None, int | None, int | None]:
    """Which of -I, -L and -n holds: the last one given, with a warning about the one it replaces."""
    names = {"I": "--replace/-I/-i", "i": "--replace/-I/-i", "L": "--max-lines", "l": "--max-lines", "n": "--max-args"}
    replace: str | None = None
    lines: int | None = None
    count: int | None = None
    chosen = ""
    for name, value in options.given:
        if name not in names:
            continue
        kind = {"i": "I", "l": "L"}.get(name, name)
        if chosen and kind != chosen and not (kind == "n" and count is None and value == "1" and chosen == "I"):
            ctx.err(
                f"warning: options {names[chosen]} and {names[kind]} are mutually exclusive, "
                f"ignoring previous {names[chosen]} value"
            )
        if kind == "n" and value == "1" and chosen == "I":
            continue
        replace = lines = count = None
        chosen = kind
        if kind == "I":
            replace = value or "{}"
        elif kind == "L":
            lines = _number(ctx, value or "1", "L")
        else:
            count = _number(ctx, value or "", "n")
    return replace, lines, count


def _number(ctx: Context, text: str, letter: str) -> int:
    if not is_digits(text.lstrip("+-")):
        usage_error(ctx, f'invalid number "{text}" for -{letter} option')
    if int(text) < 1:
        usage_error(ctx, f"value {text} for -{letter} option should be >= 1")
    return int(text)


def _input(ctx: Context, options: Options) -> bytes:
    name = options.value("a")
    if name is None:
        return ctx.stdin.read()
    try:
        return ctx.open(name).read()
    except OSError as error:
        ctx.die(f"Cannot open input file ‘{name}’: {error.strerror}")


def _delimiter(ctx: Context, text: str) -> bytes:
    if text.startswith("\\") and len(text) == 2 and text[1] in _ESCAPES:
        return _ESCAPES[text[1]].encode("utf-8", "surrogateescape")
    if len(text.encode("utf-8", "surrogateescape")) != 1:
        ctx.die(
            f"Invalid input delimiter specification {text}: the delimiter must be either a single character or an "
            "escape sequence starting with \\."
        )
    return text.encode("utf-8", "surrogateescape")


def _delimited(data: bytes, delimiter: bytes) -> Iterator[str]:
    pieces = data.split(delimiter)
    if pieces and not pieces[-1]:
        pieces.pop()
    for piece in pieces:
        yield piece.decode("utf-8", "surrogateescape")


def _lines(ctx: Context, data: bytes) -> Iterator[str]:
    """Lines for -I: quotes and backslashes still count, blanks in front do not, empty lines are left out."""
    for line in data.split(b"\n"):
        text = line.lstrip(b" \t")
        if not text:
            continue
        if any(char in text for char in b"'\"\\"):
            text = _unquoted(ctx, text)
        yield text.decode("utf-8", "surrogateescape")


def _unquoted(ctx: Context, text: bytes) -> bytes:
    out = bytearray()
    quote = 0
    index = 0
    while index < len(text):
        byte = text[index]
        if quote:
            if byte == quote:
                quote = 0
            else:
                out.append(byte)
        elif byte in b"'\"":
            quote = byte
        elif byte == 0x5C and index + 1 < len(text):
            index += 1
            out.append(text[index])
        else:
            out.append(byte)
        index += 1
    if quote:
        _unmatched(ctx, quote)
    return bytes(out)


def _unmatched(ctx: Context, quote: int) -> None:
    kind = "double" if quote == 0x22 else "single"
    ctx.die(
        f"unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option"
    )  # fmt: skip


def _words(ctx: Context, data: bytes, end: str | None) -> Iterator[_Item]:
    """Words by blanks and newlines, with quotes and backslashes."""
    word = bytearray()
    started = False
    quote = 0
    index, size = 0, len(data)
    while index < size:
        byte = data[index]
        index += 1
        if quote:
            if byte == quote:
                quote = 0
            elif byte == 0x0A:
                _unmatched(ctx, quote)
            else:
                word.append(byte)
        elif byte in b"'\"":
            quote, started = byte, True
        elif byte == 0x5C:
            if index < size:
                word.append(data[index])
                index += 1
                started = True
        elif byte in b" \t\n":
            if started:
                text = word.decode("utf-8", "surrogateescape")
                if end and text == end:
                    return
                yield _Item(text, byte == 0x0A)
            word.clear()
            started = False
        else:
            word.append(byte)
            started = True
    if quote:
        _unmatched(ctx, quote)
    if started:
        text = word.decode("utf-8", "surrogateescape")
        if not end or text != end:
            yield _Item(text, True)


def _batches(
    ctx: Context, options: Options, runner: _Runner, items: Iterator[_Item], per_line: int | None, per_run: int | None
) -> None:
    command = runner.command
    limit = _number(ctx, options.value("s") or str(_LONGEST_LINE), "s")
    base = sum(len(word.encode("utf-8", "surrogateescape")) + 1 for word in command)
    batch: list[str] = []
    length, lines = base, 0
    ran = False
    for item in items:
        size = len(item.text.encode("utf-8", "surrogateescape")) + 1
        if base + size > limit:
            ctx.die("argument line too long")
        if length + size > limit:
            runner.run([*command, *batch])
            ran, batch, length, lines = True, [], base, 0
        batch.append(item.text)
        length += size
        lines += item.ends_line
        if (per_run is not None and len(batch) >= per_run) or (per_line is not None and lines >= per_line):
            runner.run([*command, *batch])
            ran, batch, length, lines = True, [], base, 0
    if batch or (not ran and not options.has("r")):
        runner.run([*command, *batch])
