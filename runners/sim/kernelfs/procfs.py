"""/proc."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import TypeAlias

from runners.sim.files.tree import fail
from runners.sim.kernelfs import network_files, process_files, settings
from runners.sim.kernelfs.machine_files import MACHINE_FILES
from runners.sim.kernelfs.nodes import File, Folder, Node
from runners.sim.machine import Machine
from runners.text import is_digits

Store: TypeAlias = Callable[[Machine, Sequence[str], bytes], None]


def node(machine: Machine, parts: Sequence[str]) -> Node | None:
    if not parts:
        tops = dict.fromkeys(path.partition("/")[0] for path in MACHINE_FILES)
        return Folder((*tops, "sys", "net", "self", *(str(process.pid) for process in machine.processes)))
    first, *rest = parts
    if first == "self" or is_digits(first):
        table = machine.processes
        process = table.get(max(table.by_pid, default=1) if first == "self" else int(first))
        return process_files.node(machine, process, rest) if process is not None else None
    if first == "sys":
        return settings.node(machine, rest)
    if first == "net":
        return network_files.node(machine, rest)
    path = "/".join(parts)
    if make := MACHINE_FILES.get(path):
        return File(make(machine))
    below = [name.removeprefix(path + "/") for name in MACHINE_FILES if name.startswith(path + "/")]
    return Folder(below) if below else None


def store(machine: Machine, parts: Sequence[str], data: bytes) -> None:
    """Writing to /proc/sys sets the kernel's value; other files refuse."""
    if parts[0] != "sys":
        raise fail(errno.EINVAL)
    settings.store(machine, parts[1:], data)
