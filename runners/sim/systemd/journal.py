"""Writing to and reading from the journal, and the same lines in rsyslog's files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain

from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.systemd.state import Entry

AUTH = frozenset({"sshd", "sudo", "su", "login", "passwd", "useradd", "usermod", "userdel", "groupadd", "groupdel",
                  "gpasswd", "chage", "chpasswd", "systemd-logind", "newusers", "polkitd"})  # fmt: skip
"""Programs that log to the auth and authpriv facilities."""
SOCKET = "syslog.socket"
"""Where the journal hands on what is logged; it starts the service that is to read it."""
_FACILITIES = {"CRON": "cron", "cron": "cron", "crontab": "cron", "kernel": "kern"}


def log(
    machine: Machine,
    identifier: str,
    message: str,
    *,
    pid: int = 0,
    unit: str | None = None,
    priority: int = 6,
    uid: int = 0,
    transport: str = "syslog",
    facility: str | None = None,
) -> None:
    """Add an entry to the journal, and to the files of a running rsyslogd.

    `facility` (auth, cron, kern, daemon, user, mail) decides the files; by default it follows from the identifier.
    """
    if transport == "kernel" or identifier == "kernel":
        transport, facility = "kernel", "kern"
    at = machine.clock.now
    machine.journal.append(Entry(at, identifier, pid, message, unit, priority, uid, transport))
    daemon = machine.programs.get("rsyslogd")
    if daemon is not None:
        process = _syslog(machine)
        if process is None and machine.systemd.get(SOCKET).sub == "listening":
            machine.handlers["socket-arrived"](machine, SOCKET)
            process = _syslog(machine)
        if process is not None:
            line = f"{stamp(at)} {machine.spec.hostname} {_tag(identifier, pid)}: {message}\n"
            daemon.serve(machine, process, (facility or _facility(identifier), line, priority), None)


def _syslog(machine: Machine) -> Process | None:
    """The rsyslogd that reads what is logged; one that is stopped does not."""
    return next(
        (one for one in machine.processes.by_pid.values() if one.program == "rsyslogd" and one.state != "T"), None
    )


def stamp(at: float) -> str:
    """rsyslog's time: RFC 3339 with microseconds, as Debian 12 writes it."""
    whole = int(at)
    return f"{_second(whole)}.{int((at - whole) * 1e6):06d}+00:00"


@lru_cache(maxsize=256)
def _second(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S}"


def _tag(identifier: str, pid: int) -> str:
    return f"{identifier}[{pid}]" if pid and identifier != "kernel" else identifier


def _facility(identifier: str) -> str:
    if identifier in AUTH:
        return "auth"
    return _FACILITIES.get(identifier, "daemon")


def kernel(machine: Machine, message: str, *, priority: int = 6) -> None:
    """A line of the kernel's: dmesg shows it, the journal and kern.log too."""
    log(machine, "kernel", message, priority=priority, transport="kernel")


KMSG = (1, 11)
"""The numbers of /dev/kmsg."""
_PREFIX = re.compile(r"<(\d{1,3})>")


def record(machine: Machine, data: bytes) -> None:
    """Written to /dev/kmsg: each line becomes a message of the kernel's, as urgent as `<N>` before it says (else 4)."""
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        prefix = _PREFIX.match(line)
        said = line[prefix.end() :] if prefix is not None else line
        if said:
            kernel(machine, said, priority=int(prefix[1]) & 7 if prefix is not None else 4)


def records(machine: Machine) -> bytes:
    """Read from /dev/kmsg: `priority,number,microseconds since the boot,-;text` for each message of this boot."""
    boot = machine.clock.boot
    lines = (
        f"{entry.priority},{number},{int((entry.at - boot) * 1e6)},-;{entry.message}\n"
        for number, entry in enumerate(buffered(machine))
    )
    return "".join(lines).encode("utf-8", "surrogateescape")


def buffered(machine: Machine, since: float = 0.0) -> Iterator[Entry]:
    """What the kernel itself keeps of what it has said since its boot: the journal may have forgotten it."""
    first = max(machine.clock.boot, since)
    for entry in chain(machine.journal.dropped, machine.journal):
        if entry.transport == "kernel" and entry.at >= first:
            yield entry


def entries(
    machine: Machine,
    *,
    unit: str | None = None,
    identifier: str | None = None,
    since: float | None = None,
    until: float | None = None,
    priority: int | None = None,
    kernel_only: bool = False,
    pid: int | None = None,
    uid: int | None = None,
) -> Iterator[Entry]:
    """Matching entries, oldest first. `priority`: that or more urgent; `unit`: a full unit name."""
    found: Iterable[Entry] = machine.journal if unit is None else machine.journal.of_unit(unit)
    if since is not None:
        found = [entry for entry in found if entry.at >= since]
    if until is not None:
        found = [entry for entry in found if entry.at <= until]
    if identifier is not None:
        found = [entry for entry in found if entry.identifier == identifier]
    if priority is not None:
        found = [entry for entry in found if entry.priority <= priority]
    if kernel_only:
        found = [entry for entry in found if entry.transport == "kernel"]
    if pid is not None:
        found = [entry for entry in found if entry.pid == pid]
    if uid is not None:
        found = [entry for entry in found if entry.uid == uid]
    return iter(found)
