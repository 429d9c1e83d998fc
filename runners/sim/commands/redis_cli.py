"""redis-cli 7.0: Redis's command line client."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from runners.sim.commands.context import Context
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.programs.redis import VERSION, RedisError, RedisRequest


def main(ctx: Context) -> int:
    host, port, password, raw = "127.0.0.1", 6379, ctx.environment.get("REDISCLI_AUTH"), not ctx.stdout.is_terminal
    repeat, pause, warn = 1, 0.0, True
    survey = ""
    words = list(ctx.args)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-h", "-p", "-a", "--pass", "-n", "-r", "-i", "-s", "-u", "--user", "-t") and words:
            value = words.pop(0)
            if word == "-h":
                host = value
            elif word == "-p" and value.isdigit():
                port = int(value)
            elif word in ("-a", "--pass"):
                password = value
            elif word == "-r" and value.lstrip("-").isdigit():
                repeat = int(value) if int(value) > 0 else 10
            elif word == "-i":
                # As atof(3) reads it: what is no number is nothing.
                pause = float(value) if re.fullmatch(r"\d{0,9}(\.\d*)?", value) and value.strip(".") else 0.0
            elif word == "-u":
                place = value.split("://")[-1].rpartition("@")
                password = place[0].rpartition(":")[2] or password
                host, _, number = place[2].split("/")[0].partition(":")
                port = int(number) if number.isdigit() else port
        elif word in ("--version", "-v"):
            ctx.line(f"redis-cli {VERSION}")
            return 0
        elif word == "--raw":
            raw = True
        elif word == "--no-raw":
            raw = False
        elif word == "--no-auth-warning":
            warn = False
        elif word == "--help":
            ctx.line(
                f"redis-cli {VERSION}\n\nUsage: redis-cli [OPTIONS] [cmd [arg [arg ...]]]\n  -h <hostname> "
                f"     Server hostname (default: 127.0.0.1).\n  -p <port>          Server port (default: "
                f"6379).\n  -a <password>      Password to use when connecting to the server."
            )
            return 0
        elif word in ("--bigkeys", "--scan"):
            survey = word
        elif word not in ("-c", "-x", "--verbose", "--tls", "-3", "-e", "--csv", "--json"):
            ctx.stderr.write(
                f"Unrecognized option or bad number of args for: '{word}'\n".encode("utf-8", "surrogateescape")
            )
            return 1
    if password is not None and warn and "-a" in ctx.args:
        ctx.stderr.write(
            b"Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
        )
    if survey:
        return _survey(ctx, host, port, password, biggest=survey == "--bigkeys")
    commands = [words] if words else _from_input(ctx)
    status = 0
    for index in range(repeat):
        if index:
            ctx.sleep(pause or 0.001)
        for command in commands:
            status = _one(ctx, host, port, password, command, raw)
            if status:
                return status
    return status


def _from_input(ctx: Context) -> list[list[str]]:
    commands = []
    for line in ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines():
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.split()
        if words and words[0].lower() not in ("quit", "exit"):
            commands.append(words)
    return commands


def _one(ctx: Context, host: str, port: int, password: str | None, command: list[str], raw: bool) -> int:
    link = connect(ctx.machine, host, port, cred=ctx.cred)
    ctx.sleep(link.seconds)
    if isinstance(link, ConnectFailure):
        ctx.stderr.write(
            f"Could not connect to Redis at {host}:{port}: {link.message}\n".encode("utf-8", "surrogateescape")
        )
        return 1
    process = link.process
    if process is None:
        kind = link.remote.kind if link.remote is not None else ""
        if kind == "redis" and command[0].lower() == "ping":
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
    program = ctx.machine.programs[process.program]
    if command[0].lower() == "shutdown":
        ctx.run(["kill", str(process.pid)])
        return 0
    answer = program.serve(ctx.machine, process, RedisRequest(tuple(command), password), link)
    if command[0].lower() == "auth" and len(command) > 1:
        password = command[-1]
    if isinstance(answer, RedisError):
        ctx.line(f"(error) {answer.text}" if not raw else answer.text)
        if raw:
            ctx.line()
        return 0
    verbatim = command[0].lower() == "info" or (len(command) > 1 and command[0].lower() == "client")
    ctx.out(
        _text(
            answer,
            raw=raw or verbatim,
            status=command[0].lower()
            in ("set", "ping", "auth", "select", "flushall", "save", "config", "bgsave", "type"),
        )
    )
    return 0


def _survey(ctx: Context, host: str, port: int, password: str | None, *, biggest: bool) -> int:
    """--scan and --bigkeys: all keys, and which of each type is the largest."""
    link = connect(ctx.machine, host, port, cred=ctx.cred)
    ctx.sleep(link.seconds)
    process = None if isinstance(link, ConnectFailure) else link.process
    if isinstance(link, ConnectFailure) or process is None or process.program != "redis-server":
        message = link.message if isinstance(link, ConnectFailure) else "Server closed the connection"
        ctx.stderr.write(f"Could not connect to Redis at {host}:{port}: {message}\n".encode("utf-8", "surrogateescape"))
        return 1
    program = ctx.machine.programs[process.program]

    def asked(*words: str) -> object:
        return program.serve(ctx.machine, process, RedisRequest(words, password), link)

    keys = asked("KEYS", "*")
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
        kind = str(asked("TYPE", name))
        size = asked("LLEN" if kind == "list" else "STRLEN", name)
        sizes[name] = (kind, size if isinstance(size, int) else 0)
    _report(ctx, sizes)
    return 0


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


def _text(reply: object, *, raw: bool, status: bool, indent: str = "") -> str:
    """A reply as a terminal shows it (with types and numbers), or `raw` as a pipe gets it."""
    if raw:
        if isinstance(reply, tuple):
            return "".join(_text(item, raw=True, status=status) for item in reply) or "\n"
        text = "" if reply is None else str(reply)
        return text if text.endswith("\n") else text + "\n"
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
            lines.append(
                f"{lead}{index:>{width}}) {_text(item, raw=False, status=False, indent=indent + ' ' * (width + 2))}"
            )
        return "".join(lines)
    if status:
        return f"{reply}\n"
    quoted = str(reply).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{quoted}"\n'
