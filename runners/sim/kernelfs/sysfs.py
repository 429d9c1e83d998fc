"""/sys."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from runners.sim.files.tree import fail
from runners.sim.kernelfs import cgroups
from runners.sim.kernelfs.nodes import File, Folder, Node
from runners.sim.machine import Machine


def node(machine: Machine, parts: Sequence[str]) -> Node | None:
    match list(parts):
        case []:
            return Folder(("class", "fs", "kernel"))
        case ["class"]:
            return Folder(("net",))
        case ["kernel"]:
            return Folder(())
        case ["fs"]:
            return Folder(("cgroup",))
        case ["fs", "cgroup", *rest]:
            return cgroups.node(machine, rest)
        case ["class", "net", *rest]:
            return _interfaces(machine, rest)
    return None


def store(_machine: Machine, parts: Sequence[str], _data: bytes) -> None:
    """Control groups are systemd's, who keeps them from others; and the rest says only how things are."""
    raise fail(errno.EROFS if parts[:2] == ["fs", "cgroup"] else errno.EINVAL)


def _interfaces(machine: Machine, parts: Sequence[str]) -> Node | None:
    known = {interface.name: interface for interface in machine.network.interfaces}
    if not parts:
        return Folder(tuple(known))
    interface = known.get(parts[0])
    if interface is None:
        return None
    files = {"address": interface.mac, "mtu": str(interface.mtu), "operstate": "up" if interface.up else "down"}
    if len(parts) == 1:
        return Folder(tuple(files))
    return File(files[parts[1]] + "\n") if len(parts) == 2 and parts[1] in files else None
