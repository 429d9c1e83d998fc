"""What a simulated command is given: its arguments, streams, files and machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn, Protocol

from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.machine import Machine


class Reader(Protocol):
    """A standard input. Everything is bytes."""

    def read(self, size: int = -1) -> bytes: ...

    def lines(self) -> Iterator[bytes]:
        """Lines with their newline, as they come (the last may lack it)."""
        ...


class Writer(Protocol):
    """A standard output or error. Writing may raise OSError (ENOSPC, EPIPE ends the command quietly)."""

    def write(self, data: bytes) -> None: ...

    @property
    def is_terminal(self) -> bool: ...


class CommandExit(Exception):  # noqa: N818 (it is not an error: a command ends itself with it)
    """Ends the command with a status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


Runner = Callable[[Sequence[str], "Context"], int]
"""Run another command (argv) with the context's streams, as execvp would find it; returns its exit status."""


class Context:
    """One running command. `argv[0]` is the name it was called by. Text is str with surrogateescape, data is bytes."""

    __slots__ = ("argv", "environment", "files", "machine", "pid", "runner", "stderr", "stdin", "stdout", "tty")

    def __init__(
        self,
        *,
        machine: Machine,
        argv: Sequence[str],
        files: FileView,
        environment: dict[str, str],
        stdin: Reader,
        stdout: Writer,
        stderr: Writer,
        runner: Runner,
        pid: int,
        tty: str = "pts/0",
    ) -> None:
        self.machine = machine
        self.argv = list(argv)
        self.files = files
        self.environment = environment
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.runner = runner
        self.pid = pid
        self.tty = tty

    @property
    def name(self) -> str:
        """What messages begin with: the last part of the name it was called by."""
        return self.argv[0].rsplit("/", 1)[-1]

    @property
    def args(self) -> list[str]:
        return self.argv[1:]

    @property
    def cred(self) -> Cred:
        return self.files.cred

    def out(self, text: str) -> None:
        self.stdout.write(text.encode("utf-8", "surrogateescape"))

    def line(self, text: str = "") -> None:
        self.out(text + "\n")

    def err(self, text: str) -> None:
        """One line on standard error, with the command's name in front."""
        self.stderr.write(f"{self.name}: {text}\n".encode("utf-8", "surrogateescape"))

    def die(self, text: str, status: int = 1) -> NoReturn:
        self.err(text)
        raise CommandExit(status)

    def spend(self, steps: int) -> None:
        """Charge the command's budget: about one step a line of text or a microsecond of work."""
        self.machine.budget.spend(steps)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass while this command waits."""
        self.machine.advance(seconds)

    def run(self, argv: Sequence[str]) -> int:
        """Run another command with this one's streams, environment and user (env, xargs, find -exec, timeout, sudo)."""
        return self.runner(argv, self)
