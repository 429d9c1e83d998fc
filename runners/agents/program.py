"""A program of the user's in a process of its own, spoken to in lines: started, asked in time, killed as a group.

It gets a folder of its own to live in, which goes away with it, and of our environment only what it is granted by name.
It runs with the rights of whoever runs breakfix: that keeps secrets out of its way, it is no cage.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from runners.agents.protocol import AgentUnavailableError

HARMLESS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What of our environment every program gets."""
LONGEST_LINE = 1 << 20
"""Bytes of a line that are read; a longer one is dropped and counts as a line that says nothing."""
_LOG_BYTES = 16 << 10
_BLOCK = 1 << 16
_GRACE = 1.0
"""Seconds that a program has to end by itself once its input is closed."""


class ProgramEnded(Exception):  # noqa: N818 (it reads as what it is)
    """The program closed its output or went away. `code`: its exit code, negative for a signal; None while it lives."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class Program:
    """One running program. `close` may be called at any time, and twice."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises AgentUnavailableError when it cannot be started."""
        self._home = tempfile.mkdtemp(prefix="breakfix-agent-")
        own = {"HOME": self._home, "TMPDIR": self._home}
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(  # noqa: S603 (the user's own command)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._home,
                env={**own, **environment},
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._process = None
            shutil.rmtree(self._home, ignore_errors=True)
            raise AgentUnavailableError(f"the program {command[0]} cannot be started: {error.strerror}") from error
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._process.stdout, selectors.EVENT_READ, self._read)  # type: ignore[arg-type]
        self._selector.register(self._process.stderr, selectors.EVENT_READ, self._note)  # type: ignore[arg-type]
        self._unread = bytearray()
        self._dropping = False
        self._unsent = bytearray()
        self._log = bytearray()
        self._over = False

    @property
    def log(self) -> bytes:
        """What it wrote on standard error so far: the end of it, where that is long."""
        return bytes(self._log)

    def ask(self, line: bytes, until: float) -> bytes | None:
        """Send a line and wait for one, up to a moment of `time.monotonic`. None: there was none in time.

        Raises ProgramEnded.
        """
        self._unsent += line + b"\n"
        return self.listen(until)

    def listen(self, until: float) -> bytes | None:
        """The next line that the program says, as `ask` gives it. A line that is too long comes back empty."""
        while True:
            line = self._line()
            if line is not None:
                return line
            if self._over:
                raise ProgramEnded(self._code())
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._pump(left)

    def close(self) -> None:
        """Close its input, give it a moment, then kill what is left of its group."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        self._unsent.clear()
        self._drop(process.stdin)
        process.stdin.close()
        until = time.monotonic() + _GRACE
        while self._selector.get_map() and (left := until - time.monotonic()) > 0:
            self._pump(left)
            self._unread.clear()
        # Not waited for yet, so its number still belongs to it and its group.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._selector.close()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _pump(self, seconds: float) -> None:
        """Move what can be moved, waiting so long for something to do."""
        if self._process is not None and self._unsent and self._process.stdin not in self._open():
            self._selector.register(self._process.stdin, selectors.EVENT_WRITE, self._send)  # type: ignore[arg-type]
        for key, _ in self._selector.select(seconds):
            key.data(key.fileobj)

    def _open(self) -> list[object]:
        return [key.fileobj for key in self._selector.get_map().values()]

    def _send(self, stream: object) -> None:
        try:
            count = os.write(stream.fileno(), self._unsent[:_BLOCK])  # type: ignore[attr-defined]
        except OSError:
            # It reads no more. Whether it still says something is found out by listening.
            count = len(self._unsent)
        del self._unsent[:count]
        if not self._unsent:
            self._drop(stream)

    def _read(self, stream: object) -> None:
        data = os.read(stream.fileno(), _BLOCK)  # type: ignore[attr-defined]
        if not data:
            self._over = True
            self._drop(stream)
        self._unread += data

    def _note(self, stream: object) -> None:
        data = os.read(stream.fileno(), _BLOCK)  # type: ignore[attr-defined]
        if not data:
            self._drop(stream)
        self._log += data
        del self._log[:-_LOG_BYTES]

    def _drop(self, stream: object) -> None:
        with suppress(KeyError):
            self._selector.unregister(stream)  # type: ignore[arg-type]

    def _line(self) -> bytes | None:
        end = self._unread.find(b"\n")
        if end < 0:
            if len(self._unread) > LONGEST_LINE:
                self._dropping = True
            if self._dropping:
                self._unread.clear()
            return None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        if self._dropping or len(line) > LONGEST_LINE:
            self._dropping = False
            return b""
        return line

    def _code(self) -> int | None:
        """The exit code, waited for a moment: it closes its output just before it ends. It is not reaped here."""
        if self._process is None:
            return None
        until = time.monotonic() + _GRACE
        while time.monotonic() < until:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            self._pump(0.01)
        return None
