"""Runs a parsed sed script over its input."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.context import Context, Writer
from runners.sim.commands.inputs import describe
from runners.sim.commands.sed_script.parsing import Address, Command
from runners.sim.commands.streams import Buffer
from runners.sim.regexes import Regex

_MAX_SPACE = 32 << 20


class Source:
    """The lines of all inputs, with one of look-ahead so that `$` can be known."""

    def __init__(self, ctx: Context, names: Sequence[str], end: bytes, *, data: bytes | None = None) -> None:
        self.ctx = ctx
        self.end = end
        self.data = data
        self.failed = False
        self.name = "-"
        self.new_file = False
        self._lines = self._read(names)
        self._next: tuple[bytes, bool, str] | None = None
        self._started = False

    def _read(self, names: Sequence[str]) -> Iterator[tuple[bytes, bool, str]]:
        """(line, had its newline, file) for each line."""
        for name in names:
            try:
                reader = Buffer(self.data) if self.data is not None else self.ctx.open(name)
            except OSError as error:
                if error.errno == errno.EISDIR:
                    self.ctx.err(f"read error on {name}: Is a directory")
                else:
                    self.ctx.err(f"can't read {name}: {describe(error)}")
                self.failed = True
                continue
            if self.end == b"\n":
                for line in reader.lines():
                    self.ctx.spend(2 + (len(line) >> 7))
                    yield (line[:-1], True, name) if line.endswith(b"\n") else (line, False, name)
            else:
                pieces = reader.read().split(self.end)
                for piece in pieces[:-1]:
                    yield piece, True, name
                if pieces[-1]:
                    yield pieces[-1], False, name

    def next(self) -> tuple[bytes, bool] | None:
        """The next line, or None at the end."""
        if not self._started:
            self._started = True
            self._next = next(self._lines, None)
        found = self._next
        if found is None:
            return None
        self._next = next(self._lines, None)
        self.new_file = found[2] != self.name
        self.name = found[2]
        return found[0], found[1]

    def at_end(self, *, separate: bool) -> bool:
        return self._next is None or (separate and self._next[2] != self.name)


class Output:
    """Standard output or a file. A last line without its newline gets one when something follows."""

    def __init__(self, writer: Writer, end: bytes) -> None:
        self.writer = writer
        self.end = end
        self.missing_newline = False

    def line(self, data: bytes, newline: bool) -> None:
        self.text(data + self.end if newline else data)
        self.missing_newline = not newline

    def text(self, data: bytes) -> None:
        if self.missing_newline:
            self.missing_newline = False
            self.writer.write(self.end)
        self.writer.write(data)


Action = Callable[["Editor", Command, int], str | None]
"""Does one command (its index is the third argument); a text when it ends the cycle, and how."""


class Editor:
    """The state of a run; `actions` does what each command says. `quit` is set when q or Q ended it."""

    def __init__(
        self, ctx: Context, commands: Sequence[Command], actions: Mapping[str, Action], *, quiet: bool, end: bytes
    ) -> None:
        self.ctx = ctx
        self.actions = actions
        self.commands = commands
        self.quiet = quiet
        self.end = end
        self.quit = False
        self.hold = b""
        self.hold_newline = True
        self._reset(ctx.stdout)

    def _reset(self, out: Writer) -> None:
        self.out = Output(out, self.end)
        self.space = b""
        self.newline = True
        self.number = 0
        self.ranges: dict[int, int] = {}
        self.appended: list[tuple[str, str]] = []
        self.substituted = False
        self.last_regex: Regex | None = None
        self.files: dict[str, Output] = {}
        self.readers: dict[str, Iterator[bytes]] = {}

    def run(self, source: Source, out: Writer, *, separate: bool) -> int:
        """Edit everything; the exit status."""
        self._reset(out)
        self.source = source
        self.separate = separate
        for command in self.commands:
            if command.name in ("w", "W") or "w" in command.flags:
                self.file(command.text)
        restart = False
        while True:
            if not restart:
                line = source.next()
                if line is None:
                    break
                self.space, self.newline = line
                self.number = 1 if separate and source.new_file else self.number + 1
                self.substituted = False
            restart = False
            outcome = self._cycle()
            if outcome == "restart":
                self.flush()
                restart = True
                continue
            if outcome != "delete" and not self.quiet and outcome != "silent-quit":
                self.show(self.space, self.newline)
            self.flush()
            if outcome in ("quit", "silent-quit"):
                self.quit = True
                return self.status
        return 2 if source.failed else 0

    status = 0

    def show(self, data: bytes, newline: bool = True) -> None:
        self.out.line(data, newline)

    def flush(self) -> None:
        for kind, text in self.appended:
            if kind == "text":
                self.out.text(text.encode("utf-8", "surrogateescape"))
            elif kind == "line":
                line = next(self._lines_of(text), None)
                if line is not None:
                    self.out.line(line.removesuffix(b"\n"), True)
            else:
                try:
                    data = self.ctx.open(text).read()
                except OSError:
                    continue
                if data:
                    self.out.text(data)
        self.appended.clear()

    def _lines_of(self, name: str) -> Iterator[bytes]:
        """The lines of a file that R reads one by one."""
        if name not in self.readers:
            try:
                self.readers[name] = self.ctx.open(name).lines()
            except OSError:
                self.readers[name] = iter(())
        return self.readers[name]

    def file(self, name: str) -> Output:
        if name not in self.files:
            if name == "/dev/stdout":
                self.files[name] = self.out
            else:
                try:
                    self.files[name] = Output(self.ctx.create(name), self.end)
                except OSError as error:
                    self.ctx.die(f"couldn't open file {name}: {describe(error)}", 4)
        return self.files[name]

    def _matches(self, address: Address) -> bool:
        if address.kind == "line":
            return self.number == address.number
        if address.kind == "last":
            return self.source.at_end(separate=self.separate)
        if address.kind == "step":
            if address.step == 0:
                return self.number == address.number
            return self.number >= address.number and (self.number - address.number) % address.step == 0
        if address.kind == "regex":
            return self.regex(address.regex).test(self.space)
        return False

    def regex(self, regex: Regex | None) -> Regex:
        if regex is None:
            if self.last_regex is None:
                self.ctx.die("-e expression #1, char 0: no previous regular expression")
            return self.last_regex
        self.last_regex = regex
        return regex

    def _selected(self, index: int, command: Command) -> bool:
        if command.first is None:
            return not command.negated
        if command.second is None:
            return self._matches(command.first) != command.negated
        return self._in_range(index, command.first, command.second) != command.negated

    def _in_range(self, index: int, first: Address, second: Address) -> bool:
        """Ranges: `self.ranges[index]` is the last line of an open one, or -1 while a pattern is awaited."""
        if index not in self.ranges:
            if first.kind == "zero":
                if self.number > 1 or index in self.ranges:
                    return False
                self.ranges[index] = -1
            elif not self._matches(first):
                return False
            else:
                return self._open(index, second)
        limit = self.ranges[index]
        if limit >= 0:
            if self.number >= limit:
                del self.ranges[index]
            return self.number <= limit
        if self._matches(second):
            if first.kind == "zero":
                self.ranges[index] = 0
            else:
                del self.ranges[index]
        return True

    def _open(self, index: int, second: Address) -> bool:
        if second.kind == "line":
            if second.number > self.number:
                self.ranges[index] = second.number
        elif second.kind == "plus":
            if second.number:
                self.ranges[index] = self.number + second.number
        elif second.kind == "multiple":
            if second.number and self.number % second.number:
                self.ranges[index] = -(-self.number // second.number) * second.number
        elif not (second.kind == "last" and self.source.at_end(separate=self.separate)):
            self.ranges[index] = -1
        return True

    def _cycle(self) -> str:
        """Run the commands on the pattern space; how the cycle ended."""
        index = 0
        commands = self.commands
        spend = self.ctx.machine.budget.spend
        while index < len(commands):
            spend(1)
            command = commands[index]
            if not self._selected(index, command):
                index = command.target if command.name == "{" else index + 1
                continue
            name = command.name
            if name in ("b", "t", "T"):
                jump = name == "b" or (name == "t") == self.substituted
                if name != "b":
                    self.substituted = False
                index = command.target if jump else index + 1
                continue
            action = self.actions.get(name)
            if action is not None:
                outcome = action(self, command, index)
                if outcome is not None:
                    return outcome
            if len(self.space) > _MAX_SPACE or len(self.hold) > _MAX_SPACE:
                raise BudgetExceeded
            index += 1
        return "end"
