"""Running one Exec line as the unit says: conditions, folders, environment, user, directory, failures by step."""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from runners.formats.accounts import Accounts
from runners.sim.files.inode import EXECUTE, ROOT, Cred
from runners.sim.files.view import FileView
from runners.sim.lifecycle import Exit, Failure, resolve, spawn
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.systemd.journal import log
from runners.sim.systemd.unitfile import ExecLine, UnitFile
from runners.sim.users import accounts
from runners.text import is_digits

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FOLDERS = {
    "RuntimeDirectory": "/run",
    "StateDirectory": "/var/lib",
    "LogsDirectory": "/var/log",
    "CacheDirectory": "/var/cache",
}
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


class StepFailed(Exception):  # noqa: N818 (named after systemd's own word: a step failed)
    """Setting up the process failed at a step, with the status systemd gives it, and its reason."""

    def __init__(self, step: str, status: int, reason: str, before: str = "") -> None:
        super().__init__(step)
        self.step = step
        self.status = status
        self.reason = reason
        self.before = before


def unmet_condition(machine: Machine, unit: UnitFile) -> str:
    """The first condition that does not hold, as `ConditionPathExists=/x`; "" when all do."""
    view = machine.view()
    for key in (
        "ConditionPathExists",
        "ConditionFileNotEmpty",
        "ConditionPathIsDirectory",
        "ConditionFileIsExecutable",
    ):
        for value in unit.all("Unit", key):
            negate = value.startswith("!")
            path = value.lstrip("!|")
            try:
                inode = view.stat(path)
            except OSError:
                inode = None
            holds = (
                inode is not None
                and {
                    "ConditionPathExists": True,
                    "ConditionFileNotEmpty": inode.size > 0,
                    "ConditionPathIsDirectory": inode.is_dir,
                    "ConditionFileIsExecutable": bool(inode.mode & 0o111) and not inode.is_dir,
                }[key]
            )
            if holds == negate:
                return f"{key}={value}"
    return ""


def prepare(machine: Machine, unit: UnitFile) -> str:
    """What systemd does before it forks. A problem's text, "" when all is well."""
    for value in unit.all("Service", "EnvironmentFile"):
        if value.startswith("-"):
            continue
        try:
            machine.view().read(value)
        except OSError as error:
            return f"Failed to load environment files: {error.strerror}"
    return ""


def environment(machine: Machine, unit: UnitFile, cred: Cred) -> dict[str, str]:
    """The variables of the unit's processes, EnvironmentFile= over Environment=."""
    variables = {"LANG": "C.UTF-8", "PATH": PATH}
    user = accounts(machine).user(cred.uid)
    if unit.get("Service", "User") and user is not None:
        variables |= {"HOME": user.home, "LOGNAME": user.name, "USER": user.name, "SHELL": user.shell}
    variables["INVOCATION_ID"] = machine.systemd.get(unit.name).invocation
    if unit.type == "idle":
        variables["TERM"] = "linux"
    if unit.type in ("notify", "notify-reload"):
        variables["NOTIFY_SOCKET"] = "/run/systemd/notify"
    for key, folder in _FOLDERS.items():
        names = unit.words("Service", key)
        if names:
            variable = f"{key.removesuffix('Directory').upper()}_DIRECTORY"
            variables[variable] = ":".join(f"{folder}/{name}" for name in names)
    for value in unit.all("Service", "Environment"):
        variables |= dict(_assignments(value))
    for value in unit.all("Service", "EnvironmentFile"):
        try:
            variables |= dict(read_environment(machine.view().text(value.lstrip("-"))))
        except OSError:
            continue
    return variables


@lru_cache(maxsize=1024)
def _assignments(text: str) -> tuple[tuple[str, str], ...]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    parted = (word.partition("=") for word in words)
    return tuple((name, value) for name, equals, value in parted if equals)


def read_environment(text: str) -> Iterator[tuple[str, str]]:
    """The lines of an EnvironmentFile: NAME=value, quotes taken off, comments and garbage skipped."""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        name, equals, value = line.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            continue
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        yield name, value


def run(machine: Machine, unit: UnitFile, line: ExecLine, pid: int, *, control: bool = False) -> Exit | None:
    """Run it. None: the process goes on as `pid`; else how it ended, within the start."""
    name = line.path.rsplit("/", 1)[-1]
    try:
        cred = identity(machine, unit) if "+" not in line.prefixes else ROOT
        _make_folders(machine, unit, cred)
        cwd = _working_directory(machine, unit, cred)
        variables = environment(machine, unit, cred)
        state = machine.systemd.get(unit.name)
        if control and state.main_pid:
            variables["MAINPID"] = str(state.main_pid)
        argv = list(_expand(line.argv, variables))
        view = machine.view(cred, cwd)
        _check_program(machine, view, line.path)
        process = spawn(
            machine, argv, cred=cred, cwd=cwd, environment=tuple(variables.items()), unit=unit.name, pid=pid,
            path=line.path,            job_seconds=90.0 if control or unit.type in ("oneshot", "forking") else 1.0,
        )  # fmt: skip
        if isinstance(process, Failure):
            raise StepFailed("EXEC", 203, process.message)
    except StepFailed as step:
        who = f"({name[:13]})"
        if step.before:
            log(machine, who, f"{unit.name}: {step.before}", pid=pid, unit=unit.name, priority=3, transport="journal")
        message = f"{unit.name}: Failed at step {step.step} spawning {line.path}: {step.reason}"
        log(machine, who, message, pid=pid, unit=unit.name, priority=3, transport="journal")
        return Exit(_nobody(pid, unit.name), step.status, 0)
    if machine.processes.get(pid) is not None:
        return None
    last = machine.systemd.last_exit
    return last if isinstance(last, Exit) and last.process.pid == pid else Exit(process, 0, 0)


def _check_program(machine: Machine, view: FileView, path: str) -> None:
    """The manager looks for the program before the service's user has to be able to execute it."""
    found = resolve(view, (path,), PATH)
    if isinstance(found, Failure):
        root = machine.view()
        there = any(
            root.access(one, EXECUTE) for one in ([path] if "/" in path else [f"{f}/{path}" for f in PATH.split(":")])
        )
        before = f"Failed to execute {path}" if there else f"Failed to locate executable {path}"
        raise StepFailed("EXEC", 203, found.message, f"{before}: {found.message}")


def _nobody(pid: int, unit: str) -> Process:
    return Process(pid, 1, ROOT, (), "", "", "/", 0.0, unit=unit)


def identity(machine: Machine, unit: UnitFile) -> Cred:
    """User=, Group=, which takes the place of the user's own, and SupplementaryGroups=."""
    names = accounts(machine)
    name, group = unit.get("Service", "User"), unit.get("Service", "Group")
    user = names.user(int(name) if is_digits(name) else name or "root")
    if user is None and name:
        raise StepFailed("USER", 217, os.strerror(errno.ESRCH), "Failed to determine user credentials: No such process")
    cred = ROOT if not name or user is None else names.cred(user.name)
    if group:
        gid = _group(names, group)
        cred = Cred(cred.uid, gid, frozenset({gid})) if user is None else names.cred(user.name, gid)
    extra = frozenset(_group(names, word) for word in unit.words("Service", "SupplementaryGroups"))
    return cred._replace(groups=cred.groups | extra)


def _group(names: Accounts, which: str) -> int:
    found = names.group(int(which) if is_digits(which) else which)
    if found is None:
        raise StepFailed(
            "GROUP", 216, os.strerror(errno.ESRCH), "Failed to determine group credentials: No such process"
        )
    return found.gid


def _make_folders(machine: Machine, unit: UnitFile, cred: Cred) -> None:
    view = machine.view()
    for key, folder in _FOLDERS.items():
        for name in unit.words("Service", key):
            path = f"{folder}/{name}"
            if view.exists(path):
                continue
            try:
                view.mkdir(path, unit.number("Service", f"{key}Mode", 0o755, base=8))
                view.chown(path, cred.uid, cred.gid)
            except OSError as error:
                step = {"RuntimeDirectory": ("RUNTIME_DIRECTORY", 233), "StateDirectory": ("STATE_DIRECTORY", 238)}
                named, status = step.get(key, ("LOGS_DIRECTORY", 240))
                raise StepFailed(
                    named,
                    status,
                    error.strerror or "",
                    f"Failed to set up special execution directory in {folder}: {error.strerror}",
                ) from None


def _working_directory(machine: Machine, unit: UnitFile, cred: Cred) -> str:
    wanted = unit.get("Service", "WorkingDirectory") or "/"
    optional = wanted.startswith("-")
    path = wanted.lstrip("-")
    if path == "~":
        user = accounts(machine).user(cred.uid)
        path = user.home if user is not None else "/"
    view = machine.view(cred)
    try:
        inode = view.stat(path)
        if not stat.S_ISDIR(inode.mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not view.access(path, 1):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        if optional:
            return "/"
        reason = error.strerror or ""
        raise StepFailed(
            "CHDIR", 200, reason, f"Changing to the requested working directory failed: {reason}"
        ) from None
    return path


def _expand(argv: tuple[str, ...], variables: dict[str, str]) -> Iterator[str]:
    """$WORD alone is split into words; ${WORD} and $WORD inside a word are put in as they are."""
    for word in argv:
        if "$" not in word:
            yield word
            continue
        alone = re.fullmatch(r"\$(\w+)", word)
        if alone:
            yield from variables.get(alone[1], "").split()
        else:
            yield _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], ""), word)


def clean_up(machine: Machine, unit: UnitFile) -> None:
    """Take PIDFile= and RuntimeDirectory= away when the unit is dead, whoever has made them."""
    pid_file = unit.get("Service", "PIDFile")
    if pid_file:
        with suppress(OSError):
            machine.view().unlink(run_path(pid_file))
    if unit.get("Service", "RuntimeDirectoryPreserve", "no") != "no" or not unit.words("Service", "RuntimeDirectory"):
        return
    if machine.systemd.get(unit.name).sub == "auto-restart":
        return
    for name in unit.words("Service", "RuntimeDirectory"):
        _remove_tree(machine, f"/run/{name}")


def _remove_tree(machine: Machine, path: str) -> None:
    view = machine.view()
    try:
        for name in view.names(path):
            inner = f"{path}/{name}"
            if view.stat(inner, follow=False).is_dir:
                _remove_tree(machine, inner)
            else:
                view.unlink(inner)
        view.rmdir(path)
    except OSError:
        return


def run_path(path: str) -> str:
    """PIDFile= is below /run when it does not say otherwise."""
    return path if path.startswith("/") else f"/run/{path}"


def cpu_text(seconds: float) -> str:
    """As systemd writes a time span: `1min 2.345s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = [f"{hours}h" if hours else "", f"{minutes}min" if minutes else "", f"{rest:.3f}s"]
    return " ".join(part for part in parts if part)
