"""redis-cli 7.0: Redis's command line client."""

from __future__ import annotations

import re
import shlex

from runners.sim.commands.context import Context
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.programs.redis import VERSION, RedisError, RedisRequest


def main(ctx: Context) -> int:
    host, port, password, raw = "127.0.0.1", 6379, ctx.environment.get("REDISCLI_AUTH"), not ctx.stdout.is_terminal
    repeat, pause, warn = 1, 0.0, True
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
        elif word in ("--bigkeys", "--stat", "--latency", "--scan"):
            words = ["KEYS", "*"] if word == "--scan" else ["INFO"]
        elif word not in ("-c", "-x", "--verbose", "--tls", "-3", "-e", "--csv", "--json"):
            ctx.stderr.write(
                f"Unrecognized option or bad number of args for: '{word}'\n".encode("utf-8", "surrogateescape")
            )
            return 1
    if password is not None and warn and "-a" in ctx.args:
        ctx.stderr.write(
            b"Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
        )
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
