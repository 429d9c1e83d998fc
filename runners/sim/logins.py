"""Who is and was logged in: the sessions that who, w, last and lastb tell of.

They come from the system's `logins` setting: a list of `{user, from?, at, until?, tty?, failed?}`. `at` and `until` are
ISO times, or seconds before the opening; a login without `until` is still on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from runners.sim.machine import Machine
from scenario_dsl.values import Value


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
    if not isinstance(entries, (list, tuple)):
        return []
    found = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        began = _moment(machine, entry.get("at"))
        if began is None:
            continue
        ended = _moment(machine, entry.get("until"))
        failed = bool(entry.get("failed", False))
        tty = str(entry.get("tty", "ssh:notty" if failed else "pts/0"))
        found.append(Login(str(entry.get("user", "root")), tty, str(entry.get("from", "") or ""), began, ended, failed))
    return sorted(found, key=lambda login: login.began)


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
