"""The agent's shell: one bash of an unprivileged user, with folders of its own that end with it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import select
import shlex
import signal
import subprocess
import time
from typing import Any

GROUP = "/sys/fs/cgroup/operator"
_PRIVATE = ("/tmp", "/var/tmp", "/dev/shm", "/home/operator")
_LIMITS = (("pids.max", "256"), ("memory.max", "134217728"))
_APART = 0x20000 | 0x8000000 | 0x40000000
"""Mounts, shared memory and a network of its own: CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWNET."""
_MS_REC, _MS_PRIVATE, _MS_NOSUID = 0x4000, 1 << 18, 2
_OPENING, _GRACE = 20.0, 3.0
_libc = ctypes.CDLL(None, use_errno=True)


class Gone(Exception):  # noqa: N818 (it reads as what it is)
    """No shell can be had."""


class Kept:
    """The beginning and the end of a stream that may be endless."""

    def __init__(self, limit: int) -> None:
        self._limit, self._head, self._tail, self.dropped = limit, bytearray(), bytearray(), 0

    def add(self, data: bytes | bytearray) -> None:
        room = max(0, self._limit // 2 - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > self._limit:
            over = len(self._tail) - self._limit // 2
            del self._tail[:over]
            self.dropped += over

    def bytes(self) -> bytes:
        between = f"\n[... {self.dropped} bytes omitted ...]\n".encode() if self.dropped else b""
        return bytes(self._head) + between + bytes(self._tail)


class Shell:
    def __init__(self, uid: int, gid: int, hostname: str) -> None:
        self._uid, self._gid, self._hostname = uid, gid, hostname
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = "/home/operator"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    def prompt(self) -> str:
        home = "/home/operator"
        folder = "~" + self.folder[len(home) :] if f"{self.folder}/".startswith(f"{home}/") else self.folder
        return f"operator@{self._hostname}:{folder}$ "

    def begin(self) -> None:
        """Log in, if nobody has."""
        if self._process is None:
            self._open()

    def run(self, command: str, seconds: float, keep: int) -> dict[str, Any]:
        """Returns what the command said and how it ended; past `seconds` it is killed with all that it started."""
        process = self._process or self._open()
        mark = secrets.token_hex(12)
        self._send(
            f"eval {shlex.quote(command)} </dev/null\n"
            f"builtin printf '\\0%s %d %s\\0' {mark} $? \"$PWD\"; builtin printf '\\0%s\\0' {mark} >&2\n"
        )
        heard = _Hearing(process, mark, keep)
        timed_out = not heard.listen(seconds)
        if timed_out:
            self.kill_children()
            heard.listen(_GRACE)
        if heard.words is None:
            code = process.wait() if heard.ended else 137
            self.close()
            code = code if code >= 0 else 128 - code
        else:
            code, self.folder = int(heard.words[0]), heard.words[1]
        return {
            "output": heard.both.bytes(),
            "stdout": heard.streams[0].bytes(),
            "stderr": heard.streams[1].bytes(),
            "exit_code": code,
            "timed_out": timed_out,
            "dropped": heard.both.dropped > 0,
        }

    def kill_children(self) -> None:
        for pid in members():
            if pid != self.pid:
                _kill(pid)

    def close(self) -> None:
        if self._process is not None:
            _kill(self._process.pid)
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._process, self.folder = None, "/home/operator"

    def _open(self) -> subprocess.Popen[bytes]:
        os.makedirs(GROUP, exist_ok=True)
        for limit, value in _LIMITS:
            with open(f"{GROUP}/{limit}", "w") as file:
                file.write(value)
        environment = {
            "HOME": "/home/operator",
            "USER": "operator",
            "LOGNAME": "operator",
            "SHELL": "/bin/bash",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        }
        process = self._process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
            preexec_fn=self._become,
        )
        mark = secrets.token_hex(12)
        self._send(
            "PS1= PS2= PROMPT_COMMAND=; unset HISTFILE; shopt -s expand_aliases; cd\n"
            f"builtin printf '\\0%s 0 %s\\0' {mark} \"$PWD\"; builtin printf '\\0%s\\0' {mark} >&2\n"
        )
        if not _Hearing(process, mark, 4096).listen(_OPENING):
            self.close()
            raise Gone("no shell opens")
        return process

    def _become(self) -> None:
        """Runs in the child: an ordinary task of `operator`, in a group and with folders of its own."""
        with open(f"{GROUP}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        if _libc.unshare(_APART) or _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None):
            os._exit(1)
        for folder in _PRIVATE:
            mode = b"mode=700,size=32m" if folder.startswith("/home") else b"mode=1777,size=32m"
            if _libc.mount(b"tmpfs", folder.encode(), b"tmpfs", _MS_NOSUID, mode):
                os._exit(1)
        os.chown("/home/operator", self._uid, self._gid)
        os.setgroups([])
        os.setgid(self._gid)
        os.setuid(self._uid)
        _libc.prctl(38, 1, 0, 0, 0)  # no program gives back what was given up

    def _send(self, text: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode("utf-8", "surrogateescape"))
            self._process.stdin.flush()
        except OSError:
            self.close()
            raise Gone("the shell is gone") from None


class _Hearing:
    """Both streams of the shell until each has shown the mark."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, keep: int) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._mark, self._pipes = f"\0{mark}".encode(), (process.stdout, process.stderr)
        self._pending = [bytearray(), bytearray()]
        self._marked: set[int] = set()
        self.words: list[str] | None = None
        self.ended = False
        self.streams, self.both = (Kept(keep), Kept(keep)), Kept(keep)

    def listen(self, seconds: float) -> bool:
        """Returns whether it is over: the command, or the shell itself."""
        until = time.monotonic() + seconds
        while len(self._marked) < 2 and not self.ended:
            left = until - time.monotonic()
            ready = select.select(self._pipes, [], [], max(0.0, left))[0]
            if not ready and left <= 0:
                return False
            for number, pipe in enumerate(self._pipes):
                if pipe in ready:
                    data = os.read(pipe.fileno(), 1 << 16)
                    self.ended = self.ended or not data
                    self._take(number, data)
        return True

    def _take(self, number: int, data: bytes) -> None:
        pending = self._pending[number]
        pending += data
        at = pending.find(self._mark)
        if at < 0:
            zero = pending.find(b"\0", max(0, len(pending) - len(self._mark)))
            keep = len(pending) if zero < 0 or not data else zero
            self._add(number, pending[:keep])
            del pending[:keep]
            return
        end = pending.find(b"\0", at + 1)
        if end < 0 or number in self._marked:
            return
        self._add(number, pending[:at])
        words = pending[at + 1 : end].decode("utf-8", "surrogateescape").split(" ", 2)
        if len(words) == 3:
            self.words = words[1:]
        self._marked.add(number)

    def _add(self, number: int, data: bytes | bytearray) -> None:
        if data:
            self.streams[number].add(data)
            self.both.add(data)


def members() -> list[int]:
    """The processes in the agent's group and in groups below it."""
    found = []
    for folder, _, files in os.walk(GROUP):
        if "cgroup.procs" in files:
            try:
                with open(f"{folder}/cgroup.procs") as file:
                    found += [int(line) for line in file.read().split()]
            except OSError:
                continue
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
