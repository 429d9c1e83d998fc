"""command: run a program with its arguments, without a shell. Also what `shell` shares with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from runners.sim.lifecycle import Failure, resolve
from runners.sim.machine import Job, Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find
from runners.sim.tasks.globs import matches_any
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.users import accounts
from scenario_dsl.values import Value

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SECONDS = 120.0
STEPS = 50_000_000
"""What a task's command may use: virtual time, and work. Far more than a typed line, for breaking takes some."""


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    arguments.exclusive("cmd", "argv")
    text, argv = arguments.text("cmd"), arguments.texts("argv")
    if text is not None:
        try:
            argv = tuple(shlex.split(text))
        except ValueError as error:
            raise ModuleFailure(str(error)) from error
    if not argv:
        raise ModuleFailure("no command given", {"rc": 256})
    return execute(machine, arguments, argv, argv)


def execute(machine: Machine, arguments: Arguments, argv: Sequence[str], shown: Value) -> TaskResult:
    """Run `argv` as root in a session of its own, unless `creates` or `removes` say that it is done already."""
    folder = arguments.path("chdir") or "/root"
    silent: dict[str, Value] = {"cmd": shown, "rc": 0, "stdout": "", "stderr": ""}
    if find(machine, folder, follow=True) is None:
        raise ModuleFailure("Unable to change directory before execution.", {**silent, "rc": None})
    skipped = _skipped(machine, arguments, folder)
    if skipped is not None:
        pattern, state = skipped
        message = f"Did not run command since '{pattern}' {state}"
        return TaskResult(msg=message, values={**silent, "stdout": f"skipped, since {pattern} {state}"})
    found = resolve(machine.view(cwd=folder), argv, PATH)
    if isinstance(found, Failure):
        message = f"[Errno {found.errno}] {os.strerror(found.errno)}: b'{argv[0]}'"
        raise ModuleFailure(message, {**silent, "rc": found.errno})
    root = accounts(machine).user("root")
    environment = (
        ("HOME", "/root"),
        ("LANG", "C.UTF-8"),
        ("LOGNAME", "root"),
        ("PATH", PATH),
        ("SHELL", root.shell if root is not None else "/bin/bash"),
        ("USER", "root"),
    )
    done = machine.run_job(
        machine,
        Job(tuple(argv), machine.view().cred, cwd=folder, environment=environment, seconds=SECONDS, steps=STEPS),
    )
    output, errors = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
    if arguments.flag("strip_empty_ends", True):
        output, errors = output.rstrip("\r\n"), errors.rstrip("\r\n")
    values: dict[str, Value] = {"cmd": shown, "rc": done.exit_code, "stdout": output, "stderr": errors}
    if done.exit_code != 0:
        raise ModuleFailure("non-zero return code", {**values, "changed": True})
    return TaskResult(changed=True, values=values)


def _skipped(machine: Machine, arguments: Arguments, folder: str) -> tuple[str, str] | None:
    """The pattern because of which there is nothing to do, and what is so about it."""
    creates, removes = arguments.path("creates"), arguments.path("removes")
    view = machine.view(cwd=folder)
    if creates is not None and matches_any(view, creates):
        return creates, "exists"
    if removes is not None and not matches_any(view, removes):
        return removes, "does not exist"
    return None
