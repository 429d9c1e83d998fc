"""What a simulated command is given: its arguments, streams, files and machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, Protocol

from runners.sim.commands.open_files import Directory, open_file
from runners.sim.commands.streams import Stream
from runners.sim.commands.waiting import Hub
from runners.sim.files.inode import Cred
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.text import is_digits


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
"""Run another command (argv) with the context's streams, as execvp would find it; returns its exit status.

OSError (ENOENT, EACCES, ENOEXEC) when it cannot be executed: each tool words that in its own way.
"""


class Context:
    """One running command. `argv[0]` is the name it was called by. Text is str with surrogateescape, data is bytes."""

    __slots__ = (
        "argv",
        "descriptors",
        "environment",
        "files",
        "hub",
        "in_place",
        "machine",
        "opened",
        "pid",
        "runner",
        "stderr",
        "stdin",
        "stdout",
        "tty",
    )

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
        hub: Hub | None = None,
        descriptors: Mapping[int, Stream] | None = None,
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
        self.hub = hub
        self.descriptors = descriptors
        self.opened: list[Stream] = []
        self.in_place = False

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
        if self.hub is not None:
            self.hub.sleep(seconds)
        else:
            self.machine.advance(seconds)

    def open(self, path: str) -> Reader:
        """A file for reading; `-` and /dev/stdin are standard input. OSError as open(2) and read(2) give."""
        if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            return self.stdin
        if path.startswith("/dev/fd/") and self.descriptors is not None:
            stream = self.descriptors.get(int(path[8:])) if is_digits(path[8:]) else None
            if stream is not None:
                return stream
        stream = open_file(self.machine, self.files, path, read=True)
        if isinstance(stream, Directory):
            stream.read()
        self.opened.append(stream)
        return stream

    def create(self, path: str, *, append: bool = False) -> Writer:
        """A file for writing, made or emptied (or appended to). OSError as open(2) gives."""
        if path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            return self.stdout
        if path in ("/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"):
            return self.stderr
        stream = open_file(self.machine, self.files, path, write=True, append=append, truncate=not append)
        self.opened.append(stream)
        return stream

    def close(self) -> None:
        """The command has ended: what it opened is closed, as the kernel does for a process."""
        for stream in self.opened:
            stream.close()
        self.opened.clear()

    def run(self, argv: Sequence[str]) -> int:
        """Run another command with this one's streams, environment and user (env, xargs, find -exec, timeout, sudo)."""
        return self.runner(argv, self)

    def become(self, argv: Sequence[str]) -> int:
        """Run another command in this one's place: its process goes on as the other's (execve)."""
        self.in_place = True
        try:
            return self.runner(argv, self)
        finally:
            self.in_place = False
