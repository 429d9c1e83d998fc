"""diff: compare files line by line."""

from __future__ import annotations

import fnmatch
import re
from datetime import UTC, datetime
from typing import NamedTuple

from runners.sim.commands import children
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.diff_styles import Side, contextual, normal, side_by_side, unified
from runners.sim.commands.diffing import Change, changes
from runners.sim.commands.inputs import shell_style
from runners.sim.commands.options import Options, parse, usage_error
from runners.sim.files.inode import Inode
from runners.sim.regexes import Regex, RegexError, basic
from runners.text import is_digits

_LONG = (
    "normal", "brief/q", "report-identical-files/s", "context=?/C", "unified=?/U", "side-by-side/y", "width=/W",
    "suppress-common-lines", "left-column", "recursive/r", "new-file/N", "ignore-case/i", "ignore-all-space/w",
    "ignore-space-change/b", "ignore-trailing-space/Z", "ignore-tab-expansion/E", "ignore-blank-lines/B",
    "ignore-matching-lines=/I", "text/a", "strip-trailing-cr", "label=/L", "exclude=/x", "color=?", "minimal/d",
    "speed-large-files/H", "show-c-function/p", "expand-tabs/t", "initial-tab/T", "no-dereference", "version/v",
    "exclude-from=/X", "starting-file=/S", "from-file=", "to-file=", "unidirectional-new-file",
)  # fmt: skip
_USAGE = "Usage: diff [OPTION]... FILES\nCompare FILES line by line."
_VERSION = "diff (GNU diffutils) 3.8"
_BLANKS = re.compile(rb"[ \t\r\f\v]+")
_FAILURE = 2


class _File(NamedTuple):
    """One side: `inode` None: it is standard input, or is missing and taken as empty (-N)."""

    name: str
    inode: Inode | None
    data: bytes


class _Rules(NamedTuple):
    options: Options
    switches: str
    style: str
    context: int
    ignored: tuple[Regex, ...]


def main(ctx: Context) -> int:
    options = parse(
        ctx, "abBcC:dEHiI:L:nNpqrsS:tTuU:vwW:x:X:yZ0123456789", _LONG, status=_FAILURE, usage=_USAGE, version=_VERSION
    )  # fmt: skip
    if options.has("v"):
        ctx.line(_VERSION)
        return 0
    operands = options.operands
    if len(operands) < 2:
        usage_error(ctx, f"missing operand after '{operands[-1] if operands else ctx.name}'", _FAILURE)
    if len(operands) > 2:
        usage_error(ctx, f"extra operand '{operands[2]}'", _FAILURE)
    rules = _rules(ctx, options)
    return _Comparison(ctx, rules).operands(operands[0], operands[1])


def _rules(ctx: Context, options: Options) -> _Rules:
    styles = {
        "c": "context",
        "C": "context",
        "u": "unified",
        "U": "unified",
        "y": "side",
        "q": "brief",
        "normal": "normal",
    }
    style = styles[options.last(*styles) or "normal"]
    if options.has("q"):
        style = "brief"
    length = options.value("C", "U")
    if length is not None and not is_digits(length):
        usage_error(ctx, f"invalid context length '{length}'", _FAILURE)
    digits = "".join(name for name, _ in options.given if is_digits(name))
    if digits and style == "normal":
        style = "unified"
    ignored = []
    for pattern in options.values("I"):
        try:
            ignored.append(basic(pattern))
        except RegexError as error:
            ctx.err(f"{pattern}: {error}")
            raise CommandExit(_FAILURE) from None
    taken = set(options.operands)
    switches = " ".join(shell_style(word) for word in ctx.args if word not in taken)
    return _Rules(options, switches, style, int(length or digits or 3), tuple(ignored))


class _Comparison:
    def __init__(self, ctx: Context, rules: _Rules) -> None:
        self.ctx = ctx
        self.rules = rules
        self.has = rules.options.has

    def operands(self, one: str, other: str) -> int:
        first, second = self._inode(one), self._inode(other)
        missing = [item for item in (first, second) if isinstance(item, OSError)]
        if missing and not (self.has("N") and len(missing) == 1):
            for name, item in ((one, first), (other, second)):
                if isinstance(item, OSError):
                    self.ctx.err(f"{name}: {item.strerror}")
            return _FAILURE
        if self._is_dir(first) and not self._is_dir(second) and not isinstance(second, OSError):
            one = f"{one.rstrip('/')}/{other.rsplit('/', 1)[-1]}"
        elif self._is_dir(second) and not self._is_dir(first) and not isinstance(first, OSError):
            other = f"{other.rstrip('/')}/{one.rsplit('/', 1)[-1]}"
        elif self._is_dir(first) or self._is_dir(second):
            return self.folders(one, other)
        return self.files(one, other)

    def _inode(self, name: str) -> Inode | OSError | None:
        if name == "-" or (name.startswith("/dev/fd/") and self.ctx.descriptors is not None):
            return None
        try:
            return self.ctx.files.stat(name)
        except OSError as error:
            return error

    @staticmethod
    def _is_dir(item: Inode | OSError | None) -> bool:
        return isinstance(item, Inode) and item.is_dir

    def _names(self, folder: str) -> list[str]:
        try:
            names = self.ctx.files.names(folder)
        except OSError as error:
            if error.errno == 2 and self.has("N"):
                return []
            self.ctx.err(f"{folder}: {error.strerror}")
            return []
        excluded = self.rules.options.values("x")
        return [name for name in names if not any(fnmatch.fnmatchcase(name, pattern) for pattern in excluded)]

    def folders(self, one: str, other: str) -> int:
        status = 0
        first, second = self._names(one), self._names(other)
        one, other = one.rstrip("/") or "/", other.rstrip("/") or "/"
        for name in sorted({*first, *second}):
            self.ctx.spend(2)
            paths = f"{one}/{name}".replace("//", "/"), f"{other}/{name}".replace("//", "/")
            if (name in first) != (name in second) and not self.has("N"):
                self.ctx.line(f"Only in {one if name in first else other}: {name}")
                status = max(status, 1)
                continue
            kinds = [self._inode(path) for path in paths]
            folders = [self._is_dir(kind) for kind in kinds]
            if all(folders) or (any(folders) and any(isinstance(kind, OSError) for kind in kinds)):
                if self.has("r"):
                    status = max(status, self.folders(*paths))
                else:
                    self.ctx.line(f"Common subdirectories: {paths[0]} and {paths[1]}")
            elif any(folders):
                said = ["a directory" if folder else "a regular file" for folder in folders]
                self.ctx.line(f"File {paths[0]} is {said[0]} while file {paths[1]} is {said[1]}")
                status = max(status, 1)
            else:
                status = max(status, self.files(*paths, header=True))
        return status

    def _load(self, name: str) -> _File | None:
        inode = self._inode(name)
        if isinstance(inode, OSError):
            if inode.errno == 2 and self.has("N"):
                return _File(name, None, b"")
            self.ctx.err(f"{name}: {inode.strerror}")
            return None
        try:
            reader = self.ctx.open(name)
            data = reader.read()
            children.finish(self.ctx, reader)
        except OSError as error:
            self.ctx.err(f"{name}: {error.strerror}")
            return None
        return _File(name, inode, data)

    def files(self, one: str, other: str, *, header: bool = False) -> int:
        first, second = self._load(one), self._load(other)
        if first is None or second is None:
            return _FAILURE
        self.ctx.spend(1 + ((len(first.data) + len(second.data)) >> 9))
        if first.data == second.data:
            return self._identical(first, second)
        if not self.has("a") and (b"\0" in first.data[:32768] or b"\0" in second.data[:32768]):
            kind = "Files" if self.rules.style == "brief" else "Binary files"
            self.ctx.line(f"{kind} {one} and {other} differ")
            return 1
        lines = _split(first.data), _split(second.data)
        keys = [self._key(line) for line in lines[0]], [self._key(line) for line in lines[1]]
        horizon = self.rules.context if self.rules.style in ("unified", "context") else 0
        found = changes(*keys, self.ctx.machine.budget, horizon)
        script = [change for change in found if not self._ignored(change, lines)]
        if not script:
            return self._identical(first, second)
        if self.rules.style == "brief":
            self.ctx.line(f"Files {one} and {other} differ")
            return 1
        if header:
            switches = f"{self.rules.switches} " if self.rules.switches else ""
            self.ctx.line(f"diff {switches}{one} {other}")
        self.ctx.stdout.write(self._shown(first, second, lines, script))
        return 1

    def _identical(self, first: _File, second: _File) -> int:
        if self.has("s"):
            self.ctx.line(f"Files {first.name} and {second.name} are identical")
        elif self.rules.style == "side" and not self.has("suppress-common-lines"):
            lines = _split(first.data)
            self.ctx.stdout.write(self._shown(first, second, (lines, lines), []))
        return 0

    def _shown(
        self, first: _File, second: _File, lines: tuple[list[bytes], list[bytes]], script: list[Change]
    ) -> bytes:
        labels = self.rules.options.values("L")
        one = Side(lines[0], labels[0].encode("utf-8", "surrogateescape") if labels else self._label(first))
        other = Side(lines[1], labels[1].encode("utf-8", "surrogateescape") if len(labels) > 1 else self._label(second))
        if self.rules.style == "unified":
            return unified(one, other, script, self.rules.context)
        if self.rules.style == "context":
            return contextual(one, other, script, self.rules.context)
        if self.rules.style == "side":
            width = self.rules.options.value("W") or "130"
            columns = int(width) if is_digits(width) else 130
            return side_by_side(one, other, script, columns, not self.has("suppress-common-lines"))
        return normal(one, other, script)

    def _label(self, file: _File) -> bytes:
        at = 0.0 if file.inode is None else file.inode.mtime
        if file.name == "-" or file.name.startswith("/dev/fd/"):
            at = self.ctx.machine.clock.now
        whole = int(at)
        moment = datetime.fromtimestamp(whole, UTC)
        stamp = f"{moment:%Y-%m-%d %H:%M:%S}.{int((at - whole) * 1e9):09d} +0000"
        return f"{file.name}\t{stamp}".encode("utf-8", "surrogateescape")

    def _key(self, line: bytes) -> bytes:
        """What of a line counts."""
        if self.has("strip-trailing-cr") and line.endswith(b"\r\n"):
            line = line[:-2] + b"\n"
        if self.has("w"):
            return (
                _BLANKS.sub(b"", line.rstrip(b"\n")).lower() if self.has("i") else _BLANKS.sub(b"", line.rstrip(b"\n"))
            )
        if self.has("b"):
            line = _BLANKS.sub(b" ", line.rstrip(b" \t\r\f\v\n"))
        elif self.has("Z"):
            line = line.rstrip(b" \t\r\f\v\n")
        if self.has("E"):
            line = line.expandtabs(8)
        return line.lower() if self.has("i") else line

    def _ignored(self, change: Change, lines: tuple[list[bytes], list[bytes]]) -> bool:
        """Is the change only of blank lines (-B) or of lines that match -I?"""
        if not self.has("B") and not self.rules.ignored:
            return False
        touched = lines[0][change.first : change.first_end] + lines[1][change.second : change.second_end]
        blank = self.has("B")
        loose = self.has("b", "w")
        return all(
            (blank and not (line.strip() if loose else line.rstrip(b"\n")))
            or any(pattern.test(line.rstrip(b"\n")) for pattern in self.rules.ignored)
            for line in touched
        )


def _split(data: bytes) -> list[bytes]:
    """Lines with their newlines; only a newline ends one."""
    pieces = data.split(b"\n")
    last = pieces.pop()
    return [piece + b"\n" for piece in pieces] + ([last] if last else [])
