"""redis-cli 7.0: Redis's command line client."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.network.connect import ConnectFailure, Connection, connect
from runners.sim.programs.redis_config import VERSION
from runners.sim.programs.redis_data import RedisError, RedisRequest, RedisSession, Status
from runners.sim.programs.redis_protocol import inline
from runners.text import is_digits


@dataclass(slots=True)
class _Asked:
    """What the command line says. Filled in while it is read."""

    host: str = "127.0.0.1"
    port: int = 6379
    password: str | None = None
    database: int | None = None
    raw: bool = False
    repeat: int = 1
    pause: float = 0.0
    warn: bool = False
    survey: str = ""
    pattern: str = "*"
    last_from_input: bool = False
    words: tuple[str, ...] = ()


def main(ctx: Context) -> int:
    asked = _Asked(password=ctx.environment.get("REDISCLI_AUTH"), raw=not ctx.stdout.is_terminal)
    ended = _read(ctx, asked)
    if ended is not None:
        return ended
    if asked.warn:
        ctx.stderr.write(
            b"Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
        )
    if asked.survey:
        return _survey(ctx, asked)
    words = asked.words
    if asked.last_from_input:
        words = (*words, ctx.stdin.read().decode("utf-8", "surrogateescape"))
    commands = [words] if words else _from_input(ctx)
    if not commands:
        return 0
    link = _connect(ctx, asked)
    if link is None:
        return 1
    for index in range(asked.repeat):
        if index:
            ctx.sleep(asked.pause or 0.001)
        for command in commands:
            if command[0].lower() in ("quit", "exit") and not words:
                return 0
            status = _one(ctx, asked, link, command)
            if status:
                return status
    return 0


def _read(ctx: Context, asked: _Asked) -> int | None:
    """Read the options; the status where they end it."""
    words = list(ctx.args)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in _VALUES and words:
            _value(asked, word, words.pop(0))
        elif word in ("--version", "-v"):
            ctx.line(f"redis-cli {VERSION}")
            return 0
        elif word in ("--raw", "--no-raw"):
            asked.raw = word == "--raw"
        elif word == "--no-auth-warning":
            asked.warn = False
        elif word == "-x":
            asked.last_from_input = True
        elif word == "--help":
            ctx.line(
                f"redis-cli {VERSION}\n\nUsage: redis-cli [OPTIONS] [cmd [arg [arg ...]]]\n  -h <hostname> "
                f"     Server hostname (default: 127.0.0.1).\n  -p <port>          Server port (default: "
                f"6379).\n  -a <password>      Password to use when connecting to the server."
            )
            return 0
        elif word in ("--bigkeys", "--scan"):
            asked.survey = word
        elif word not in ("-c", "--verbose", "--tls", "-3", "-2", "-e", "--csv", "--json"):
            ctx.stderr.write(
                f"Unrecognized option or bad number of args for: '{word}'\n".encode("utf-8", "surrogateescape")
            )
            return 1
    asked.words = tuple(words)
    asked.warn = asked.warn and "--no-auth-warning" not in ctx.args
    return None


_VALUES = ("-h", "-p", "-a", "--pass", "-n", "-r", "-i", "-s", "-u", "--user", "-t", "--pattern", "--count")


def _value(asked: _Asked, word: str, value: str) -> None:
    if word == "-h":
        asked.host = value
    elif word == "-p" and is_digits(value):
        asked.port = int(value)
    elif word in ("-a", "--pass"):
        asked.password, asked.warn = value, True
    elif word == "-n":
        # As atoi(3) reads it.
        digits = re.match(r"-?[0-9]{1,9}", value)
        asked.database = int(digits[0]) if digits is not None else 0
    elif word == "-r" and is_digits(value.lstrip("-")):
        asked.repeat = int(value) if int(value) > 0 else 10
    elif word == "-i":
        # As atof(3) reads it: what is no number is nothing.
        asked.pause = float(value) if re.fullmatch(r"\d{0,9}(\.\d*)?", value) and value.strip(".") else 0.0
    elif word == "--pattern":
        asked.pattern = value
    elif word == "-u":
        place = value.split("://")[-1].rpartition("@")
        asked.password = place[0].rpartition(":")[2] or asked.password
        asked.host, _, number = place[2].split("/")[0].partition(":")
        asked.port = int(number) if is_digits(number) else asked.port


def _from_input(ctx: Context) -> list[tuple[str, ...]]:
    commands = []
    for line in ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines():
        words = inline(line)
        if words is None:
            ctx.line("Invalid argument(s)")
        elif words:
            commands.append(words)
    return commands


class _Link(NamedTuple):
    """A connection to a server, and what it knows of it."""

    connection: Connection
    session: RedisSession

    def ask(self, ctx: Context, *words: str) -> object:
        process = self.connection.process
        assert process is not None
        program = ctx.machine.programs[process.program]
        held = ctx.machine.processes.get(process.pid) or process
        return program.serve(ctx.machine, held, RedisRequest(words, None, self.session), self.connection)


def _connect(ctx: Context, asked: _Asked) -> _Link | None:
    """Connect, say the password, and choose the database: what goes wrong with those two is told, and no end."""
    made = connect(ctx.machine, asked.host, asked.port, cred=ctx.cred)
    ctx.sleep(made.seconds)
    if isinstance(made, ConnectFailure):
        ctx.stderr.write(
            f"Could not connect to Redis at {asked.host}:{asked.port}: {made.message}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return None
    link = _Link(made, RedisSession())
    if made.process is None or made.process.program != "redis-server":
        return link
    if asked.password is not None:
        _told(ctx, "AUTH failed", link.ask(ctx, "AUTH", asked.password))
    if asked.database is not None:
        _told(ctx, f"SELECT {asked.database} failed", link.ask(ctx, "SELECT", str(asked.database)))
    return link


def _told(ctx: Context, what: str, answer: object) -> None:
    if isinstance(answer, RedisError):
        ctx.stderr.write(f"{what}: {answer.text}\n".encode("utf-8", "surrogateescape"))


def _one(ctx: Context, asked: _Asked, link: _Link, command: Sequence[str]) -> int:
    process, name = link.connection.process, command[0].lower()
    if process is None:
        remote = link.connection.remote
        kind = remote.kind if remote is not None else ""
        if kind == "redis" and name == "ping":
            ctx.line("PONG")
            return 0
        ctx.stderr.write(
            b"(error) NOAUTH Authentication required.\n"
            if kind == "redis"
            else b"Error: Server closed the connection\n"
        )
        return 1
    if process.program != "redis-server":
        ctx.stderr.write(b'Error: Protocol error, got "H" as reply type byte\n')
        return 1
    if name == "shutdown":
        ctx.run(["kill", str(process.pid)])
        return 0
    answer = link.ask(ctx, *command)
    if isinstance(answer, RedisError):
        ctx.line(f"(error) {answer.text}" if not asked.raw else answer.text)
        if asked.raw:
            ctx.line()
        return 0
    verbatim = name == "info" or (len(command) > 1 and (name, command[1].lower()) == ("client", "list"))
    ctx.out(_text(answer, raw=asked.raw or verbatim))
    return 0


def _survey(ctx: Context, asked: _Asked) -> int:
    """--scan and --bigkeys: all keys, and which of each type is the largest."""
    link = _connect(ctx, asked)
    if link is None:
        return 1
    process, biggest = link.connection.process, asked.survey == "--bigkeys"
    if process is None or process.program != "redis-server":
        where = f"{asked.host}:{asked.port}"
        ctx.stderr.write(f"Could not connect to Redis at {where}: Server closed the connection\n".encode())
        return 1
    keys = link.ask(ctx, "KEYS", "*" if biggest else asked.pattern)
    if isinstance(keys, RedisError):
        ctx.line(f"ERROR: {keys.text}" if biggest else keys.text)
        return 1
    names = [str(key) for key in keys] if isinstance(keys, tuple) else []
    if not biggest:
        for name in names:
            ctx.line(name)
        return 0
    sizes = {}
    for name in names:
        kind = str(link.ask(ctx, "TYPE", name))
        size = link.ask(ctx, _SIZES.get(kind, "STRLEN"), name)
        sizes[name] = (kind, size if isinstance(size, int) else 0)
    _report(ctx, sizes)
    return 0


_SIZES = {"list": "LLEN", "hash": "HLEN", "set": "SCARD", "zset": "ZCARD"}
_UNITS = {
    "list": "items",
    "hash": "fields",
    "string": "bytes",
    "stream": "entries",
    "set": "members",
    "zset": "members",
}


def _report(ctx: Context, sizes: Mapping[str, tuple[str, int]]) -> None:
    ctx.out(
        "\n# Scanning the entire keyspace to find biggest keys as well as\n# average sizes per key type.  You can use "
        "-i 0.1 to sleep 0.1 sec\n# per 100 SCAN commands (not usually needed).\n\n"
    )
    largest: dict[str, tuple[str, int]] = {}
    for name, (kind, size) in sizes.items():
        if kind not in largest or size > largest[kind][1]:
            largest[kind] = (name, size)
            shown = f"'\"{name}\"'"
            ctx.line(f"[00.00%] Biggest {kind:<6} found so far {shown} with {size} {_UNITS.get(kind, 'bytes')}")
    total = sum(map(len, sizes))
    ctx.line(f"\n-------- summary -------\n\nSampled {len(sizes)} keys in the keyspace!")
    ctx.line(f"Total key length in bytes is {total} (avg len {total / max(len(sizes), 1):.2f})\n")
    for kind, unit in _UNITS.items():
        if kind in largest:
            name, size = largest[kind]
            shown = f"'\"{name}\"'"
            ctx.line(f"Biggest {kind:>6} found {shown} has {size} {unit}")
    ctx.line()
    for kind, unit in _UNITS.items():
        members = [size for known, size in sizes.values() if known == kind]
        share = 100 * len(members) / max(len(sizes), 1)
        mean = sum(members) / max(len(members), 1)
        ctx.line(f"{len(members)} {kind}s with {sum(members)} {unit} ({share:05.2f}% of keys, avg size {mean:.2f})")


def _text(reply: object, *, raw: bool, indent: str = "") -> str:
    """A reply as a terminal shows it (with types and numbers), or `raw` as a pipe gets it."""
    if raw:
        if isinstance(reply, RedisError):
            return f"{reply.text}\n"
        if isinstance(reply, tuple):
            return "".join(_text(item, raw=True) for item in reply) or "\n"
        text = "" if reply is None else str(reply)
        return text if text.endswith("\n") else text + "\n"
    if isinstance(reply, RedisError):
        return f"(error) {reply.text}\n"
    if reply is None:
        return "(nil)\n"
    if isinstance(reply, int):
        return f"(integer) {reply}\n"
    if isinstance(reply, tuple):
        if not reply:
            return "(empty array)\n"
        width = len(str(len(reply)))
        lines = []
        for index, item in enumerate(reply, 1):
            lead = "" if index == 1 else indent
            lines.append(f"{lead}{index:>{width}}) {_text(item, raw=False, indent=indent + ' ' * (width + 2))}")
        return "".join(lines)
    if isinstance(reply, Status):
        return f"{reply}\n"
    quoted = str(reply).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{quoted}"\n'
