"""A running Perl program: its variables and scopes, and what its parts tell each other."""

from __future__ import annotations

import errno
import os
from typing import Any

from runners.sim.commands.awk.streams import internal
from runners.sim.commands.context import Context
from runners.sim.commands.perl.files import Diamond, Handle, Output, standard
from runners.sim.commands.perl.values import Box, Code, Died, PerlError, Reference, Value, integer, text
from runners.sim.regexes import Match

_MEMORY = 32 << 20
"""Characters that one text may have."""


class Scope:
    """Lexical variables of one block, by name with sigil."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.names: dict[str, Any] = {}
        self.parent = parent


class Next(Exception):  # noqa: N818 (control flow)
    """next and last. `label`: the loop that is meant, "" for the innermost."""

    def __init__(self, label: str, last: bool) -> None:
        super().__init__(label)
        self.label = label
        self.last = last


class Return(Exception):  # noqa: N818
    def __init__(self, values: list[Value]) -> None:
        super().__init__()
        self.values = values


class Exit(Exception):  # noqa: N818
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Runtime:
    """`names`: package variables; `subs`: named subroutines; `saved`: what `local` has to give back.

    `calls`: of the subroutines that run, whether a list is wanted of each; `topic`: $_; `errno`: $!.
    """

    __slots__ = (
        "calls", "child_status", "ctx", "diamond", "errno", "handles", "last_read", "match", "names", "out",
        "saved", "scope", "script", "selected", "stdout", "subs", "topic", "walks",
    )  # fmt: skip

    def __init__(self, ctx: Context, script: str, arguments: list[str]) -> None:
        self.ctx = ctx
        self.script = script
        self.names: dict[str, Any] = {"@ARGV": list(arguments), "%ENV": _environment(ctx), "@INC": [], "%INC": {}}
        self.topic = Box()
        self.names["$_"] = self.topic
        for name, value in (("$,", None), ("$\\", None), ("$/", "\n"), ('$"', " "), ("$;", "\x1c"), ("$|", 0),
                            ("$0", script), ("$@", ""), ("$^T", int(ctx.machine.clock.now))):  # fmt: skip
            self.names[name] = Box(value)
        self.subs: dict[str, Code] = {}
        self.scope = Scope(None)
        self.saved: list[tuple[str, Any]] = []
        self.match: Match | None = None
        self.walks: list[tuple[dict[str, Value], int]] = []
        self.errno = 0
        self.child_status = 0
        self.stdout = Output(ctx.stdout)
        self.out = self.stdout
        self.handles: dict[str, Handle] = standard(ctx, self.stdout)
        self.diamond = Diamond(self)
        self.handles["ARGV"] = self.diamond
        self.selected = "STDOUT"
        self.last_read: tuple[str, Handle] | None = None
        self.calls: list[bool] = []

    def spend(self, steps: int = 1) -> None:
        self.ctx.spend(steps)

    def room(self, size: int) -> None:
        """Charge for a text of that many characters, which is not made where it would be too large."""
        if size > _MEMORY:
            raise PerlError("Out of memory!\n")
        self.ctx.spend(size >> 6)

    # -- variables

    def find(self, name: str) -> Any:
        """The variable: a Box, list or dict. It is made where it is not there yet."""
        scope: Scope | None = self.scope
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = fresh(name)
        return found

    def declare(self, name: str) -> Any:
        found = self.scope.names[name] = fresh(name)
        return found

    def set(self, name: str, value: Value) -> None:
        self.find(name).value = value

    def localise(self, name: str) -> Any:
        """`local`: a fresh variable of that name, until the block ends."""
        self.saved.append((name, self.names.get(name)))
        found = self.names[name] = fresh(name)
        if name == "$_":
            self.topic = found
        return found

    def restore(self, depth: int) -> None:
        while len(self.saved) > depth:
            name, value = self.saved.pop()
            self.names[name] = fresh(name) if value is None else value
            if name == "$_":
                self.topic = self.names[name]

    def opened(self) -> None:
        """An open that went well has asked whether that is a terminal: the error of the answer stays in $!."""
        self.errno = errno.ENOTTY

    # -- messages

    def failed(self, error: OSError) -> None:
        self.errno = error.errno or errno.EIO

    @property
    def problem(self) -> str:
        return os.strerror(self.errno) if self.errno else ""

    def located(self, message: str, line: int) -> str:
        """A message of `die` and `warn`: without a newline of its own it says where it comes from."""
        if message.endswith("\n"):
            return message
        read = ""
        if self.last_read is not None and self.last_read[1].count:
            read = f", <{self.last_read[0]}> line {self.last_read[1].count}"
        return f"{message} at {self.script} line {line}{read}.\n"

    def die(self, message: str, line: int) -> Died:
        return Died(self.located(message, line))

    def warn(self, message: str) -> None:
        self.flush()
        self.ctx.stderr.write(message.encode("latin-1", "replace"))

    def flush(self) -> None:
        for handle in list(self.handles.values()):
            if handle.output is not None:
                handle.output.flush()

    def handle(self, value: Value) -> Handle | None:
        """The file handle that a name or a reference means."""
        if isinstance(value, Reference) and value.kind == "GLOB":
            found = value.target
            return found if isinstance(found, Handle) else None
        return self.handles.get(text(value).removeprefix("*").removeprefix("main::"))

    def call(self, name: str, arguments: list[Value], many: bool, line: int) -> list[Value]:
        code = self.subs.get(name)
        if code is None:
            raise self.die(f"Undefined subroutine &main::{name} called", line)
        return code.call(arguments, many)

    def exit_status(self, error: PerlError) -> int:
        """What `die` ends the program with: the last system error, the last child's status, or 255."""
        if not isinstance(error, Died):
            return getattr(error, "status", 1)
        return self.errno or (self.child_status >> 8) & 255 or 255

    def truth_of_status(self, status: int) -> int:
        self.child_status = status << 8 if status < 128 or status > 165 else status - 128
        return integer(self.child_status)


def fresh(name: str) -> Any:
    return Box() if name[0] == "$" else [] if name[0] == "@" else {}


def _environment(ctx: Context) -> dict[str, Value]:
    return {name: internal(value) for name, value in ctx.environment.items()}
