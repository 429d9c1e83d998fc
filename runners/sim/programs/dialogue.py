"""An open connection byte by byte, as nc, telnet and bash's /dev/tcp hold one: what was sent, and what has come back."""

from __future__ import annotations

import errno
import re

from runners.sim.files.tree import fail
from runners.sim.machine import Machine
from runners.sim.network.connect import Connection
from runners.sim.network.http import HttpRequest, HttpResponse, exchange
from runners.sim.programs.redis_data import RedisError, RedisRequest, RedisSession
from runners.sim.programs.redis_protocol import reply, take
from runners.text import is_digits

_REQUEST_LINE = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.([01])\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_SSH_GREETING = b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n"
_REFUSED = b"-NOAUTH Authentication required.\r\n"
_MOST_SENT = 1 << 20
"""Bytes that a server reads without understanding them, before it has had enough."""


class Dialogue:
    """Both directions of one connection.

    `answer`: what came and was not read yet; `seconds`: how long it took to come; `ended`: the server has closed it.
    """

    __slots__ = ("_sent", "_session", "answer", "connection", "ended", "machine", "seconds")

    def __init__(self, machine: Machine, connection: Connection) -> None:
        self.machine = machine
        self.connection = connection
        self.answer = bytearray(_greeting(connection))
        self.seconds = 0.0
        self.ended = False
        self._sent = b""
        self._session = RedisSession()

    def send(self, data: bytes) -> None:
        """OSError EPIPE when nobody is there any more."""
        listener = self.connection.process
        if listener is not None:
            # As it is now: what a process knows changes.
            now = self.machine.processes.get(listener.pid)
            self.ended = self.ended or now is None
            self.connection = self.connection._replace(process=now or listener)
        if self.ended:
            raise fail(errno.EPIPE)
        self._sent += data
        while self._sent and not self.ended and self._answered():
            pass
        if len(self._sent) > _MOST_SENT:
            self.ended = True

    def _answered(self) -> bool:
        """Is what was sent enough for the server to do something?"""
        process, remote = self.connection.process, self.connection.remote
        program = process.program if process is not None else ""
        if program == "redis-server" or (remote is not None and remote.kind == "redis"):
            return self._redis()
        if program == "sshd":
            return self._ssh()
        if process is not None and program not in self.machine.programs:
            # A command that listens, and only takes in what comes.
            self._sent = b""
            return False
        return self._http()

    def _redis(self) -> bool:
        taken = take(self._sent)
        if taken is None:
            return False
        words, self._sent = taken
        if isinstance(words, RedisError):
            self.answer += reply(words)
            self.ended = True
            return True
        if not words:
            return True
        name = words[0].lower()
        # What a browser was made to send is not served.
        self.ended = name in ("post", "host:", "quit")
        if self.ended and name != "quit":
            return True
        process = self.connection.process
        if process is None:
            self.answer += b"+PONG\r\n" if name == "ping" else _REFUSED
            return True
        program = self.machine.programs[process.program]
        request = RedisRequest(words, None, self._session)
        self.answer += reply(program.serve(self.machine, process, request, self.connection))
        self.connection = self.connection._replace(process=self.machine.processes.get(process.pid) or process)
        return True

    def _ssh(self) -> bool:
        if b"\n" not in self._sent:
            return False
        if not self._sent.startswith(b"SSH-"):
            self.answer += b"Invalid SSH identification string.\r\n"
        self.ended = True
        return True

    def _http(self) -> bool:
        if b"\n" not in self._sent:
            return False
        first = _REQUEST_LINE.match(self._sent)
        end = _HEAD_END.search(self._sent)
        if first is None:
            self.ended = True
            process = self.connection.process
            if process is not None and process.program == "nginx":
                line = self._sent.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "surrogateescape")
                none = HttpRequest("", line, "", (), b"", self.connection.source)
                answer = exchange(self.machine, self.connection, none)
                if isinstance(answer, HttpResponse):
                    self._say(answer, with_body=True)
            return True
        if end is None:
            return False
        headers = _headers(self._sent[first.end() : end.start()].decode("latin-1"))
        length = headers.get("content-length", ("", "0"))[1]
        stop = end.end() + (int(length) if is_digits(length) and len(length) < 10 else 0)
        if len(self._sent) < stop:
            return False
        body, self._sent = self._sent[end.end() : stop], self._sent[stop:]
        method, target = first.group(1).decode(), first.group(2).decode("latin-1")
        unnamed = "" if first.group(3) == b"1" else self.connection.address
        host = headers.get("host", ("", unnamed))[1]
        request = HttpRequest(method, target, host, tuple(headers.values()), body, self.connection.source)
        answer = exchange(self.machine, self.connection, request)
        self.seconds += answer.seconds
        if not isinstance(answer, HttpResponse):
            self.ended = True
            return True
        wish = headers.get("connection", ("", "keep-alive" if first.group(3) == b"1" else "close"))[1].lower()
        self.ended = wish != "keep-alive"
        self._say(answer, with_body=method != "HEAD")
        return True

    def _say(self, answer: HttpResponse, *, with_body: bool) -> None:
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        for name, value in answer.headers:
            lines.append(f"{name}: {'close' if self.ended and name.lower() == 'connection' else value}")
        self.answer += ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")
        if with_body:
            self.answer += answer.body


def _greeting(connection: Connection) -> bytes:
    """What a server says before it is spoken to."""
    if connection.process is not None:
        return _SSH_GREETING if connection.process.program == "sshd" else b""
    remote = connection.remote
    if remote is None or not remote.banner or remote.kind not in ("tcp", "ssh"):
        return b""
    return remote.banner.rstrip("\r\n").encode("utf-8", "surrogateescape") + b"\r\n"


def _headers(text: str) -> dict[str, tuple[str, str]]:
    """Lower-case name -> (name, value)."""
    found = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip().lower()] = (name.strip(), value.strip())
    return found
