"""Runs a parsed sed script over its input."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.context import Context, Writer
from runners.sim.commands.inputs import describe
from runners.sim.commands.sed_script.parsing import Address, Command
from runners.sim.commands.streams import Buffer
from runners.sim.regexes import Match, Regex

_MAX_SPACE = 32 << 20


class Source:
    """The lines of all inputs, with one of look-ahead so that `$` can be known."""

    def __init__(self, ctx: Context, names: Sequence[str], end: bytes, *, data: bytes | None = None) -> None:
        self.ctx = ctx
        self.end = end
        self.data = data
        self.failed = False
        self.name = "-"
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
        self.name = found[2]
        return found[0], found[1]

    def at_end(self, *, separate: bool) -> bool:
        return self._next is None or (separate and self._next[2] != self.name)


class Editor:
    """The state of a run. `quit` is set when q or Q ended it."""

    def __init__(self, ctx: Context, commands: Sequence[Command], *, quiet: bool, end: bytes) -> None:
        self.ctx = ctx
        self.commands = commands
        self.quiet = quiet
        self.end = end
        self.quit = False
        self.hold = b""
        self._reset(ctx.stdout)

    def _reset(self, out: Writer) -> None:
        self.out = out
        self.space = b""
        self.newline = True
        self.number = 0
        self.ranges: dict[int, int] = {}
        self.appended: list[tuple[str, str]] = []
        self.substituted = False
        self.last_regex: Regex | None = None
        self.files: dict[str, Writer] = {}
        self.missing_newline = False

    def run(self, source: Source, out: Writer, *, separate: bool) -> int:
        """Edit everything; the exit status."""
        self._reset(out)
        self.source = source
        self.separate = separate
        for command in self.commands:
            if command.name in ("w", "W") or "w" in command.flags:
                self._file(command.text)
        restart = False
        while True:
            if not restart:
                line = source.next()
                if line is None:
                    break
                self.space, self.newline = line
                self.number += 1
                self.substituted = False
            restart = False
            outcome = self._cycle()
            if outcome == "restart":
                self._flush()
                restart = True
                continue
            if outcome != "delete" and not self.quiet and outcome != "silent-quit":
                self._print(self.space, self.newline)
            self._flush()
            if outcome in ("quit", "silent-quit"):
                self.quit = True
                return self.status
        return 2 if source.failed else 0

    status = 0

    def _print(self, data: bytes, newline: bool = True) -> None:
        if self.missing_newline:
            self.out.write(self.end)
        self.missing_newline = not newline
        self.out.write(data + self.end if newline else data)

    def _flush(self) -> None:
        for kind, text in self.appended:
            if kind == "text":
                if self.missing_newline:
                    self.out.write(self.end)
                    self.missing_newline = False
                self.out.write(text.encode("utf-8", "surrogateescape"))
            else:
                try:
                    data = self.ctx.open(text).read()
                except OSError:
                    continue
                if data:
                    if self.missing_newline:
                        self.out.write(self.end)
                    self.missing_newline = False
                    self.out.write(data)
        self.appended.clear()

    def _file(self, name: str) -> Writer:
        if name not in self.files:
            self.files[name] = self.out if name == "/dev/stdout" else self.ctx.create(name)
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
            return self._regex(address.regex).test(self.space)
        return False

    def _regex(self, regex: Regex | None) -> Regex:
        if regex is None:
            if self.last_regex is None:
                self.ctx.die("no previous regular expression")
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
            action = _ACTIONS.get(name)
            if action is not None:
                outcome = action(self, command, index)
                if outcome is not None:
                    return outcome
            if len(self.space) > _MAX_SPACE or len(self.hold) > _MAX_SPACE:
                raise BudgetExceeded
            index += 1
        return "end"


def _substitute(editor: Editor, command: Command, _index: int) -> str | None:
    regex = editor._regex(command.regex)
    space = editor.space
    pieces: list[bytes] = []
    position = 0
    wanted = command.number or 1
    everything = "g" in command.flags
    changed = False
    editor.ctx.spend(len(space) >> 6)
    for count, match in enumerate(regex.iterate(space), 1):
        editor.ctx.spend(1)
        if count < wanted:
            continue
        pieces += [space[position : match.start], _filled(command.replacement, match)]
        position = match.end
        changed = True
        if not everything:
            break
    if not changed:
        return None
    editor.space = b"".join(pieces) + space[position:]
    editor.substituted = True
    if "p" in command.flags:
        editor._print(editor.space)
    if "w" in command.flags:
        editor._file(command.text).write(editor.space + b"\n")
    return None


def _filled(replacement: tuple[str | int, ...], match: Match) -> bytes:
    out: list[bytes] = []
    case = once = ""
    for piece in replacement:
        if isinstance(piece, str) and piece.startswith("\0"):
            if piece[1] in "lu":
                once = piece[1]
            else:
                case = "" if piece[1] == "E" else piece[1]
            continue
        data = match.group(piece) if isinstance(piece, int) else piece.encode("utf-8", "surrogateescape")
        if case or once:
            text = data.decode("utf-8", "surrogateescape")
            text = text.upper() if case == "U" else text.lower() if case == "L" else text
            if once and text:
                text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
                once = ""
            data = text.encode("utf-8", "surrogateescape")
        out.append(data)
    return b"".join(out)


def _transliterate(editor: Editor, command: Command, _index: int) -> None:
    text = editor.space.decode("utf-8", "surrogateescape")
    editor.space = b"".join(
        command.table.get(ord(char), char.encode("utf-8", "surrogateescape")) for char in text
    )  # fmt: skip


def _next(editor: Editor, _command: Command, _index: int) -> str | None:
    if editor.source.at_end(separate=False):
        return "quit" if not editor.quiet else "silent-quit"
    if not editor.quiet:
        editor._print(editor.space, editor.newline)
    editor._flush()
    line = editor.source.next()
    assert line is not None
    editor.space, editor.newline = line
    editor.number += 1
    return None


def _append_next(editor: Editor, _command: Command, _index: int) -> str | None:
    if editor.source.at_end(separate=False):
        return "end-of-input"
    editor._flush()
    line = editor.source.next()
    assert line is not None
    editor.space += editor.end + line[0]
    editor.newline = line[1]
    editor.number += 1
    return None


def _delete_first(editor: Editor, _command: Command, _index: int) -> str:
    head, newline, rest = editor.space.partition(b"\n")
    del head
    if not newline:
        return "delete"
    editor.space = rest
    return "restart"


def _change(editor: Editor, command: Command, index: int) -> str:
    in_range = command.second is not None and index in editor.ranges and not command.negated
    if not in_range:
        if editor.missing_newline:
            editor.out.write(editor.end)
            editor.missing_newline = False
        editor.out.write(command.text.encode("utf-8", "surrogateescape"))
    return "delete"


def _insert(editor: Editor, command: Command, _index: int) -> None:
    editor.out.write(command.text.encode("utf-8", "surrogateescape"))


def _append(editor: Editor, command: Command, _index: int) -> None:
    editor.appended.append(("text", command.text))


def _read(editor: Editor, command: Command, _index: int) -> None:
    editor.appended.append(("file", command.text))


def _write(editor: Editor, command: Command, _index: int) -> None:
    editor._file(command.text).write(editor.space + b"\n")


def _print(editor: Editor, _command: Command, _index: int) -> None:
    editor._print(editor.space)


def _print_first(editor: Editor, _command: Command, _index: int) -> None:
    editor._print(editor.space.partition(b"\n")[0])


def _line_number(editor: Editor, _command: Command, _index: int) -> None:
    editor._print(str(editor.number).encode())


def _delete(_editor: Editor, _command: Command, _index: int) -> str:
    return "delete"


def _get(editor: Editor, _command: Command, _index: int) -> None:
    editor.space = editor.hold


def _get_append(editor: Editor, _command: Command, _index: int) -> None:
    editor.space += editor.end + editor.hold


def _keep(editor: Editor, _command: Command, _index: int) -> None:
    editor.hold = editor.space


def _keep_append(editor: Editor, _command: Command, _index: int) -> None:
    editor.hold += editor.end + editor.space


def _exchange(editor: Editor, _command: Command, _index: int) -> None:
    editor.space, editor.hold = editor.hold, editor.space


def _zap(editor: Editor, _command: Command, _index: int) -> None:
    editor.space = b""


def _file_name(editor: Editor, _command: Command, _index: int) -> None:
    editor._print(editor.source.name.encode("utf-8", "surrogateescape"))


def _quit(editor: Editor, command: Command, _index: int) -> str:
    editor.status = command.number or 0
    return "quit" if command.name == "q" else "silent-quit"


def _list(editor: Editor, command: Command, _index: int) -> None:
    shown: list[str] = []
    escapes = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
    for byte in editor.space:
        shown.append(escapes.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"))
    width = 70 if command.number is None else command.number
    line = ""
    for piece in shown:
        if width > 1 and len(line) + len(piece) > width - 1:
            editor._print((line + "\\").encode())
            line = ""
        line += piece
    editor._print((line + "$").encode())


_ACTIONS: dict[str, Callable[[Editor, Command, int], str | None]] = {
    "s": _substitute, "y": _transliterate, "n": _next, "N": _append_next, "d": _delete, "D": _delete_first,
    "c": _change, "i": _insert, "a": _append, "r": _read, "w": _write, "p": _print, "P": _print_first,
    "=": _line_number, "g": _get, "G": _get_append, "h": _keep, "H": _keep_append, "x": _exchange, "z": _zap,
    "q": _quit, "Q": _quit, "l": _list, "F": _file_name,
}  # fmt: skip
