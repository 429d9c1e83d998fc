"""Who is and was logged in: the sessions that who, w, last and lastb tell of.

Those of the past come from the system's `logins` setting: a list of `{user, from?, at, until?, tty?, failed?}`. `at`
and `until` are ISO times, or seconds before the opening; a login without `until` is still on. Those that ended since
then are told by sshd's log, and those that are on by the processes that it keeps for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from runners.sim.machine import Machine
from scenario_dsl.values import Value

ACCEPTED = re.compile(r"Accepted (?:password|publickey|keyboard-interactive/pam) for (\S+) from (\S+) port \d+")
FAILED = re.compile(r"Failed password for (?:invalid user )?(\S*) from (\S+) port \d+")
_OPENED, _CLOSED = ("pam_unix(sshd:session): session opened", "pam_unix(sshd:session): session closed")
_SAME = 2.0
"""Seconds that a session's log line may stand apart from its record."""
_SESSION = re.compile(r"sshd: (?P<user>\S+)@(?P<tty>pts/\d+)")


class Login(NamedTuple):
    """One session. Times are seconds since the epoch; `ended` None while it lasts; `failed` for lastb's."""

    user: str
    tty: str
    host: str
    began: float
    ended: float | None
    failed: bool = False


def logins(machine: Machine) -> list[Login]:
    """All sessions, oldest first, up to now."""
    entries = machine.spec.settings.get("logins")
    found = []
    for entry in entries if isinstance(entries, (list, tuple)) else ():
        if not isinstance(entry, Mapping):
            continue
        began = _moment(machine, entry.get("at"))
        if began is None:
            continue
        ended = _moment(machine, entry.get("until"))
        failed = bool(entry.get("failed", False))
        tty = str(entry.get("tty", "ssh:notty" if failed else "pts/0"))
        found.append(Login(str(entry.get("user", "root")), tty, str(entry.get("from", "") or ""), began, ended, failed))
    found += [*_told(machine, found)]
    declared = {(login.user, login.tty, login.began) for login in found}
    found += [one for one in _live(machine) if (one.user, one.tty, one.began) not in declared]
    return sorted(found, key=lambda login: login.began)


def _told(machine: Machine, known: list[Login]) -> Iterator[Login]:
    """Sessions and failures that sshd's lines tell of beside those; a log-in without a session has no terminal."""
    lines = [entry for entry in machine.journal.of_unit("ssh.service") if entry.identifier == "sshd"]
    opened = {entry.pid for entry in lines if entry.message.startswith(_OPENED)}
    closed = {entry.pid: entry.at for entry in lines if entry.message.startswith(_CLOSED)}
    for entry in lines:
        if (failure := FAILED.match(entry.message)) is not None:
            yield Login(failure[1], "ssh:notty", failure[2], entry.at, entry.at, True)
        accepted = ACCEPTED.match(entry.message)
        if accepted is None or entry.pid not in opened or entry.pid not in closed:
            continue
        if not any(one.user == accepted[1] and abs(one.began - entry.at) < _SAME for one in known):
            yield Login(accepted[1], "pts/0", accepted[2], entry.at, closed[entry.pid])


def _live(machine: Machine) -> Iterator[Login]:
    for process in machine.processes:
        title = _SESSION.fullmatch(process.argv[0]) if process.argv else None
        if title is not None and process.name == "sshd":
            peer = next((socket.peer for socket in process.sockets), "")
            yield Login(title["user"], title["tty"], peer, process.started, None)


def sessions(machine: Machine) -> list[Login]:
    """Those that are on now."""
    return [login for login in logins(machine) if not login.failed and login.ended is None]


def _moment(machine: Machine, value: Value) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return machine.spec.start_time - value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
