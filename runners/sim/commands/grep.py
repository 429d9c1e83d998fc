"""grep, egrep, fgrep, zgrep: print lines that match patterns."""

from __future__ import annotations

import fnmatch
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence

from runners.sim.commands.context import CommandExit, Context, Reader
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse
from runners.sim.commands.streams import Buffer
from runners.sim.regexes import Match, Regex, RegexError, basic, extended, fixed, perl

NAMES = ("grep", "egrep", "fgrep", "zgrep", "rgrep")
_LONG = [
    "extended-regexp/E", "fixed-strings/F", "basic-regexp/G", "perl-regexp/P", "regexp=/e", "file=/f", "ignore-case/i",
    "no-ignore-case", "word-regexp/w", "line-regexp/x", "null-data/z", "no-messages/s", "invert-match/v",
    "max-count=/m", "byte-offset/b", "line-number/n", "line-buffered", "with-filename/H", "no-filename/h", "label=",
    "only-matching/o", "quiet/q", "silent/q", "binary-files=", "text/a", "directories=/d", "devices=/D", "recursive/r",
    "dereference-recursive/R", "include=", "exclude=", "exclude-from=", "exclude-dir=", "files-without-match/L",
    "files-with-matches/l", "count/c", "initial-tab/T", "null/Z", "before-context=/B", "after-context=/A",
    "context=/C", "color=?", "colour=?",
]  # fmt: skip
_USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information."
_RED, _FILE, _LINE, _SEPARATOR, _END = (
    b"\x1b[01;31m\x1b[K",
    b"\x1b[35m\x1b[K",
    b"\x1b[32m\x1b[K",
    b"\x1b[36m\x1b[K",
    b"\x1b[m\x1b[K",
)
_WORD = re.compile(rb"[\w]", re.ASCII)


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
            yield from reader.lines()
            return
        data = reader.read()
        pieces = data.split(b"\0")
        yield from (piece + b"\0" for piece in pieces[:-1])
        if pieces[-1]:
            yield pieces[-1]

    def _search(self, name: str, reader: Reader) -> int:
        ctx = self.ctx
        selected = 0
        silent = self.quiet or self.count or self.list_matching or self.list_other
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
                    place = self._paint(str(offset + found.start).encode(), _LINE) + separator if self.offsets else b""
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


def _walk(ctx: Context, top: str, options: Options, follow: bool) -> Iterator[str]:
    """The files below a directory, in the order of its entries."""
    excluded = options.values("exclude-dir")
    try:
        names = ctx.files.names(top)
    except OSError as error:
        if not options.has("s"):
            ctx.err(f"{top}: {describe(error)}")
        yield ""
        return
    for name in names:
        ctx.spend(2)
        path = f"{top.rstrip('/')}/{name}" if top != "." or options.operands[1:] or not _implicit(options) else name
        try:
            inode = ctx.files.stat(path, follow=follow)
        except OSError:
            continue
        if inode.is_dir:
            if not any(fnmatch.fnmatchcase(name, pattern.rstrip("/")) for pattern in excluded):
                yield from _walk(ctx, path, options, follow)
        elif inode.is_file and _included(name, options):
            yield path


def _implicit(options: Options) -> bool:
    """Was no file named, so that -r means the current directory and names come without `./`?"""
    return len(options.operands) <= (0 if options.has("e", "f") else 1)


def _included(name: str, options: Options) -> bool:
    included = options.values("include")
    if included and not any(fnmatch.fnmatchcase(name, pattern) for pattern in included):
        return False
    return not any(fnmatch.fnmatchcase(name, pattern) for pattern in options.values("exclude"))


def _compile(ctx: Context, options: Options, texts: Sequence[str]) -> list[Regex]:
    default = {"egrep": "E", "fgrep": "F"}.get(ctx.name, "G")
    kind = options.last("E", "F", "G", "P") or default
    maker = {"E": extended, "F": fixed, "G": basic, "P": perl}[kind]
    ignore_case = options.has("i", "y") and options.last("i", "y", "no-ignore-case") != "no-ignore-case"
    try:
        return [maker(text, ignore_case=ignore_case) for text in texts]
    except RegexError as error:
        text = str(error)
        ctx.err("Invalid regular expression" if text.startswith("Unmatched [") else text)
        raise CommandExit(2) from None


def _parse(ctx: Context, arguments: Sequence[str]) -> Options:
    try:
        return parse(
            ctx, "EFGPe:f:iywxzsvm:bnHhoqaId:D:rRLlcTZB:A:C:U", _LONG, status=2, arguments=arguments, hinted=False,
            usage="Usage: grep [OPTION]... PATTERNS [FILE]...\nSearch for PATTERNS in each FILE.",
            version="GNU grep) 3.8",
        )  # fmt: skip
    except CommandExit as ended:
        if ended.status == 2:
            ctx.stderr.write((_USAGE + "\n").encode())
        raise


def main(ctx: Context) -> int:
    arguments = ctx.args
    for at, word in enumerate(arguments):
        if word == "--":
            break
        before = arguments[at - 1] if at else ""
        if re.fullmatch(r"-\d+", word) and not re.fullmatch(r"-[A-Za-z]*[efABCmdD]", before):
            arguments = [*arguments[:at], "-C", word[1:], *arguments[at + 1 :]]
            break
    options = _parse(ctx, arguments)
    operands = list(options.operands)
    texts: list[str] = []
    for name, value in options.given:
        if name == "e":
            texts += (value or "").split("\n")
        elif name == "f":
            try:
                data = ctx.open(value or "").read()
            except OSError as error:
                ctx.die(f"{value}: {describe(error)}", 2)
            texts += data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if data else []
    if not options.has("e", "f"):
        if not operands:
            ctx.stderr.write((_USAGE + "\n").encode())
            return 2
        texts = operands.pop(0).split("\n")
    grep = Grep(ctx, options, _compile(ctx, options, texts) if texts else [])
    recursive = options.has("r", "R") or ctx.name == "rgrep"
    grep.names = (len(operands) > 1 or recursive or options.has("H")) and options.last("H", "h") != "h"
    if recursive and not operands:
        operands = ["."]
    for name in operands or ["-"]:
        _search_operand(ctx, grep, options, name, recursive)
    if grep.failed and not (grep.quiet and grep.matched):
        return 2
    return int(not grep.matched)


def _search_operand(ctx: Context, grep: Grep, options: Options, name: str, recursive: bool) -> None:
    paths: Iterator[str] | list[str] = [name]
    if name != "-":
        try:
            inode = ctx.files.stat(name)
        except OSError as error:
            _complain(ctx, grep, name, error)
            return
        if inode.is_dir:
            if not recursive:
                if options.value("d") != "skip":
                    grep.failed = True
                    ctx.err(f"{name}: Is a directory")
                return
            if grep.names is False and not options.has("h"):
                grep.names = True
            paths = _walk(ctx, name, options, options.has("R"))
        elif recursive and len(options.operands) <= 2 and not options.has("H") and not options.has("h"):
            grep.names = len(options.operands) > (1 if options.has("e", "f") else 2)
    for path in paths:
        if not path:
            grep.failed = True
            continue
        try:
            reader = ctx.open(path)
            if ctx.name == "zgrep":
                reader = _inflated(reader)
            grep.run(path, reader)
        except OSError as error:
            if error.filename is None:
                raise
            _complain(ctx, grep, path, error)


def _inflated(reader: Reader) -> Reader:
    data = reader.read()
    if not data.startswith(b"\x1f\x8b"):
        return Buffer(data)
    try:
        return Buffer(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return Buffer(b"")


def _complain(ctx: Context, grep: Grep, name: str, error: OSError) -> None:
    grep.failed = True
    if not grep.silent:
        ctx.err(f"{name}: {describe(error)}")
