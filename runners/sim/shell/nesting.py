"""Shells inside shells at one terminal: `sudo -i`, `su - postgres`, `bash`."""

from __future__ import annotations

from typing import NamedTuple

from runners.formats.shell.ast import AndOr, Body, Program, Simple, Statement
from runners.sim.commands.open_files import Device
from runners.sim.machine import Machine
from runners.sim.shell.session import Session

NOTHING = Body(())
NO_MORE = Program((), None)


class Closing(NamedTuple):
    """A line that a program writes to the journal when the shell inside it has ended."""

    identifier: str
    message: str
    pid: int
    uid: int


class Entered(BaseException):
    """Leaves the line that started an interactive shell, for that shell to be given the next ones.

    The programs on the way up stay in the process table and add their part. Not an Exception: nothing may swallow it.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.session = session
        self.processes: list[int] = []
        self.closings: list[Closing] = []


class Keyboard(Device):
    """The terminal that a line was typed at: it has nothing more to say.

    `free`: a shell may take it over now; `attended`: somebody waits there for the end of what runs.
    """

    __slots__ = ("attended", "free")

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, "/dev/null", (1, 3))
        self.free = False
        self.attended = False


class Left(NamedTuple):
    """Where in a typed text the shell is, and so what was not run: the rest of the line, and the lines after that."""

    program: Program = NO_MORE
    body: int = 0
    statement: int = 0

    @property
    def line(self) -> Body:
        bodies = self.program.bodies
        return Body(bodies[self.body].statements[self.statement + 1 :]) if bodies else NOTHING

    @property
    def lines(self) -> Program:
        return Program(self.program.bodies[self.body + 1 :], self.program.problem)


def may_nest(statement: Statement) -> bool:
    """Is this one command, or a list of which the last is one, in the foreground?"""
    command = statement.command
    return not statement.background and (isinstance(command, (Simple, AndOr)))
