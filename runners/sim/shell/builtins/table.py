"""All builtins by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from runners.sim.shell.builtins import (
    directories,
    flow,
    getopts,
    information,
    jobs,
    kill,
    reading,
    settings,
    text,
    variables,
)

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

Builtin = Callable[["Shell", list[str]], int]

BUILTINS: Mapping[str, Builtin] = {
    ":": flow.true, "true": flow.true, "false": flow.false, "exit": flow.exit_, "logout": flow.exit_,
    "return": flow.return_, "break": flow.loop_control, "continue": flow.loop_control, "eval": flow.eval_,
    "source": flow.source, ".": flow.source, "exec": flow.exec_, "trap": flow.trap, "shift": flow.shift,
    "export": variables.export, "readonly": variables.readonly, "declare": variables.declare,
    "typeset": variables.declare, "local": variables.local, "unset": variables.unset, "let": variables.let,
    "read": reading.read, "mapfile": reading.mapfile, "readarray": reading.mapfile, "getopts": getopts.getopts,
    "cd": directories.cd, "pwd": directories.pwd, "pushd": directories.pushd, "popd": directories.popd,
    "dirs": directories.dirs, "set": settings.set_, "shopt": settings.shopt, "umask": settings.umask,
    "ulimit": settings.ulimit, "alias": settings.alias, "unalias": settings.unalias, "enable": settings.enable,
    "type": information.type_, "command": information.command, "builtin": information.builtin,
    "hash": information.hash_, "history": information.history, "help": information.help_, "times": information.times,
    "caller": information.caller, "complete": information.nothing, "compgen": information.nothing,
    "compopt": information.nothing, "bind": information.nothing, "fc": information.history,
    "jobs": jobs.jobs, "fg": jobs.foreground, "bg": jobs.background, "wait": jobs.wait, "kill": kill.kill,
    "disown": jobs.disown, "suspend": information.nothing,
    "echo": text.echo, "printf": text.printf, "test": text.test, "[": text.test,
}  # fmt: skip

SPECIAL = frozenset(
    {":", ".", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "trap",
     "unset", "source", "times"}
)  # fmt: skip
