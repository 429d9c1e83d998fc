"""File handles: what Perl reads from and writes to."""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runners.sim.commands import children
from runners.sim.commands.awk.streams import Output, external
from runners.sim.commands.context import Context, Reader
from runners.sim.commands.perl.values import Value, text
from runners.sim.commands.streams import Buffer, Capture
from runners.sim.files.tree import fail

if TYPE_CHECKING:
    from runners.sim.commands.perl.runtime import Runtime

__all__ = ["Diamond", "Handle", "Output", "close", "opened", "standard"]


class Handle:
    """One open file. `count`: records read so far ($.); `close` is what ends a command behind it."""

    __slots__ = ("_lines", "_rest", "command", "count", "output", "reader")

    def __init__(self, reader: Reader | None = None, output: Output | None = None, command: str = "") -> None:
        self.reader = reader
        self.output = output
        self.command = command
        self.count = 0
        self._lines: Iterator[bytes] | None = None
        self._rest: str | None = None

    def record(self, separator: Value) -> str | None:
        """The next record with its separator; None at the end. `separator` is $/: undef reads all, "" paragraphs."""
        if self._rest:
            return self._counted(self._cut(separator))
        if self.reader is None:
            return None
        if self._lines is None:
            self._lines = self.reader.lines()
        if separator == "\n":
            line = next(self._lines, None)
            return None if line is None else self._counted(line.decode("latin-1"))
        self._rest = b"".join(self._lines).decode("latin-1")
        return self._counted(self._cut(separator)) if self._rest else None

    def _cut(self, separator: Value) -> str:
        rest = self._rest or ""
        if separator is None:
            self._rest = ""
            return rest
        mark = text(separator)
        if mark == "":
            body = rest.lstrip("\n")
            found = body.find("\n\n")
            end = len(body) if found < 0 else found + 2
            self._rest = body[end:].lstrip("\n")
            return body[:end]
        found = rest.find(mark)
        end = len(rest) if found < 0 else found + len(mark)
        self._rest = rest[end:]
        return rest[:end]

    def _counted(self, record: str) -> str:
        self.count += 1
        return record

    @property
    def ended(self) -> bool:
        """Is there nothing more to read?"""
        if self._rest:
            return False
        if self.reader is None:
            return True
        if self._lines is None:
            self._lines = self.reader.lines()
        line = next(self._lines, None)
        if line is None:
            return True
        self._rest = None
        self._lines = _before(line, self._lines)
        return False


def _before(line: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield line
    yield from rest


class Sink:
    """What is written into a command's standard input, gathered until the handle is closed."""

    __slots__ = ("data", "is_terminal")

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_terminal = False

    def write(self, data: bytes) -> None:
        self.data += data


class Diamond(Handle):
    """<>: the files that @ARGV names one after another, or standard input. `in_place`: the suffix of -i, or None."""

    __slots__ = ("_backup", "_begun", "current", "in_place", "rt")

    def __init__(self, rt: Runtime) -> None:
        super().__init__()
        self.rt = rt
        self.current: Handle | None = None
        self.in_place: str | None = None
        self._begun = False
        self._backup: tuple[str, str] | None = None

    def record(self, separator: Value) -> str | None:
        while True:
            if self.current is None and not self._advance():
                self._begun = False
                return None
            assert self.current is not None
            found = self.current.record(separator)
            if found is not None:
                self.count += 1
                return found
            self.finish()

    @property
    def ended(self) -> bool:
        return self.current is None or self.current.ended

    def all_read(self) -> bool:
        """`eof()`: is there nothing left in any of the files?"""
        while self.current is None or self.current.ended:
            if self.current is not None:
                self.finish()
            if not self._advance():
                return True
        return False

    def finish(self) -> None:
        """The end of one file: what was written in its place takes its name."""
        self.current = None
        if self._backup is None:
            return
        rt, (name, temporary) = self.rt, self._backup
        self._backup = None
        rt.out.flush()
        files = rt.ctx.files
        before, made = files.stat(name), files.stat(temporary)
        if self.in_place:
            folder, base = posixpath.split(name)
            backup = self.in_place.replace("*", base) if "*" in self.in_place else base + self.in_place
            files.rename(name, posixpath.join(folder, backup))
        rt.ctx.machine.files.put(made._replace(mode=before.mode, uid=before.uid, gid=before.gid))
        files.rename(temporary, name)
        rt.out = rt.stdout

    def _advance(self) -> bool:
        names = self.rt.find("@ARGV")
        if not self._begun and not names:
            names = ["-"]
        self._begun = True
        while names:
            name = text(names.pop(0))
            self.rt.set("$ARGV", name)
            try:
                self.current = Handle(self._opened(external(name)))
            except OSError as error:
                self.rt.failed(error)
                why = error.strerror or str(error)
                if self.in_place is not None and error.errno == errno.EISDIR:
                    self.rt.warn(f"Can't do inplace edit: {name} is not a regular file.\n")
                else:
                    self.rt.warn(f"Can't open {name}: {why}.\n")
                continue
            self.rt.opened()
            return True
        return False

    def _opened(self, name: str) -> Reader:
        ctx = self.rt.ctx
        if self.in_place is None or name == "-":
            return ctx.open(name)
        if ctx.files.stat(name).entries is not None:
            raise fail(errno.EISDIR, name)
        data = ctx.files.read(name)
        temporary = posixpath.join(posixpath.dirname(name), f"XX{_letters(ctx)}")
        ctx.files.write(temporary, b"")
        self.rt.out = Output(ctx.create(temporary))
        self._backup = (name, temporary)
        return Buffer(data)


def standard(ctx: Context, stdout: Output) -> dict[str, Handle]:
    return {
        "STDIN": Handle(ctx.stdin),
        "STDOUT": Handle(output=stdout),
        "STDERR": Handle(output=Output(ctx.stderr)),
    }


def opened(ctx: Context, mode: str, target: str, arguments: list[str]) -> Handle:
    """open: `mode` is <, >, >>, +<, -| or |-. OSError as open(2) gives."""
    if mode == "-|":
        return _from_command(ctx, target, arguments)
    if mode == "|-":
        return Handle(output=Output(Sink()), command=target)
    path = external(target)
    if mode == "<":
        return Handle(ctx.open(path))
    if mode in (">", ">>", "+>"):
        return Handle(output=Output(ctx.create(path, append=mode == ">>")))
    return Handle(ctx.open(path), Output(ctx.create(path, append=True)))


def close(rt: Runtime, handle: Handle) -> None:
    """Close: what was written arrives; a command behind it runs to its end."""
    if handle.output is not None:
        handle.output.flush()
        if handle.command:
            sink = handle.output.writer
            assert isinstance(sink, Sink)
            rt.truth_of_status(children.shell(rt.ctx, external(handle.command), stdin=Buffer(bytes(sink.data))))
            handle.command = ""
        elif handle.output.writer not in (rt.ctx.stdout, rt.ctx.stderr):
            children.finish(rt.ctx, handle.output.writer)
    if handle.reader is not None and handle.reader is not rt.ctx.stdin:
        children.finish(rt.ctx, handle.reader)
    handle.reader = handle.output = None
    handle._rest = None
    handle.count = 0


def _from_command(ctx: Context, command: str, arguments: list[str]) -> Handle:
    if not arguments:
        data, _ = children.shell_output(ctx, external(command))
        return Handle(Buffer(data))
    from_child = Capture(ctx.machine)
    children.with_streams(ctx, stdout=from_child).run([external(command), *map(external, arguments)])
    return Handle(Buffer(bytes(from_child.data)))


def _letters(ctx: Context) -> str:
    value = int(ctx.machine.random("mkstemp") * 62**6)
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(alphabet[value // 62**power % 62] for power in range(6))
