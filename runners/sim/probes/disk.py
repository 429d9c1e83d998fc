"""disk and mount: the file systems."""

from __future__ import annotations

import posixpath

from runners.probes.arguments import Arguments
from runners.probes.disks import DiskLook, judge_disk, judge_mount, mount_point
from runners.probes.seen import nothing_held
from runners.sim.files.tree import Mount
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.worlds import Observation


def disk(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """`path` need not exist: its folder counts.

    It is the healthy machine's file system that is measured: one mounted over it hides a full disk and empties none.
    """
    place = _mount_of(machine, arguments.require("path"))
    known = baseline.devices.get(place.path)
    if baseline.devices and known != place.dev:
        return nothing_held(f"{place.source} is mounted on {place.path}, which is not what belongs there")
    free, usage = machine.files.free(place), machine.files.usage[place.dev]
    look = DiskLook(
        path=place.path,
        used=place.reserved + usage.bytes,
        free=free.bytes,
        inodes_used=place.inodes_reserved + usage.inodes,
        inodes_free=free.inodes,
    )
    return judge_disk(look, arguments)


def mount(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    # The last one mounted there is the one that is seen.
    path = mount_point(arguments)
    here = next((one.options for one in reversed(machine.files.mounts) if one.path == path), None)
    return judge_mount(here, arguments)


def _mount_of(machine: Machine, path: str) -> Mount:
    view = machine.view()
    while path != "/":
        try:
            found = view.find(path)
            return machine.files.mount_of(found.inode if found.inode is not None else found.parent)
        except OSError:
            path = posixpath.dirname(path)
    return machine.files.mounts[0]
