"""Crontabs: their lines, and when these are due."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from runners.text import is_digits

NAMED = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
          "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}  # fmt: skip
_PERCENT = re.compile(r"(?<!\\)%")
NO_NEWLINE = "missing newline before EOF"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class Entry(NamedTuple):
    """One line of a crontab. `schedule`: as written; `reboot`: @reboot; `variables`: those set above it."""

    schedule: str
    user: str
    command: str
    variables: tuple[tuple[str, str], ...] = ()
    reboot: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """What the shell is given, and what the shell reads: `%` ends the command, and ends lines of its input."""
        command, *lines = (part.replace("\\%", "%") for part in _PERCENT.split(self.command))
        given = "\n".join(lines)
        return command, f"{given}\n" if given and not given.endswith("\n") else given


class CrontabError(Exception):
    """A crontab that cron refuses; `reason` is its word for it (bad minute, bad hour, …) at `line` (from 1)."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@lru_cache(maxsize=256)
def parse(text: str, user: str | None) -> tuple[Entry, ...]:
    """The entries of a crontab; with `user` None each line names its own, as in /etc/crontab. CrontabError."""
    if text and not text.endswith("\n"):
        raise CrontabError(NO_NEWLINE, text.count("\n") + 1)
    found = []
    variables: tuple[tuple[str, str], ...] = ()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if equals and name.strip().replace("_", "").isalnum() and not is_digits(name.strip()[0]):
            variables = (*variables, (name.strip(), value.strip().strip("\"'")))
            continue
        found.append(_entry(line, user, variables, number))
    return tuple(found)


def _entry(line: str, user: str | None, variables: tuple[tuple[str, str], ...], number: int) -> Entry:
    words = line.split(None, 1 if line.startswith("@") else 5)
    if line.startswith("@"):
        if words[0] not in NAMED and words[0] != "@reboot":
            raise CrontabError("bad time specifier", number)
        schedule, rest = words[0], words[1] if len(words) > 1 else ""
    else:
        for index, reason in enumerate(("bad minute", "bad hour", "bad day-of-month", "bad month", "bad day-of-week")):
            if len(words) <= index or field(words[index], index) is None:
                raise CrontabError(reason, number)
        schedule, rest = " ".join(words[:5]), words[5] if len(words) > 5 else ""
    owner = user
    if owner is None:
        owner, _, rest = rest.partition(" ") if " " in rest else rest.partition("\t")
        rest = rest.strip()
        if "\t" in owner:
            owner, _, more = owner.partition("\t")
            rest = f"{more.strip()} {rest}".strip()
    if not rest:
        raise CrontabError("bad command", number)
    return Entry(schedule, owner, rest, variables, schedule == "@reboot")


@lru_cache(maxsize=1024)
def field(text: str, index: int) -> frozenset[int] | None:
    """The values of one of the five fields; None if it is not one."""
    low, high = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))[index]
    names = {3: _MONTHS, 4: _DAYS}.get(index, ())
    found: set[int] = set()
    for part in text.lower().split(","):
        body, slash, step = part.partition("/")
        if slash and not (is_digits(step) and int(step) > 0):
            return None
        first, dash, last = body.partition("-")
        if body == "*":
            start, end = low, high
        else:
            ends = [_number(word, names, index) for word in ((first, last) if dash else (first, first))]
            if ends[0] is None or ends[1] is None:
                return None
            start, end = ends[0], high if slash and not dash else ends[1]
        if not low <= start <= end <= high:
            return None
        found.update(range(start, end + 1, int(step) if slash else 1))
    if index == 4 and 7 in found:
        found.add(0)
    return frozenset(found)


def _number(word: str, names: tuple[str, ...], index: int) -> int | None:
    if is_digits(word):
        return int(word)
    if word in names:
        return names.index(word) + (1 if index == 3 else 0)
    return None


def due(entry: Entry, now: datetime) -> bool:
    """Is the entry due in that minute?"""
    if entry.reboot:
        return False
    minute, hour, day, month, weekday = NAMED.get(entry.schedule, entry.schedule).split()
    values = [field(text, index) or frozenset() for index, text in enumerate((minute, hour, day, month, weekday))]
    if now.minute not in values[0] or now.hour not in values[1] or now.month not in values[3]:
        return False
    on_day, on_weekday = now.day in values[2], (now.weekday() + 1) % 7 in values[4]
    if day.startswith("*") or weekday.startswith("*"):
        return on_day and on_weekday
    return on_day or on_weekday
