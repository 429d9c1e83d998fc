"""Timer units: OnCalendar=, OnBootSec=, OnUnitActiveSec=, and the next time that each will elapse."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from runners.sim.machine import Machine, mix
from runners.sim.systemd import manager
from runners.sim.systemd.jobs import UnitError
from runners.sim.systemd.unitfile import UnitFile, timespan
from runners.sim.systemd.units import known, unit_file
from runners.text import is_digits

_NAMED = {
    "minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "monthly": "*-*-01 00:00:00",
    "weekly": "Mon *-*-* 00:00:00", "yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00",
}  # fmt: skip
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Timer(NamedTuple):
    """One timer as list-timers shows it; times in seconds since the epoch, 0 for none."""

    unit: str
    activates: str
    next: float
    last: float


def timers(machine: Machine) -> list[Timer]:
    """The active timers, the soonest first."""
    due = {event.argument: event.due for event in machine.events if event.kind == "timer"}
    found = []
    for name in known(machine):
        if name.endswith(".timer") and machine.systemd.get(name).active == "active":
            unit = unit_file(machine, name)
            target = activates(unit)
            last = machine.systemd.get(target).exec_started
            found.append(Timer(name, target, due.get(name, 0.0), last))
    return sorted(found, key=lambda timer: (timer.next or float("inf"), timer.unit))


def activates(unit: UnitFile) -> str:
    return unit.get("Timer", "Unit") or unit.name.replace(".timer", ".service")


def arm(machine: Machine, argument: object) -> None:
    """Handler: a timer has been started; plan its next elapse."""
    name = str(argument)
    machine.events = tuple(event for event in machine.events if event.kind != "timer" or event.argument != name)
    unit = unit_file(machine, name)
    at = next_elapse(machine, unit)
    if at is not None:
        machine.schedule(max(at - machine.clock.now, 0.0), "timer", name)


def elapsed(machine: Machine, argument: object) -> None:
    """Handler: start what the timer activates, and plan the next time."""
    name = str(argument)
    if machine.systemd.get(name).active != "active":
        return
    unit = unit_file(machine, name)
    target = activates(unit)
    if manager.state_of(machine, target).active not in ("active", "activating"):
        try:
            manager.start(machine, target)
        except UnitError as error:
            manager.report_refusal(machine, unit, error)
    arm(machine, name)


def next_elapse(machine: Machine, unit: UnitFile) -> float | None:
    now = machine.clock.now
    times = [at for text in unit.all("Timer", "OnCalendar") if (at := calendar_next(text, now)) is not None]
    since = machine.systemd.get(activates(unit)).exec_started or machine.systemd.get(unit.name).active_since
    for key, start in (("OnBootSec", machine.clock.boot), ("OnStartupSec", machine.clock.boot),
                       ("OnActiveSec", machine.systemd.get(unit.name).active_since), ("OnUnitActiveSec", since),
                       ("OnUnitInactiveSec", since)):  # fmt: skip
        for text in unit.all("Timer", key):
            span = timespan(text)
            if span is not None and start + span > now:
                times.append(start + span)
    if not times:
        return None
    delay = unit.seconds("Timer", "RandomizedDelaySec", 0.0)
    return min(times) + (mix(f"{unit.name}:{machine.seed}") % 1000 / 1000 * delay)


def calendar_next(text: str, now: float) -> float | None:
    """The next time after `now` that matches an OnCalendar= expression (UTC); None if it cannot be read."""
    expression = _NAMED.get(text.strip().lower(), text.strip())
    match = re.fullmatch(r"(?:([A-Za-z.,]+)\s+)?(?:([\d*]+-[\d*,/]+-[\d*,/]+)\s*)?([\d*,/.:]+)?(?:\s*UTC)?", expression)
    if match is None:
        return None
    days = _weekdays(match[1])
    year, month, day = (match[2] or "*-*-*").split("-")
    clock = [*(match[3] or "00:00:00").split(":"), "00"][:3]
    try:
        hours, minutes, seconds = (_values(part, limit) for part, limit in zip(clock, (24, 60, 60), strict=True))
    except ValueError:
        return None
    moment = datetime.fromtimestamp(now, UTC).replace(microsecond=0) + timedelta(seconds=1)
    for _ in range(800):
        if (
            (not days or moment.weekday() in days)
            and _fits(year, moment.year)
            and _fits(month, moment.month)
            and _fits(day, moment.day)
        ):
            found = _time_of_day(moment, hours, minutes, seconds)
            if found is not None:
                return found.timestamp()
        moment = (moment + timedelta(days=1)).replace(hour=0, minute=0, second=0)
    return None


def _time_of_day(start: datetime, hours: list[int], minutes: list[int], seconds: list[int]) -> datetime | None:
    for hour in hours:
        for minute in minutes:
            for second in seconds:
                at = start.replace(hour=hour, minute=minute, second=second)
                if at >= start:
                    return at
    return None


def _weekdays(text: str | None) -> frozenset[int]:
    if not text:
        return frozenset()
    found: set[int] = set()
    for part in text.lower().split(","):
        first, dots, last = part.partition("..")
        low = _DAYS.index(first[:3]) if first[:3] in _DAYS else 0
        high = (_DAYS.index(last[:3]) if last[:3] in _DAYS else low) if dots else low
        found.update(range(low, high + 1))
    return frozenset(found)


def _values(text: str, limit: int) -> list[int]:
    found: set[int] = set()
    for part in text.split(","):
        base, slash, step = part.partition("/")
        if base == "*" and not slash:
            return list(range(limit))
        start = int(float(base)) if base != "*" else 0
        found.update(range(start, limit, int(step)) if slash else (start,))
    return sorted(value for value in found if value < limit)


def _fits(pattern: str, value: int) -> bool:
    return pattern == "*" or any(
        int(part.partition("/")[0]) == value for part in pattern.split(",") if is_digits(part.partition("/")[0])
    )
