"""The files and commands that a running AWK program reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from runners.sim.commands import children
from runners.sim.commands.awk.lexer import AwkError
from runners.sim.commands.awk.patterns import compiled
from runners.sim.commands.context import Context, Reader, Writer
from runners.sim.commands.streams import Buffer

_BUFFERED = 4096


class Source:
    """One input, cut into records by whatever RS says at the time."""

    __slots__ = ("_lines", "_rest", "ctx", "reader")

    def __init__(self, ctx: Context, reader: Reader) -> None:
        self.ctx = ctx
        self.reader = reader
        self._lines: Iterator[bytes] = reader.lines()
        self._rest: str | None = None

    def record(self, separator: str) -> str | None:
        """The next record (latin-1), or None at the end. OSError when reading fails."""
        if separator == "\n" and self._rest is None:
            line = next(self._lines, None)
            if line is None:
                return None
            text = line.decode("latin-1")
            return text[:-1] if text.endswith("\n") else text
        if self._rest is None:
            self._rest = b"".join(self._lines).decode("latin-1")
        return self._cut(self._rest, separator)

    def _cut(self, text: str, separator: str) -> str | None:
        if separator == "":
            text = text.lstrip("\n")
            record, found, self._rest = text.partition("\n\n")
            return (record if found else record.rstrip("\n")) if text else None
        if not text:
            return None
        if len(separator) == 1:
            record, _, self._rest = text.partition(separator)
            return record
        match = compiled(separator).search(text.encode("latin-1"))
        if match is None or match.end == match.start:
            self._rest = ""
            return text
        self._rest = text[match.end :]
        return text[: match.start]

    def close(self) -> None:
        children.finish(self.ctx, self.reader)


class Output:
    """Standard output or a file, gathered into larger writes."""

    __slots__ = ("_pending", "_size", "writer")

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._pending: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        self._pending.append(text)
        self._size += len(text)
        if self._size > _BUFFERED or self.writer.is_terminal:
            self.flush()

    def flush(self) -> None:
        if self._pending:
            data = "".join(self._pending).encode("latin-1")
            self._pending, self._size = [], 0
            self.writer.write(data)


class _Sink:
    """Gathers what is printed to a command, which runs when the pipe is closed."""

    __slots__ = ("parts",)
    is_terminal = False

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.parts.append(data)


class Streams:
    """Everything open, by the names the program uses."""

    __slots__ = ("_commands", "_inputs", "_outputs", "_sinks", "ctx", "stdout")

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.stdout = Output(ctx.stdout)
        self._outputs: dict[str, Output] = {}
        self._sinks: dict[str, _Sink] = {}
        self._inputs: dict[str, Source] = {}
        self._commands: dict[str, tuple[Source, int]] = {}

    def output(self, redirect: str, name: str) -> Output:
        """Where `print > name` (or >>, |) goes. AwkError when it cannot be opened."""
        known = self._outputs.get(name)
        if known is not None:
            return known
        if redirect == "|":
            self.flush()
            self._sinks[name] = _Sink()
            made = Output(self._sinks[name])
        elif name in ("/dev/stdout", "-"):
            made = self.stdout
        elif name == "/dev/stderr":
            made = Output(_Unbuffered(self.ctx.stderr))
        else:
            try:
                made = Output(self.ctx.create(external(name), append=redirect == ">>"))
            except OSError as error:
                raise AwkError(f'cannot open "{name}" for output ({error.strerror})') from None
        self._outputs[name] = made
        return made

    def file(self, name: str) -> Source | None:
        """The input of `getline < name`; None when it cannot be opened."""
        known = self._inputs.get(name)
        if known is None:
            try:
                known = Source(self.ctx, self.ctx.open(external(name)))
            except OSError:
                return None
            self._inputs[name] = known
        return known

    def command(self, text: str) -> Source:
        """The input of `text | getline`."""
        known = self._commands.get(text)
        if known is None:
            self.flush()
            data, status = children.shell_output(self.ctx, external(text))
            known = self._commands[text] = (Source(self.ctx, Buffer(data)), status)
        return known[0]

    def system(self, text: str) -> int:
        self.flush()
        return children.shell(self.ctx, external(text))

    def close(self, name: str) -> int:
        """close(): 0, -1 if nothing of that name is open, or the command's status."""
        output = self._outputs.pop(name, None)
        if output is not None:
            return self._close_output(name, output)
        source = self._inputs.pop(name, None)
        if source is not None:
            source.close()
            return 0
        command = self._commands.pop(name, None)
        return -1 if command is None else command[1]

    def _close_output(self, name: str, output: Output) -> int:
        output.flush()
        sink = self._sinks.pop(name, None)
        if sink is not None:
            return children.shell(self.ctx, external(name), stdin=Buffer(b"".join(sink.parts)))
        if output is not self.stdout:
            children.finish(self.ctx, output.writer)
        return 0

    def flush(self) -> None:
        self.stdout.flush()
        for name, output in self._outputs.items():
            if name not in self._sinks:
                output.flush()

    def close_all(self) -> None:
        """The end of the program: commands being printed to run now, before the buffered output appears."""
        for name in [*self._sinks, *self._outputs]:
            output = self._outputs.pop(name, None)
            if output is not None:
                self._close_output(name, output)
        self.stdout.flush()
        for source in self._inputs.values():
            source.close()


class _Unbuffered:
    """Standard error: every write goes out at once."""

    __slots__ = ("_writer",)
    is_terminal = True

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        self._writer.write(data)


def external(text: str) -> str:
    """Latin-1 text of the program as the system's text."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def internal(text: str) -> str:
    """The system's text as the program sees it: one character a byte."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
