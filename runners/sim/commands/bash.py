"""bash: the shell as a program."""

from __future__ import annotations

import errno
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.streams import Stream
from runners.sim.commands.waiting import Hub
from runners.sim.shell.nesting import Entered, Keyboard
from runners.sim.shell.running import TerminalStream, run_script
from runners.sim.shell.session import LONG_OPTIONS, SET_OPTIONS, Session

NAMES = ("bash", "rbash")
_VERSION = """GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)
Copyright (C) 2022 Free Software Foundation, Inc.
License GPLv3+: GNU GPL version 3 or later <http://gnu.org/licenses/gpl.html>

This is free software; you are free to change and redistribute it.
There is NO WARRANTY, to the extent permitted by law."""


def main(ctx: Context) -> int:
    words = ctx.args
    options: set[str] = set()
    command = login = from_stdin = False
    index = 0
    while index < len(words) and words[index][:1] in "-+" and len(words[index]) > 1:
        word = words[index]
        index += 1
        if word == "--":
            break
        if word == "--version":
            ctx.line(_VERSION)
            return 0
        if word.startswith("--"):
            login = login or word == "--login"
            if word in ("--rcfile", "--init-file"):
                index += 1
            continue
        for letter in word[1:]:
            if letter == "c":
                command = True
            elif letter == "l":
                login = True
            elif letter == "s":
                from_stdin = True
            elif letter in "io":
                if letter == "o" and index < len(words):
                    if words[index] not in LONG_OPTIONS:
                        ctx.err(f"{words[index]}: invalid option name")
                        return 2
                    options.add(words[index])
                    index += 1
            elif letter in SET_OPTIONS:
                options.add(SET_OPTIONS[letter])
            else:
                ctx.err(f"-{letter}: invalid option")
                return 2
    rest = words[index:]
    if command:
        if not rest:
            ctx.err("-c: option requires an argument")
            return 2
        started = Started("command", rest[1] if len(rest) > 1 else ctx.argv[0], rest[2:], rest[0])
    elif rest and not from_stdin:
        try:
            text = ctx.files.text(rest[0])
        except OSError as error:
            return _unreadable(ctx, rest[0], error)
        if "\0" in text[:80]:
            ctx.err(f"{rest[0]}: cannot execute binary file")
            return 126
        started = Started("script", rest[0], rest[1:], text)
    else:
        started = Started("script", ctx.argv[0], rest, None)
    return run(ctx, started, options, login=login)


class Started(NamedTuple):
    """How a shell was called. `text`: what it is to run; None where that comes from standard input."""

    mode: str
    name: str
    positional: list[str]
    text: str | None


def run(ctx: Context, started: Started, options: set[str], *, login: bool, dialect: str = "bash") -> int:
    """The life of a shell process. Raises Entered where it is one that somebody now types to."""
    mode, name, positional, given = started
    if given is None and isinstance(ctx.stdin, Keyboard) and ctx.stdin.free and isinstance(ctx.stdout, TerminalStream):
        mode, name = "interactive", f"-{ctx.name.lstrip('-')}" if login else ctx.argv[0].rsplit("/", 1)[-1]
    session = Session(
        variables=ctx.environment, cred=ctx.cred, cwd=ctx.files.cwd, umask=ctx.files.umask, mode=mode, name=name,
        pid=ctx.pid, ppid=_parent(ctx), started=ctx.machine.clock.now, seed=ctx.machine.seed, tty=ctx.tty,
        dialect=dialect,
    )  # fmt: skip
    session.source_name = name
    session.positional = positional
    session.options |= options
    session.login = login
    text = given or ""
    if given is None and mode == "script":
        text = ctx.stdin.read().decode("utf-8", "surrogateescape")
    if login:
        profile = _profile(ctx, ".profile" if dialect == "dash" else ".bash_profile")
        text = profile + text
        session.line_offset = -profile.count("\n")
    elif mode == "interactive" and dialect == "bash":
        text = _sourced(ctx, "/etc/bash.bashrc", f"{ctx.environment.get('HOME', '/')}/.bashrc")
    fds: dict[int, Stream] = dict(ctx.descriptors or {})
    for number, stream in ((0, ctx.stdin), (1, ctx.stdout), (2, ctx.stderr)):
        if isinstance(stream, Stream) and type(stream).__name__ != "Closed":
            fds[number] = stream
    hub = ctx.hub if ctx.hub is not None else Hub(ctx.machine, ctx.machine.clock.now + 600)
    status = run_script(ctx.machine, hub, session, text, fds)
    if mode != "interactive":
        return status
    own = ctx.machine.processes.get(ctx.pid)
    if own is not None and login:
        ctx.machine.processes.put(own._replace(argv=(name,)))
    raise Entered(session)


def _unreadable(ctx: Context, path: str, error: OSError) -> int:
    if error.errno == errno.EISDIR:
        ctx.stderr.write(f"{path}: {path}: Is a directory\n".encode("utf-8", "surrogateescape"))
        return 126
    ctx.err(f"{path}: {error.strerror}")
    return 127 if error.errno == errno.ENOENT else 126


def _parent(ctx: Context) -> int:
    process = ctx.machine.processes.get(ctx.pid)
    return process.ppid if process is not None else 1


def _profile(ctx: Context, first: str) -> str:
    """What a log-in shell reads first: the file `first` at home, else .profile."""
    home = ctx.environment.get("HOME", "/")
    own = next((path for path in (f"{home}/{first}", f"{home}/.profile") if ctx.files.exists(path)), "")
    return _sourced(ctx, "/etc/profile", own)


def _sourced(ctx: Context, *paths: str) -> str:
    """Commands that read those of the files that there are."""
    return "".join(f". {path}\n" for path in paths if path and ctx.files.exists(path))
