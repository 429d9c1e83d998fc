"""The agent's shell: one bash of the container for a whole episode, driven line by line over the engine's socket.

Each command is evaluated in it and followed by a mark that nobody can foresee, on both streams: exit code and folder
stand behind it. Output is kept as bytes, in the order in which the engine delivers it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import signal
import socket
import time
from dataclasses import dataclass, field

from runners.hosts.engine import Engine, EngineError
from runners.hosts.kernel_view import children, descendants

_OPENING_SECONDS = 15.0
_GRACE_SECONDS = 2.0
_KILLED = 137
_ARGV = ("/bin/bash", "--noprofile", "--norc", "--noediting", "-i")
_ENVIRONMENT = {
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
_SETTINGS = (
    "PS1= PS2= PROMPT_COMMAND=; unset HISTFILE; set +o history; shopt -u checkwinsize huponexit; "
    "shopt -s expand_aliases"
)

_NO_TERMINAL = re.compile(rb"bash: \[\d+: \d+ \(\d+\)\] tcsetattr: Inappropriate ioctl for device\n")
"""What an interactive bash without a terminal says when a program is killed: of no interest to anybody."""


@dataclass(slots=True)
class Kept:
    """The beginning and the end of a stream that may be endless; the middle is dropped beyond `limit` bytes."""

    limit: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def add(self, data: bytes) -> None:
        room = self.limit // 2 - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if len(self.tail) > self.limit:
            over = len(self.tail) - self.limit // 2
            del self.tail[:over]
            self.dropped += over

    def bytes(self) -> bytes:
        if not self.dropped:
            return bytes(self.head + self.tail)
        return bytes(self.head) + f"\n[... {self.dropped} bytes omitted ...]\n".encode() + bytes(self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What one command gave. folder: where the shell is now; ended: the shell itself is gone."""

    output: bytes
    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool
    dropped: bool
    ended: bool


class Session:
    """A shell. It is opened when something is typed, and again after it has ended."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine, self._container = engine, container
        self._link: socket.socket | None = None
        self._name = ""
        self.pid = 0
        self._status = 0
        self.folder = "/root"

    def run(self, command: str, *, seconds: float, keep: int) -> Spoken:
        """Type a command and wait for its end, at most so long; then all that it started is killed.

        Raises EngineError where the container takes no commands.
        """
        if self._link is None:
            self._open()
        mark = secrets.token_hex(12)
        before = children(self.pid)
        # The text is handed over as one quoted word, so that what is unfinished in it cannot swallow the mark.
        lines = (
            f"(exit {self._status})\n"
            f"eval {shlex.quote(command)} </dev/null\n"
            f"builtin printf '\\0%s %d %s\\0' {mark} $? \"$PWD\"; builtin printf '\\0%s\\0' {mark} >&2\n"
        )
        listening = _Listening(mark, keep)
        self._send(lines.encode("utf-8", "surrogateescape"))
        ended = self._listen(listening, seconds)
        timed_out = not listening.done and not ended
        if timed_out:
            ended = self._interrupt(listening, before)
        if listening.done:
            status = self._status = listening.status
            self.folder = listening.folder or self.folder
        else:
            status = self._engine.exec_status(self._name) if ended else _KILLED
            self.close()
        return Spoken(
            output=listening.both.bytes(),
            stdout=listening.streams[1].bytes(),
            stderr=listening.streams[2].bytes(),
            exit_code=status,
            timed_out=timed_out,
            dropped=listening.both.dropped > 0,
            ended=ended,
        )

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        if self.pid:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
        self.pid, self._status, self.folder = 0, 0, "/root"

    def _open(self) -> None:
        self._name, self._link = self._engine.attach(self._container, _ARGV, _ENVIRONMENT, "/root")
        mark = secrets.token_hex(12)
        listening = _Listening(mark, 1 << 12)
        start = f"{_SETTINGS}; [ ! -r /root/.bashrc ] || . /root/.bashrc; {_SETTINGS}"
        self._send(
            f"{start}\nbuiltin printf '\\0%s 0 /root\\0' {mark}; builtin printf '\\0%s\\0' {mark} >&2\n".encode()
        )
        self._listen(listening, _OPENING_SECONDS)
        if not listening.done:
            self.close()
            raise EngineError("the world opened no shell")
        self.pid = self._engine.exec_pid(self._name)

    def _send(self, data: bytes) -> None:
        assert self._link is not None
        self._link.settimeout(_OPENING_SECONDS)
        try:
            self._link.sendall(data)
        except OSError as error:
            self.close()
            raise EngineError(f"the world's shell is gone: {error}") from None

    def _listen(self, listening: _Listening, seconds: float) -> bool:
        """Take in what comes until the mark, or for so long. Returns whether the shell has ended."""
        assert self._link is not None
        until = time.monotonic() + seconds
        while not listening.done:
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._link.settimeout(left)
            try:
                data = self._link.recv(1 << 16)
            except TimeoutError:
                return False
            except OSError:
                return True
            if not data:
                return True
            listening.feed(data)
        return False

    def _interrupt(self, listening: _Listening, before: frozenset[int]) -> bool:
        """Kill what the command started, then have the shell itself give up what it is doing."""
        for _ in range(3):
            for pid in sorted(descendants(self.pid, before)):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGINT)
            if self._listen(listening, _GRACE_SECONDS) or listening.done:
                break
        return not listening.done


class _Listening:
    """The frames of the engine taken apart, until both streams have shown the mark."""

    def __init__(self, mark: str, keep: int) -> None:
        self._mark = f"\0{mark}".encode()
        self._raw = bytearray()
        self._pending = {1: bytearray(), 2: bytearray()}
        self._marked: set[int] = set()
        self.streams = {1: Kept(keep), 2: Kept(keep)}
        self.both = Kept(keep)
        self.status = 0
        self.folder = ""

    @property
    def done(self) -> bool:
        return len(self._marked) == 2

    def feed(self, data: bytes) -> None:
        self._raw += data
        while len(self._raw) >= 8:
            size = int.from_bytes(self._raw[4:8], "big")
            if len(self._raw) < 8 + size:
                return
            stream, body = self._raw[0], bytes(self._raw[8 : 8 + size])
            del self._raw[: 8 + size]
            if stream in self._pending and stream not in self._marked:
                self._take(stream, body)

    def _take(self, stream: int, body: bytes) -> None:
        pending = self._pending[stream]
        pending += body
        at = pending.find(self._mark)
        if at < 0:
            # What may be the beginning of the mark waits for the rest.
            safe = len(pending) - len(self._mark)
            zero = pending.find(b"\0", max(0, safe))
            keep = len(pending) if zero < 0 else zero
            self._keep(stream, bytes(pending[:keep]))
            del pending[:keep]
            return
        end = pending.find(b"\0", at + 1)
        if end < 0:
            return
        self._keep(stream, bytes(pending[:at]))
        words = pending[at + 1 : end].decode("utf-8", "surrogateescape").split(" ", 2)
        if len(words) == 3:
            self.status, self.folder = int(words[1]), words[2]
        self._marked.add(stream)

    def _keep(self, stream: int, data: bytes) -> None:
        data = _NO_TERMINAL.sub(b"", data) if stream == 2 else data
        if data:
            self.streams[stream].add(data)
            self.both.add(data)
