"""Who made something that outlives its process: told from every other process, so that what dead ones left is found."""

from __future__ import annotations

import os
from pathlib import Path

from runners.text import is_digits

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def owner() -> str:
    """This process, told from any other before or after it: its number, its start, and the boot of this machine."""
    return f"{os.getpid()}.{started(os.getpid())}.{_BOOT.read_text().strip()}"


def is_alive(name: str) -> bool:
    """Does the process of that `owner` still run?"""
    pid, _, rest = name.partition(".")
    return is_digits(pid) and rest == f"{started(int(pid))}.{_BOOT.read_text().strip()}"


def started(pid: int) -> str:
    """When a process began, in ticks since the boot; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
