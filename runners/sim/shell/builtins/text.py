"""echo, printf and test as builtins: the commands of those names, with the shell's own beginnings of messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runners.sim.commands import test_
from runners.sim.commands.echo import render
from runners.sim.commands.printf import PrintfError, format_all
from runners.sim.shell import conditions
from runners.sim.shell.builtins.arguments import options, show_usage

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def echo(shell: Shell, argv: list[str]) -> int:
    stream = shell.fds.get(1)
    data = render(argv[1:], escapes="xpg_echo" in shell.session.shopt)
    if stream is None:
        shell.error("echo: write error: Bad file descriptor")
        return 1
    if data:
        stream.write(data)
    return 0


def printf(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "v:")
    if not rest:
        show_usage(shell, "printf")
        return 2

    def problem(message: str) -> None:
        shell.error(f"printf: {message}")

    try:
        data, status = format_all(rest[0], rest[1:], problem, shell.spend, shell.machine.clock.now)
    except PrintfError as error:
        if error.output:
            shell.out(error.output.decode("utf-8", "surrogateescape"))
        shell.error(f"printf: {error.message}")
        return 1
    if given:
        name = given[-1][1] or ""
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*)\])?", name)
        if match is None:
            shell.error(f"printf: `{name}': not a valid identifier")
            return 2
        shell.assign(match.group(1), data.decode("utf-8", "surrogateescape"), subscript=match.group(2))
        return status
    stream = shell.fds.get(1)
    if stream is None:
        shell.error("printf: write error: Bad file descriptor")
        return 1
    if data:
        stream.write(data)
    return status


def test(shell: Shell, argv: list[str]) -> int:
    words = argv[1:]
    if argv[0] == "[":
        if not words or words[-1] != "]":
            shell.error("[: missing `]'")
            return 2
        words = words[:-1]
    try:
        return int(
            not test_.evaluate(words, shell.view, lambda operator, word: conditions.unary(shell, operator, word))
        )
    except test_.TestError as problem:
        shell.error(f"{argv[0]}: {problem}")
        return 2
