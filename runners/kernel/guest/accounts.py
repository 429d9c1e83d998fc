"""What a load has done, and how the kernel treats it: read from the page that it counts in, and from /proc."""

from __future__ import annotations

import mmap
import os
import struct

LOADS, GROUPS = "/run/load", "/sys/fs/cgroup"
RING, HEAD = 8192, 56
PERCENTILES = (50, 90, 95, 99)


def read(path: str, default: str = "") -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return default


class Account:
    """What a load has done, read from the page that it counts in."""

    def __init__(self, name: str) -> None:
        self.name = name
        with open(f"{LOADS}/{name}", "rb") as file:
            self._page = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.pid, self.kind = struct.unpack_from("<II", self._page, 8)

    def counts(self) -> tuple[int, int, int, int]:
        """(requests, given up, units of work, microseconds of a unit)"""
        requests, given_up, units, unit_us = struct.unpack_from("<QQQQ", self._page, 24)
        return requests, given_up, units, unit_us

    def percentiles(self, since: int, until: int) -> dict[str, int]:
        """Nanoseconds that so many in a hundred requests took at most, of those that were due and done between two
        moments of the monotonic clock; where none was done, how long somebody has been waiting at the least."""
        requests, found = self.counts()[0], list[int]()
        for number in range(requests - 1, max(-1, requests - RING), -1):
            at, latency = struct.unpack_from("<QQ", self._page, HEAD + 16 * (number % RING))
            if at < since:
                break
            if at <= until and at - latency >= since:
                found.append(latency)
        found = sorted(found) or [until - since]
        return {str(each): found[(len(found) - 1) * each // 100] for each in PERCENTILES}

    @property
    def group(self) -> str:
        return read(f"/proc/{self.pid}/cgroup").removeprefix("0::/")

    def standing(self) -> str:
        """How the kernel treats it: class, niceness, processors, group."""
        try:
            policy, cpus = os.sched_getscheduler(self.pid), sorted(os.sched_getaffinity(self.pid))
            nice = os.getpriority(os.PRIO_PROCESS, self.pid)
        except OSError:
            return "gone"
        return f"class {policy} nice {nice} cpus {','.join(map(str, cpus))} group {self.group}"

    def started(self) -> str:
        return "".join(read(f"/proc/{self.pid}/stat").rpartition(")")[2].split()[19:20])
