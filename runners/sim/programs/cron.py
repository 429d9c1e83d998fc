"""cron: reads all crontabs every minute, as Debian's does, and runs what is due."""

from __future__ import annotations

from collections.abc import Iterator

from runners.formats.crontab import NO_NEWLINE, CrontabError, Entry, due, parse
from runners.sim.files.inode import Cred
from runners.sim.lifecycle import Exit, Failure, spawn
from runners.sim.machine import CronRun, Machine, Program, Say
from runners.sim.processes import Process
from runners.sim.programs.descriptors import current, hold
from runners.sim.systemd.journal import log
from runners.sim.users import accounts

SPOOL, SYSTEM, FOLDER = "/var/spool/cron/crontabs", "/etc/crontab", "/etc/cron.d"
_REBOOTED = "/run/crond.reboot"
"""There as soon as the @reboot jobs of this boot have run."""


def _paths(machine: Machine) -> Iterator[tuple[str, str | None]]:
    """Where crontabs are looked for: (path, user, or None where each line names its own)."""
    yield SYSTEM, None
    view = machine.view()
    for folder, own in ((FOLDER, False), (SPOOL, True)):
        try:
            names = sorted(view.names(folder))
        except OSError:
            continue
        yield from ((f"{folder}/{name}", name if own else None) for name in names if "." not in name or own)


def tables(machine: Machine) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    """All crontabs that cron takes, by path. Those that it mistrusts or cannot read are left out."""
    for path, user in _paths(machine):
        try:
            if not mistrust(machine, path, user):
                yield path, _read(machine, path, user)
        except (OSError, CrontabError):
            continue


def _read(machine: Machine, path: str, user: str | None) -> tuple[Entry, ...]:
    """The entries of one table. OSError, or CrontabError, also for a user whom nobody knows."""
    entries = parse(machine.view().text(path), user)
    known = accounts(machine)
    for entry in entries:
        if known.user(entry.user) is None:
            raise CrontabError("bad username", 0)
    return entries


def mistrust(machine: Machine, path: str, user: str | None) -> str:
    """Why cron leaves a table out, in the words of its log; "" when it takes it. OSError when there is none."""
    inode = machine.view().stat(path)
    if user is not None:
        owner = accounts(machine).user(user)
        if owner is None:
            return "ORPHAN (no passwd entry)"
        if inode.uid not in (owner.uid, 0):
            return "WRONG FILE OWNER"
        return "INSECURE MODE (mode 0600 expected)" if inode.mode & 0o022 else ""
    if inode.uid != 0:
        return "WRONG FILE OWNER"
    return "INSECURE MODE (group/other writable)" if inode.mode & 0o022 else ""


def _complaints(machine: Machine) -> Iterator[str]:
    for path, user in _paths(machine):
        name = path.rsplit("/", 1)[-1]
        who, shown = (f"*system*{name}", path) if user is None else (user, f"crontabs/{name}")
        try:
            reason = mistrust(machine, path, user)
            if reason:
                yield f"({who}) {reason} ({shown})"
            else:
                _read(machine, path, user)
        except OSError:
            continue
        except CrontabError as error:
            reason = "Missing newline before EOF"
            if error.reason != NO_NEWLINE:
                reason = "Syntax error"
                yield f"Error: {error.reason}; while reading {path if user is None else f'crontab for user {user}'}"
            yield f"({who}) ERROR ({reason}, this crontab file will be ignored)"


class Cron(Program):
    """Wakes at every full minute. It catches no signal that ends it."""

    ends_on = frozenset()

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        del say
        _info(machine, process, "pidfile fd = 3")
        view = machine.view()
        try:
            view.write("/run/crond.pid", f"{process.pid}\n".encode("utf-8", "surrogateescape"))
        except OSError:
            return 1
        hold(machine, process, (), rss=3 << 20, share=0.00001)
        self._complain(machine, current(machine, process))
        if view.exists(_REBOOTED):
            _info(machine, process, "Skipping @reboot jobs -- not system startup")
        else:
            _info(machine, process, "Running @reboot jobs")
            view.write(_REBOOTED, b"", mode=0o000)
            for _path, entries in tables(machine):
                for entry in entries:
                    if entry.reboot:
                        self._run(machine, process, entry)
        self._plan(machine, process)
        return None

    def _complain(self, machine: Machine, process: Process) -> None:
        """Log what is wrong with crontabs, once as long as it stays so."""
        found = tuple(_complaints(machine))
        known = process.held if isinstance(process.held, tuple) else ()
        for line in found:
            if line not in known:
                log(machine, "cron", line, pid=process.pid, unit=process.unit, facility="cron", priority=3)
        if found != known:
            hold(machine, process, found)

    def _plan(self, machine: Machine, process: Process) -> None:
        machine.schedule(61.0 - machine.clock.now % 60.0, "program", (process.pid, "minute"))

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        del argument
        self._plan(machine, process)
        self._complain(machine, process)
        for _path, entries in tables(machine):
            for entry in entries:
                if due(entry, machine.clock.time()):
                    self._run(machine, process, entry)

    def _run(self, machine: Machine, process: Process, entry: Entry) -> None:
        names = accounts(machine)
        user = names.user(entry.user)
        if user is None:  # a job of this very minute has removed it
            return
        command, given = entry.parts
        pid, job = machine.processes.allocate(), machine.processes.allocate()
        cred: Cred = names.cred(user.name)
        opened = f"pam_unix(cron:session): session opened for user {user.name}(uid={user.uid}) by (uid=0)"
        log(machine, "CRON", opened, pid=pid, unit=process.unit, facility="auth")
        log(machine, "CRON", f"({user.name}) CMD ({command})", pid=job, unit=process.unit, facility="cron")
        variables = {"HOME": user.home, "LOGNAME": user.name, "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
        variables |= dict(entry.variables)
        output: list[str] = []
        done = spawn(
            machine, (variables["SHELL"], "-c", command), cred=cred,
            cwd=user.home if machine.view(cred).access(user.home, 1) else "/", environment=tuple(variables.items()),
            unit=process.unit, ppid=process.pid, pid=job, stderr=output,
            stdin=given.encode("utf-8", "surrogateescape"),
        )  # fmt: skip
        if isinstance(done, Failure):
            output.append(f"{variables['SHELL']}: {done.message}")
        machine.cron = (
            *machine.cron[-200:],
            CronRun(machine.clock.now, user.name, entry.command, _status(machine, done)),
        )
        if output and variables.get("MAILTO", "root") != "":
            log(machine, "CRON", "(CRON) info (No MTA installed, discarding output)", pid=pid, unit=process.unit,
                facility="cron")  # fmt: skip
        closed = f"pam_unix(cron:session): session closed for user {user.name}"
        log(machine, "CRON", closed, pid=pid, unit=process.unit, facility="auth")


def _info(machine: Machine, process: Process, text: str) -> None:
    log(machine, "cron", f"(CRON) INFO ({text})", pid=process.pid, unit=process.unit, facility="cron")


def _status(machine: Machine, done: Process | Failure) -> int:
    if isinstance(done, Failure):
        return 127
    last = machine.systemd.last_exit
    return last.status if isinstance(last, Exit) and last.process.pid == done.pid else 0


PROGRAMS = {"cron": Cron()}
