"""grep's search of one input: which lines are selected, and how they are shown.

Each line is shown at most once and in the order of the input, whether selected or as context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runners.sim.commands.context import CommandExit, Context, Reader
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.options import Options
from runners.sim.commands.streams import Buffer
from runners.sim.files.content import READABLE
from runners.sim.files.counting import DISK_SPEED, line_counts, repeats_lines
from runners.sim.regexes import Match, Regex

_RED, _FILE, _LINE, _SEPARATOR, _END = (
    b"\x1b[01;31m\x1b[K",
    b"\x1b[35m\x1b[K",
    b"\x1b[32m\x1b[K",
    b"\x1b[36m\x1b[K",
    b"\x1b[m\x1b[K",
)
_WORD = re.compile(rb"[\w]", re.ASCII)

_LARGE = 1 << 20
"""Bytes from which on a file is worth looking at for long repetitions."""


class Grep:
    """One run: what is looked for and how it is shown."""

    def __init__(self, ctx: Context, options: Options, patterns: Sequence[Regex]) -> None:
        self.ctx = ctx
        self.patterns = patterns
        has = options.has
        self.invert = has("v")
        self.count = has("c")
        self.quiet = has("q")
        self.list_matching = has("l")
        self.list_other = has("L")
        self.only = has("o") and not self.invert
        self.numbers = has("n")
        self.offsets = has("b")
        self.word = has("w")
        self.line = has("x")
        self.silent = has("s")
        self.text = has("a") or options.value("binary-files") == "text"
        self.skip_binary = has("I") or options.value("binary-files") == "without-match"
        self.maximum = _number(ctx, options.value("m"), "max count")
        both = options.value("C")
        self.before = _number(ctx, options.value("B") or both, "context length") or 0
        self.after = _number(ctx, options.value("A") or both, "context length") or 0
        self.contexts = has("A", "B", "C")
        color = options.value("color", "colour") if has("color", "colour") else "never"
        self.color = color == "always" or (color in (None, "auto") and ctx.stdout.is_terminal)
        self.names = False
        self.null = has("Z")
        self.null_data = has("z")
        self.matched = False
        self.failed = False
        self.single = patterns[0] if len(patterns) == 1 and not self.word and not self.line else None

    # -- one line

    def find(self, line: bytes, start: int = 0) -> Match | None:
        """The leftmost (longest) acceptable match at or after `start`."""
        if self.single is not None:
            return self.single.search(line, start)
        best: Match | None = None
        for pattern in self.patterns:
            found = self._acceptable(pattern, line, start)
            if found is not None and (
                best is None or found.start < best.start or (found.start == best.start and found.end > best.end)
            ):
                best = found
        return best

    def _acceptable(self, pattern: Regex, line: bytes, start: int) -> Match | None:
        position = start
        while position <= len(line):
            found = pattern.search(line, position)
            if found is None:
                return None
            if self.line:
                if found.start == 0 and found.end == len(line):
                    return found
            elif not self.word or self._is_word(line, found):
                return found
            else:
                # A shorter match from the same place may still be a word.
                for end in range(found.end - 1, found.start, -1):
                    self.ctx.spend(1)
                    shorter = pattern.search(line[:end], found.start)
                    if shorter is not None and shorter.start == found.start and shorter.end == end:
                        candidate = Match(line, shorter.spans)
                        if self._is_word(line, candidate):
                            return candidate
            position = found.start + 1
        return None

    @staticmethod
    def _is_word(line: bytes, found: Match) -> bool:
        before = line[found.start - 1 : found.start] if found.start else b""
        after = line[found.end : found.end + 1]
        return not _WORD.match(before) and not _WORD.match(after)

    def selects(self, line: bytes) -> bool:
        if self.single is not None:
            return self.single.test(line) != self.invert
        return (self.find(line) is not None) != self.invert

    # -- one file

    def run(self, name: str, reader: Reader) -> None:
        """Search one input. OSError when it cannot be read."""
        selected = self._search(name, reader)
        if selected:
            self.matched = True
        label = self._label(name)
        if self.quiet:
            if selected:
                raise CommandExit(0)
            return
        end = b"\0" if self.null else b"\n"
        if self.list_matching or self.list_other:
            if (selected > 0) == self.list_matching:
                self.ctx.stdout.write(self._paint(label, _FILE) + end)
        elif self.count:
            prefix = self._paint(label, _FILE) + (b"\0" if self.null else self._separator(b":")) if self.names else b""
            self.ctx.stdout.write(prefix + str(selected).encode() + b"\n")

    def _paint(self, data: bytes, color: bytes) -> bytes:
        return color + data + _END if self.color else data

    def _separator(self, char: bytes) -> bytes:
        return self._paint(char, _SEPARATOR)

    @staticmethod
    def _label(name: str) -> bytes:
        return b"(standard input)" if name == "-" else name.encode("utf-8", "surrogateescape")

    def _records(self, reader: Reader) -> Iterator[bytes]:
        if not self.null_data:
            yield from self._shortened(reader).lines()
            return
        data = reader.read()
        pieces = data.split(b"\0")
        yield from (piece + b"\0" for piece in pieces[:-1])
        if pieces[-1]:
            yield pieces[-1]

    @staticmethod
    def _shortened(reader: Reader) -> Reader:
        """Gigabytes of the same byte (a swap file, a hole) are no line that anybody waits for."""
        if not isinstance(reader, FileStream) or reader.offset or reader.content.size < _LARGE:
            return reader
        solid = reader.content.shortened()
        if solid.size == reader.content.size or solid.size > READABLE:
            return reader
        reader.offset = reader.content.size
        return Buffer(solid.read())

    def _in_repeats(self, reader: Reader) -> int | None:
        """How many lines of a large file are selected, each different one looked at once; None for other files."""
        if self.null_data or self.skip_binary or not isinstance(reader, FileStream) or reader.offset:
            return None
        content = reader.content
        if not repeats_lines(content):
            return None
        reader.offset = content.size
        self.ctx.sleep(content.size / DISK_SPEED)
        found = line_counts(content)
        self.ctx.spend(4 * len(found))
        return sum(times for line, times in found.items() if self.selects(line))

    def _search(self, name: str, reader: Reader) -> int:
        ctx = self.ctx
        selected = 0
        silent = self.quiet or self.count or self.list_matching or self.list_other
        many = self._in_repeats(reader) if silent and self.maximum is None else None
        if many is not None:
            return many
        held: list[tuple[int, bytes, int]] = []
        trailing = 0
        last_shown = 0
        offset = 0
        binary = False
        end = b"\0" if self.null_data else b"\n"
        spend = ctx.machine.budget.spend
        for number, raw in enumerate(self._records(reader), 1):
            spend(1 + (len(raw) >> 7))
            line = raw[:-1] if raw.endswith(end) else raw
            if not binary and not self.text and not self.null_data and b"\0" in line:
                binary = True
                if self.skip_binary:
                    return 0
            if self.selects(line):
                selected += 1
                if self.quiet or self.list_matching or (self.list_other and selected):
                    return selected
                if binary and not silent:
                    ctx.stderr.write(b"grep: " + self._label(name) + b": binary file matches\n")
                    return selected
                if not silent:
                    if self.contexts and last_shown and number - len(held) > last_shown + 1:
                        ctx.stdout.write(self._separator(b"--") + b"\n")
                    for before_number, before_line, before_offset in held:
                        self._show(name, before_number, before_line, before_offset, b"-")
                    held.clear()
                    self._show(name, number, line, offset, b":")
                    last_shown = number
                    trailing = self.after
                if self.maximum is not None and selected >= self.maximum:
                    break
            elif not silent and self.contexts:
                if trailing:
                    self._show(name, number, line, offset, b"-")
                    last_shown = number
                    trailing -= 1
                elif self.before:
                    held.append((number, line, offset))
                    if len(held) > self.before:
                        held.pop(0)
            offset += len(raw)
        return selected

    def _show(self, name: str, number: int, line: bytes, offset: int, mark: bytes) -> None:
        out = self.ctx.stdout
        separator = self._separator(mark)
        prefix = b""
        if self.names:
            prefix = self._paint(self._label(name), _FILE) + (b"\0" if self.null else separator)
        if self.numbers:
            prefix += self._paint(str(number).encode(), _LINE) + separator
        end = b"\0" if self.null_data else b"\n"
        if self.only:
            if mark == b":":
                for found in self._matches(line):
                    place = (
                        self._paint(str(offset + found.start).encode("utf-8", "surrogateescape"), _LINE) + separator
                        if self.offsets
                        else b""
                    )
                    out.write(prefix + place + self._paint(found.group(), _RED) + end)
            return
        if self.offsets:
            prefix += self._paint(str(offset).encode(), _LINE) + separator
        if self.color and mark == b":" and not self.invert:
            line = self._highlight(line)
        out.write(prefix + line + end)

    def _matches(self, line: bytes) -> Iterator[Match]:
        position = 0
        while position <= len(line):
            found = self.find(line, position)
            if found is None:
                return
            if found.end > found.start:
                yield found
                position = found.end
            else:
                position = found.start + 1

    def _highlight(self, line: bytes) -> bytes:
        out = []
        position = 0
        for found in self._matches(line):
            out += [line[position : found.start], _RED + found.group() + _END]
            position = found.end
        return b"".join(out) + line[position:]


def _number(ctx: Context, text: str | None, what: str) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"-?\d+", text, re.ASCII):
        ctx.err(f"{text}: invalid {what} argument" if what != "max count" else "invalid max count")
        raise CommandExit(2)
    return int(text[:18]) if not text.startswith("-") else None
