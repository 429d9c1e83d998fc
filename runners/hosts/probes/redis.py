"""redis: a command to the server, on the machine's own loopback, by a client of our own."""

from __future__ import annotations

import contextlib
import shlex
from typing import Protocol

from runners.hosts.outside import Outside
from runners.hosts.probes.network import connected, stranger_on
from runners.probes.arguments import Arguments
from runners.probes.databases import judge
from runners.probes.seen import nothing_held
from runners.worlds import Observation

_PORT = 6379
_LARGEST = 4 << 20
_DEEPEST = 8
_CONFIGURATION = "/etc/redis/redis.conf"


class Stream(Protocol):
    def readline(self) -> bytes: ...

    def read(self, size: int, /) -> bytes: ...

    def write(self, data: bytes, /) -> int: ...

    def flush(self) -> None: ...


class RedisError(Exception):
    """The server's error reply; its text begins with its kind (ERR, NOAUTH, WRONGTYPE, …)."""


def redis(outside: Outside, arguments: Arguments) -> Observation:
    """The server must be the genuine program. Where it wants a password, it gets the one that its configuration
    names."""
    stranger = stranger_on(outside, _PORT)
    if stranger is not None:
        return nothing_held(f"{stranger} answers in Redis' place")
    words, secret = shlex.split(arguments.require("command")), password(outside.files.text(_CONFIGURATION))
    try:
        with connected(outside, "127.0.0.1", _PORT, inside=True) as link, link.makefile("rwb") as stream:
            value = ask(stream, words, secret)
    except RedisError as error:
        return nothing_held(str(error))
    except OSError as error:
        return nothing_held(f"Redis: {error}")
    return judge(value, arguments)


def password(configuration: str) -> str | None:
    """The password that a redis.conf sets: its last one."""
    for line in reversed(configuration.splitlines()):
        name, _, value = line.strip().partition(" ")
        if name.lower() == "requirepass":
            return value.strip().strip("\"'") or None
    return None


def ask(stream: Stream, words: list[str], secret: str | None) -> str | None:
    """A command's answer as text, None for no value; several are joined by spaces. RedisError, OSError.

    Source: the Redis serialization protocol, RESP2.
    """
    if secret is not None:
        # The running server may want another one than its file says, or none: its answer to the question tells.
        with contextlib.suppress(RedisError):
            _exchange(stream, ["AUTH", secret])
    return _exchange(stream, words)


def _exchange(stream: Stream, words: list[str]) -> str | None:
    parts = [word.encode() for word in words]
    stream.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
    stream.flush()
    return _reply(stream)


def _reply(stream: Stream, depth: int = 0) -> str | None:
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:].decode("utf-8", "replace")
    if kind == b"-":
        raise RedisError(rest)
    if kind in (b"+", b":"):
        return rest
    if kind not in (b"$", b"*") or not rest.lstrip("-").isdecimal() or int(rest) > _LARGEST or depth > _DEEPEST:
        raise OSError("it does not answer")
    if int(rest) < 0:
        return None
    if kind == b"*":
        return " ".join(str(_reply(stream, depth + 1)) for _ in range(int(rest)))
    return stream.read(int(rest) + 2)[:-2].decode("utf-8", "replace")
