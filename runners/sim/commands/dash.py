"""dash, which is also sh: the shell of scripts."""

from __future__ import annotations

import errno

from runners.sim.commands.bash import Started, run
from runners.sim.commands.context import Context
from runners.sim.shell.builtins.dash import LETTERS, OPTIONS

NAMES = ("dash",)


def main(ctx: Context) -> int:
    words = ctx.args
    options: set[str] = set()
    command = login = from_stdin = False
    index = 0
    while index < len(words) and words[index][:1] in ("-", "+") and len(words[index]) > 1:
        word = words[index]
        index += 1
        if word == "--":
            break
        for letter in word[1:]:
            if letter == "o":
                name = words[index] if index < len(words) else ""
                if name not in OPTIONS:
                    return _refuse(ctx, f"Illegal option -o {name}")
                options.add(name)
                index += 1
            elif letter in LETTERS:
                options.add(LETTERS[letter])
            elif letter not in "clsi":
                return _refuse(ctx, f"Illegal option {word[0]}{letter}")
            command = command or letter == "c"
            login = login or letter == "l"
            from_stdin = from_stdin or letter == "s"
    rest = words[index:]
    name = ctx.argv[0]
    login = login or name.startswith("-")
    if command:
        if not rest:
            return _refuse(ctx, "-c requires an argument")
        started = Started("command", rest[1] if len(rest) > 1 else name, rest[2:], rest[0])
    elif rest and not from_stdin:
        try:
            started = Started("script", rest[0], rest[1:], ctx.files.text(rest[0]))
        except OSError as error:
            if error.errno == errno.EISDIR:
                # It can be opened, and reading it fails as if it were empty.
                return 0
            missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
            return _refuse(ctx, f"cannot open {rest[0]}: {'No such file' if missing else error.strerror}")
    else:
        started = Started("script", name, rest, None)
    return run(ctx, started, options, login=login, dialect="dash")


def _refuse(ctx: Context, message: str) -> int:
    ctx.stderr.write(f"{ctx.argv[0]}: 0: {message}\n".encode("utf-8", "surrogateescape"))
    return 2
