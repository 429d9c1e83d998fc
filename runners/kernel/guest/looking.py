"""A look at what the kernel's scheduler does with the tasks of each control group, for a bounded time."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

GROUPS = "/sys/fs/cgroup"
SLOTS = 24
GROUP, TASK = f"<6Q{SLOTS}Q", "<3Q"
SHORTEST_MS, LONGEST_MS = 10, 2000
WHAT = ("latency", "shares", "switches")
"""Waiting times between being runnable and running; shares of a processor; why tasks stopped running."""
MOST = 24
"""Groups that are told of: those that ran for longest."""


class Counts:
    """What one group did: nanoseconds that it ran and waited, how often, and how often it waited how long."""

    def __init__(self, fields: Sequence[int]) -> None:
        self.ran_ns, self.turns, self.slept, self.preempted, self.waits, self.waited_ns = fields[:6]
        self.slots = tuple(fields[6:])

    def latency(self) -> dict[str, Any]:
        """Microseconds from being runnable to running. A percentile is the upper end of its slot of the histogram."""
        told: dict[str, Any] = {"waits": self.waits}
        if self.waits:
            told["mean_us"] = round(self.waited_ns / self.waits / 1000, 1)
            told |= {f"p{each}_us_at_most": self.percentile(each) for each in (50, 95, 99)}
            told["histogram_us"] = {f"{low}-{high}": count for low, high, count in self.histogram() if count}
        return told

    def histogram(self) -> list[tuple[int, int, int]]:
        """(from, to, how many): microseconds, both ends included."""
        ends = [(0, 0), *((1 << slot - 1, (1 << slot) - 1) for slot in range(1, len(self.slots)))]
        return [(low, high, count) for (low, high), count in zip(ends, self.slots, strict=True)]

    def percentile(self, percent: int) -> int:
        wanted, so_far = -(-self.waits * percent // 100), 0
        for _, high, count in self.histogram():
            so_far += count
            if so_far >= wanted:
                return high
        return self.histogram()[-1][1]

    def switches(self) -> dict[str, int]:
        return {"turns": self.turns, "slept": self.slept, "preempted": self.preempted}


class Look:
    """Hooked in from the moment it is made. object_: `look.bpf.o`, as the kernel has it."""

    def __init__(self, object_: Any, what: str) -> None:
        self._object, self._what, self._begun = object_, what, time.monotonic_ns()
        for name in ("seen", "tasks"):
            object_.empty(name, "<Q")
        object_.put("begin", bytes(4), struct.pack("<Q", self._begun))
        object_.attach_programs()

    def stop(self) -> None:
        self._object.detach()

    def result(self) -> dict[str, Any]:
        """Stop, and say what was seen."""
        self.stop()
        now = time.monotonic_ns()
        counts = {key: Counts(fields) for key, fields in self._object.entries("seen", "<Q", GROUP)}
        for _, (group, _, runs_since) in self._object.entries("tasks", "<Q", TASK):
            if runs_since and group in counts:
                counts[group].ran_ns += now - runs_since
        return told(self._what, (now - self._begun) / 1e6, named(counts))


def named(counts: Mapping[int, Counts]) -> dict[str, Counts]:
    """By the group's path below /sys/fs/cgroup, those that ran for longest first. Groups that are gone are left out."""
    paths = {os.stat(folder).st_ino: os.path.relpath(folder, GROUPS) for folder, _, _ in os.walk(GROUPS)}
    longest = sorted((group for group in counts if group in paths), key=lambda group: -counts[group].ran_ns)
    return {"/" if paths[group] == "." else paths[group]: counts[group] for group in longest[:MOST]}


def told(what: str, ms: float, groups: Mapping[str, Counts]) -> dict[str, Any]:
    """The reply to a request."""
    said: dict[str, Any]
    if what == "latency":
        said = {name: group.latency() for name, group in groups.items()}
    elif what == "shares":
        said = {name: round(group.ran_ns / 1e6 / ms, 4) for name, group in groups.items()}
    else:
        said = {name: group.switches() for name, group in groups.items()}
    return {what: said, "ms": round(ms)}
