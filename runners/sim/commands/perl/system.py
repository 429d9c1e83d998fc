"""Perl's functions on the system: printing, files, folders, programs."""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Callable, Sequence

from runners.sim.commands import children
from runners.sim.commands.awk.streams import external, internal
from runners.sim.commands.perl.files import Handle, Output, close, opened
from runners.sim.commands.perl.functions import Function
from runners.sim.commands.perl.nodes import Node
from runners.sim.commands.perl.runtime import Exit, Runtime
from runners.sim.commands.perl.values import Reference, Value, formatted, integer, number, text, true
from runners.sim.files.inode import EXECUTE, READ, WRITE, Inode, permits
from runners.sim.shell.globbing import expand


class Print(Node):
    """print, printf, say. `target`: the handle it names, or None for the selected one."""

    __slots__ = ("arguments", "how", "target")

    def __init__(self, how: str, target: Node | None, arguments: Sequence[Node]) -> None:
        super().__init__()
        self.how = how
        self.target = target
        self.arguments = tuple(arguments)

    def scalar(self, rt: Runtime) -> Value:
        output = self._output(rt)
        if output is None:
            return ""
        values = [value for argument in self.arguments for value in argument.values(rt)]
        if self.how == "printf":
            shown = formatted(text(values[0]) if values else "", values[1:])
        else:
            shown = text(rt.find("$,").value).join(map(text, values))
            shown += "\n" if self.how == "say" else text(rt.find("$\\").value)
        output.write("".join(char if char < "\u0100" else "?" for char in shown))
        if output is rt.handles["STDERR"].output or true(rt.find("$|").value):
            output.flush()
        return 1

    def _output(self, rt: Runtime) -> Output | None:
        if self.target is None and rt.selected == "STDOUT":
            return rt.out
        named = rt.selected if self.target is None else self.target.scalar(rt)
        if named == "STDOUT":
            return rt.stdout
        found = rt.handle(named)
        return found.output if found is not None else None


class ReadLine(Node):
    """<STDIN>, <$fh>, <>. `handle`: what gives it."""

    __slots__ = ("handle", "name")

    def __init__(self, handle: Node, name: str) -> None:
        super().__init__()
        self.handle = handle
        self.name = name

    def scalar(self, rt: Runtime) -> Value:
        found = rt.handle(self.handle.scalar(rt))
        if found is None:
            return None
        rt.spend()
        rt.last_read = (self.name, found)
        return found.record(rt.find("$/").value)

    def values(self, rt: Runtime) -> list[Value]:
        records: list[Value] = []
        while (record := self.scalar(rt)) is not None:
            records.append(record)
        return records


class Glob(Node):
    """<*.log>, glob("…")."""

    __slots__ = ("pattern",)
    many = True

    def __init__(self, pattern: Node) -> None:
        super().__init__()
        self.pattern = pattern

    def values(self, rt: Runtime) -> list[Value]:
        found: list[Value] = []
        for word in external(text(self.pattern.scalar(rt))).split():
            plain = not any(char in word for char in "*?[")
            found += [internal(path) for path in ([word] if plain else expand(rt.ctx.files, word, rt.ctx.spend))]
        return found


class FileTest(Node):
    """-e, -f, -d, -s and their like."""

    __slots__ = ("letter", "name")

    def __init__(self, letter: str, name: Node) -> None:
        super().__init__()
        self.letter = letter
        self.name = name

    def scalar(self, rt: Runtime) -> Value:
        value = self.name.scalar(rt)
        if self.letter == "t":
            return 1 if (handle := rt.handle(value)) and handle.output and handle.output.writer.is_terminal else ""
        try:
            inode = rt.ctx.files.stat(external(text(value)), follow=self.letter != "l")
        except OSError as error:
            rt.failed(error)
            return None
        return _tested(rt, self.letter, inode)


def _tested(rt: Runtime, letter: str, inode: Inode) -> Value:
    kinds: dict[str, Callable[[int], bool]] = {
        "d": stat.S_ISDIR, "l": stat.S_ISLNK, "f": stat.S_ISREG, "p": stat.S_ISFIFO, "S": stat.S_ISSOCK,
        "b": stat.S_ISBLK, "c": stat.S_ISCHR,
    }  # fmt: skip
    rights = {"r": READ, "w": WRITE, "x": EXECUTE}
    if letter in kinds:
        return 1 if kinds[letter](inode.mode) else ""
    if letter in rights:
        return 1 if permits(inode, rt.ctx.cred, rights[letter]) else ""
    if letter == "s":
        return inode.content.size or ""
    if letter == "z":
        return 1 if inode.content.size == 0 else ""
    if letter in "MAC":
        return (rt.ctx.machine.clock.now - inode.mtime) / 86400
    return 1


def _values(rt: Runtime, arguments: Sequence[Node]) -> list[Value]:
    return [value for argument in arguments for value in argument.values(rt)]


def _tried(rt: Runtime, run: Callable[[], object]) -> Value:
    """1, or 0 with $! set."""
    try:
        run()
    except OSError as error:
        rt.failed(error)
        return 0
    return 1


def _open(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    mode, *rest = [text(value) for value in _values(rt, arguments[1:])]
    mode = mode.strip()
    if not rest:
        mode, rest = _two_argument(mode)
    layers = mode.partition(":")[0].strip()
    if layers not in ("<", ">", ">>", "+<", "+>", "-|", "|-"):
        raise rt.die(f"Unknown open() mode '{mode}'", line)
    rt.flush()
    found = rest if layers == "-|" else rest[:1]
    try:
        handle = opened(rt.ctx, layers, found[0], found[1:])
    except OSError as error:
        rt.failed(error)
        return 0
    rt.opened()
    target = arguments[0]
    named = target.scalar(rt)
    if isinstance(named, str) and named:
        rt.handles[named] = handle
    else:
        target.assign(rt, Reference("GLOB", handle))
        rt.handles[f"fd {len(rt.handles)}"] = handle
    return 1


def _two_argument(mode: str) -> tuple[str, list[str]]:
    for sign in (">>", "+<", ">", "<"):
        if mode.startswith(sign):
            return sign, [mode[len(sign) :].strip()]
    if mode.endswith("|"):
        return "-|", [mode[:-1].strip()]
    if mode.startswith("|"):
        return "|-", [mode[1:].strip()]
    return "<", [mode]


def _handle(rt: Runtime, arguments: Sequence[Node]) -> Handle | None:
    return rt.handle(arguments[0].scalar(rt)) if arguments else None


def _close(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = _handle(rt, arguments)
    if found is None:
        return ""
    if found is rt.diamond:
        rt.diamond.finish()
        rt.diamond.count = 0
        return 1
    close(rt, found)
    for name, known in list(rt.handles.items()):
        if known is found and name not in ("STDIN", "STDOUT", "STDERR"):
            del rt.handles[name]
    return 1 if not found.command else ""


def _eof(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    if arguments and arguments[0].scalar(rt) == "()":
        return 1 if rt.diamond.all_read() else ""
    found = _handle(rt, arguments) if arguments else rt.last_read[1] if rt.last_read else rt.diamond
    return 1 if found is None or found.ended else ""


_SHELL = re.compile(r"[$&*(){}\[\]'\";\\|?<>~`\n]")


def _system(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    rt.flush()
    words = [external(text(value)) for value in _values(rt, arguments)]
    try:
        # What needs no shell is run without one.
        plain = len(words) == 1 and not _SHELL.search(words[0]) and words[0].split()
        if plain:
            words = plain
        status = children.shell(rt.ctx, words[0]) if len(words) == 1 and not plain else rt.ctx.run(words)
    except OSError as error:
        rt.failed(error)
        rt.child_status = -1
        return -1
    return rt.truth_of_status(status)


def _exec(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    rt.flush()
    words = [external(text(value)) for value in _values(rt, arguments)]
    try:
        raise Exit(rt.ctx.become(words if len(words) > 1 else ["sh", "-c", words[0]]))
    except OSError as error:
        rt.failed(error)
        return ""


def _exit(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    raise Exit(integer(arguments[0].scalar(rt)) & 255 if arguments else 0)


def _unlink(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    names = [external(text(value)) for value in _values(rt, arguments)]
    return sum(_tried(rt, lambda name=name: rt.ctx.files.unlink(name)) for name in names)  # type: ignore[misc]


def _rename(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    old, new = (external(text(value)) for value in _values(rt, arguments)[:2])
    return _tried(rt, lambda: rt.ctx.files.rename(old, new))


def _mkdir(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    name, *mode = _values(rt, arguments)
    return _tried(rt, lambda: rt.ctx.files.mkdir(external(text(name)), integer(mode[0]) if mode else 0o777))


def _rmdir(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return _tried(rt, lambda: rt.ctx.files.rmdir(external(text(arguments[0].scalar(rt)))))


def _chmod(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    mode, *names = _values(rt, arguments)
    return sum(_tried(rt, lambda name=name: rt.ctx.files.chmod(external(text(name)), integer(mode))) for name in names)  # type: ignore[misc]


def _stat(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    try:
        inode = rt.ctx.files.stat(external(text(arguments[0].scalar(rt))))
    except OSError as error:
        rt.failed(error)
        return []
    size = inode.content.size
    return [0, inode.number, inode.mode, inode.nlink, inode.uid, inode.gid, 0, size, int(inode.mtime), int(inode.mtime),
            int(inode.ctime), 4096, -(-size // 512)]  # fmt: skip


def _read_folder(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = arguments[0].scalar(rt)
    table = rt.find("%" + text(found)) if isinstance(found, str) else found.target if found is not None else {}
    names = table.get("names", []) if isinstance(table, dict) else []
    taken, names[:] = names[:], []
    return taken


def _open_folder(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    name = external(text(arguments[1].scalar(rt)))
    try:
        names = [".", "..", *map(internal, rt.ctx.files.names(name))]
    except OSError as error:
        rt.failed(error)
        return 0
    value = arguments[0].scalar(rt)
    if isinstance(value, str) and value:
        rt.find("%" + value)["names"] = names
    else:
        arguments[0].assign(rt, Reference("GLOB", {"names": names}))
    return 1


def _sleep(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    seconds = number(arguments[0].scalar(rt)) if arguments else 1e9
    rt.flush()
    rt.ctx.sleep(max(seconds, 0))
    return int(seconds)


def _select(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    if len(arguments) == 4:
        rt.ctx.sleep(max(number(arguments[3].scalar(rt)), 0))
        return 0
    before = rt.selected
    if arguments:
        value = arguments[0].scalar(rt)
        if isinstance(value, Reference):
            name = next((name for name, known in rt.handles.items() if known is value.target), before)
        else:
            name = text(value)
        rt.selected = name
    return before


def _basename(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return posixpath.basename(text(arguments[0].scalar(rt)).rstrip("/"))


def _dirname(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return posixpath.dirname(text(arguments[0].scalar(rt)).rstrip("/")) or "."


SYSTEM: dict[str, Function] = {
    "open": _open, "close": _close, "eof": _eof, "system": _system, "exec": _exec, "exit": _exit, "unlink": _unlink,
    "rename": _rename, "mkdir": _mkdir, "rmdir": _rmdir, "chmod": _chmod, "stat": _stat, "readdir": _read_folder,
    "opendir": _open_folder, "closedir": lambda _rt, _arguments, _line: 1, "sleep": _sleep, "select": _select,
    "binmode": lambda _rt, _arguments, _line: 1,
}  # fmt: skip
SYSTEM_LISTS = frozenset({"stat", "readdir"})
PATHS: dict[str, Function] = {"basename": _basename, "dirname": _dirname}
"""Of File::Basename."""
