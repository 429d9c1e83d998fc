"""cron: a job or a variable in a user's crontab or in /etc/cron.d, kept by the name in the comment above it."""

from __future__ import annotations

import posixpath
import re

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, read_text
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.users import accounts
from scenario_dsl.values import Value

_COMMENT = "#Ansible: "
_FIELDS = ("minute", "hour", "day", "month", "weekday")
_SPECIAL = ("reboot", "yearly", "annually", "monthly", "weekly", "daily", "hourly")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    name, job = arguments.require("name"), arguments.text("job")
    is_present = arguments.choice("state", ("present", "absent"), "present") == "present"
    is_variable = arguments.flag("env")
    _check(arguments, is_present, is_variable, name)
    path = _place(machine, arguments)
    text = read_text(machine, path) if find(machine, path, follow=True) is not None else ""
    old = text.splitlines()
    if is_variable:
        new = _variable(list(old), name, f'{name}="{job}"' if is_present else None)
    else:
        new = _job(list(old), name, _entry(arguments) if is_present else None)
    if new != old and "cron_file" in arguments and not is_variable and not any(line.strip() for line in new):
        machine.view().unlink(path)
        return TaskResult(changed=True, values={"cron_file": arguments.text("cron_file"), "state": "absent"})
    # A table whose last line is not ended is mended on the way.
    changed = new != old or (text != "" and not text.endswith(("\n", "\r")))
    if changed:
        _save(machine, arguments, path, new)
    values: dict[str, Value] = {
        "jobs": tuple(line[len(_COMMENT) :] for line in new if line.startswith(_COMMENT)),
        "envs": tuple(line.split("=")[0] for line in new if re.match(r"\S+=", line)),
    }
    return TaskResult(changed=changed, values=values)


def _check(arguments: Arguments, is_present: bool, is_variable: bool, name: str) -> None:
    if arguments.path("cron_file") == "/etc/crontab":
        raise ModuleFailure("Will not manage /etc/crontab via cron_file, see documentation.")
    special = arguments.choice("special_time", _SPECIAL)
    if special and any((arguments.text(field) or "*") != "*" for field in _FIELDS):
        raise ModuleFailure("You cannot combine special_time with any of the time or day/date parameters.")
    if is_variable and " " in name:
        raise ModuleFailure("Invalid name for environment variable")
    if not is_present:
        return
    if "cron_file" in arguments and "user" not in arguments:
        raise ModuleFailure("To use cron_file=... parameter you must specify user=... as well")
    if "job" not in arguments:
        raise ModuleFailure("You must specify 'job' to install a new cron job or variable")


def _place(machine: Machine, arguments: Arguments) -> str:
    file = arguments.path("cron_file")
    if file is not None:
        return posixpath.join("/etc/cron.d", file)
    user = arguments.text("user") or "root"
    if accounts(machine).user(user) is None:
        raise ModuleFailure(f"crontab:  user `{user}' unknown")
    return f"/var/spool/cron/crontabs/{user}"


def _entry(arguments: Arguments) -> str:
    owner = f"{arguments.text('user')} " if "cron_file" in arguments else ""
    special = arguments.text("special_time")
    when = f"@{special}" if special else " ".join(arguments.text(field) or "*" for field in _FIELDS)
    job = arguments.require("job").strip("\r\n")
    return f"{'#' if arguments.flag('disabled') else ''}{when} {owner}{job}"


def _job(lines: list[str], name: str, entry: str | None) -> list[str]:
    """The lines with the job (the line after its comment) set, added or taken out."""
    comment = _COMMENT + name
    if comment not in lines:
        if entry is None:
            return lines
        if entry in lines:
            # A job that stands there by hand is adopted: it gets its comment.
            place = lines.index(entry)
            return lines if lines[place - 1].startswith(_COMMENT) else [*lines[:place], comment, *lines[place:]]
        return [*lines, comment, entry]
    kept: list[str] = []
    index = 0
    while index < len(lines):
        if lines[index] != comment:
            kept.append(lines[index])
        else:
            index += 1
            if entry is not None:
                kept += [comment, entry]
        index += 1
    return kept


def _variable(lines: list[str], name: str, declaration: str | None) -> list[str]:
    places = [index for index, line in enumerate(lines) if line.startswith(f"{name}=")]
    if places:
        kept = []
        for index, line in enumerate(lines):
            if index not in places:
                kept.append(line)
            elif declaration is not None:
                kept.append(declaration)
        return kept
    if declaration is None:
        return lines
    return [declaration, *lines]


def _save(machine: Machine, arguments: Arguments, path: str, lines: list[str]) -> None:
    """Write the table back. A user's own belongs to the user and to the group that crontab(1) runs in."""
    text = "\n".join(lines).rstrip("\r\n")
    view = machine.view()
    new = find(machine, path, follow=True) is None
    try:
        view.write(path, (text + "\n" if text else "").encode("utf-8", "surrogateescape"))
        if new and "cron_file" not in arguments:
            known = accounts(machine)
            owner, group = known.user(arguments.text("user") or "root"), known.group("crontab")
            assert owner is not None
            view.chown(path, owner.uid, group.gid if group is not None else 0)
            view.chmod(path, 0o600)
    except OSError as error:
        raise ModuleFailure(f"Failed to install new cronfile: {path}: {error.strerror}") from error
