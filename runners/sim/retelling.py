"""Lines that are written into a log as if they were of the past: journal and log-in records tell them too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from runners.sim.files.content import Content
from runners.sim.logins import ACCEPTED, FAILED, logins
from runners.sim.machine import Machine
from runners.sim.systemd.state import Entry

Written = tuple[Content | None, ...]
"""What the logs held at a moment."""
_LOGS = ("/var/log/auth.log", "/var/log/syslog")
_LARGEST = 8 << 20
"""Logs above that are filled up, not told in."""
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d) (\S+) ([^\s:\[]+)(?:\[(\d+)\])?: (.*)")
_UNITS = {"sshd": "ssh.service", "CRON": "cron.service", "cron": "cron.service"}
_RECORD = 384
"""Bytes of one record of wtmp and btmp."""


def written(machine: Machine) -> Written:
    view = machine.view()
    return tuple(view.content(path) if view.exists(path) else None for path in _LOGS)


def retell(machine: Machine, before: Written) -> None:
    """Put into the journal what the logs tell now and did not tell before, where it does not know of it."""
    fresh = [
        line
        for old, new in zip(before, written(machine), strict=True)
        if new is not None and new is not old and new.size <= _LARGEST
        for line in _fresh(old, new)
    ]
    if not fresh:
        return
    known = {(entry.identifier, entry.message, int(entry.at)) for entry in machine.journal}
    told = [entry for entry in _entries(fresh, machine.clock.now) if _key(entry) not in known]
    if told:
        machine.journal.insert(told)
        _record(machine, told)


def date_records(machine: Machine) -> None:
    """wtmp, btmp and lastlog are as old as the last log-in or failure that they hold."""
    known = logins(machine)
    view = machine.view()
    succeeded = [login.began for login in known if not login.failed]
    moments = {
        "/var/log/wtmp": [*succeeded, *(login.ended for login in known if not login.failed and login.ended)],
        "/var/log/lastlog": succeeded,
        "/var/log/btmp": [machine.clock.boot, *(login.began for login in known if login.failed)],
    }
    for path, times in moments.items():
        if times and view.exists(path):
            at = max(times)
            machine.files.put(view.stat(path)._replace(mtime=at, ctime=at))


def _fresh(old: Content | None, new: Content) -> list[str]:
    held = set(_lines(old)) if old is not None and old.size <= _LARGEST else set()
    return [line for line in _lines(new) if line not in held]


def _lines(content: Content) -> list[str]:
    return content.read(0, content.size).decode("utf-8", "surrogateescape").splitlines()


def _key(entry: Entry) -> tuple[str, str, int]:
    return (entry.identifier, entry.message, int(entry.at))


def _entries(lines: list[str], now: float) -> Iterator[Entry]:
    last = 0
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        at = datetime.fromisoformat(found[1]).timestamp()
        if at > now:
            continue
        # sudo's lines carry no pid in the file; its process came after the one before.
        last = int(found[4]) if found[4] else last + 3
        yield Entry(at, found[3], last, found[5], _UNITS.get(found[3]), 5 if found[3] == "sudo" else 6, 0, "syslog")


def _record(machine: Machine, told: list[Entry]) -> None:
    """wtmp grows by a log-in and a log-out, btmp by each failure."""
    for path, pattern, records in (("/var/log/wtmp", ACCEPTED, 2), ("/var/log/btmp", FAILED, 1)):
        hits = [entry.at for entry in told if entry.identifier == "sshd" and pattern.match(entry.message)]
        view = machine.view()
        if hits and view.exists(path):
            mtime = max(view.stat(path).mtime, max(hits))
            view.write(path, b"\0" * (_RECORD * records * len(hits)), append=True)
            machine.files.put(view.stat(path)._replace(mtime=mtime, ctime=mtime))
