"""How administrators' tools print numbers, durations and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Align = Literal["<", ">"]

_POWERS = "KMGTPE"


def human_ceiling(size: int, *, base: int = 1024) -> str:
    """A size as `df -h`, `du -h` and `ls -h` print it: rounded up, one decimal below ten (`1.5K`, `24G`)."""
    if size < base:
        return str(size)
    value = float(size)
    letter = ""
    for letter in "k" + _POWERS[1:] if base == 1000 else _POWERS:
        value /= base
        if value < 9.95:
            tenths = math.ceil(round(value * 10, 6))
            if tenths < 100:
                return f"{tenths / 10:.1f}{letter}"
        if math.ceil(round(value, 6)) < base:
            return f"{math.ceil(round(value, 6))}{letter}"
    return f"{math.ceil(value)}{letter}"


def human_free(kib: int, *, si: bool = False) -> str:
    """A size in KiB as `free -h` prints it: the largest unit that fits five columns (`7.8Gi`, `449Mi`, `0B`)."""
    base = 1000 if si else 1024
    room = 4 if si else 5
    units = ("K", "M", "G", "T", "P") if si else ("Ki", "Mi", "Gi", "Ti", "Pi")
    size = kib * 1024
    if len(f"{size}B") <= 4:
        return f"{size}B"
    value = float(size)
    for unit in units:
        value /= base
        for text in (f"{value:.1f}{unit}", f"{int(value)}{unit}"):
            if len(text) <= room:
                return text
    return f"{int(value)}{units[-1]}"


def human_systemd(size: int) -> str:
    """A size as systemd prints it: one decimal, cut and not rounded (`3.4M`, `512.0K`)."""
    for letter, power in (("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power:
            tenths = size * 10 >> power
            return f"{tenths // 10}.{tenths % 10}{letter}"
    return f"{size}B"


def human_lsblk(size: int) -> str:
    """A size as `lsblk` and `findmnt` print it: at most one decimal, none when it is a whole number (`8G`, `1.5G`)."""
    for letter, power in (("T", 40), ("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power:
            tenths = round(size * 10 / (1 << power))
            return f"{tenths // 10}{letter}" if tenths % 10 == 0 else f"{tenths / 10:.1f}{letter}"
    return f"{size}B"


_SPANS = (("y", 31557600), ("month", 2629800), ("w", 604800), ("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def relative(seconds: float) -> str:
    """A distance in time as systemd writes it beside `ago` and `left`: `3min 12s`, `2h 5min`, `1 week 3 days`."""
    left = int(seconds)
    if left < 1:
        return f"{max(int(seconds * 1000), 0)}ms"
    for unit, length, small_unit, small in (
        ("year", 31557600, "month", 2629800),
        ("month", 2629800, "day", 86400),
        ("week", 604800, "day", 86400),
    ):
        if left >= length:
            count, rest = left // length, left % length // small
            return f"{count} {unit}{'s' * (count > 1)} {rest} {small_unit}{'s' * (rest != 1)}"
    hours, minutes, secs = left // 3600, left // 60 % 60, left % 60
    if hours >= 48:
        return f"{hours // 24} days"
    if hours >= 25:
        return f"1 day {hours - 24}h"
    if hours >= 6:
        return f"{hours}h"
    if hours:
        return f"{hours}h {minutes}min"
    if minutes >= 5:
        return f"{minutes}min"
    return f"{minutes}min {secs}s" if minutes else f"{secs}s"


def span(seconds: float) -> str:
    """A duration as systemd writes settings and totals: `1min 30s`, `5.031s`, `42ms`, `infinity` for a negative one."""
    if seconds < 0 or math.isinf(seconds):
        return "infinity"
    left = round(seconds * 1000)
    if left == 0:
        return "0"
    parts = []
    for name, length in _SPANS:
        if name == "s":
            break
        count, left = divmod(left, length * 1000)
        if count:
            parts.append(f"{count}{name}" if name != "month" else f"{count}month")
    whole, millis = divmod(left, 1000)
    if whole and millis:
        parts.append(f"{whole}.{millis:03d}".rstrip("0") + "s" if not parts else f"{whole}.{millis:03d}s")
    elif whole:
        parts.append(f"{whole}s")
    elif millis:
        parts.append(f"{millis}ms")
    return " ".join(parts)


def table(
    rows: Sequence[Sequence[str]], aligns: Sequence[Align], *, gap: str = " ", trim: bool = True, minimum: int = 0
) -> list[str]:
    """Rows as lines with columns as wide as their widest cell. `trim` takes the spaces off the ends of lines."""
    if not rows:
        return []
    widths = [max(minimum, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [f"{cell:{align}{width}}" for cell, align, width in zip(row, aligns, widths, strict=True)]
        line = gap.join(cells)
        lines.append(line.rstrip() if trim else line)
    return lines
