"""disk and mount: the file systems."""

from __future__ import annotations

import posixpath

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.files.tree import Mount
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.worlds import Observation


def disk(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """Percentages are df's: used of used and available, rounded up. `path` need not exist: its folder counts.

    It is the healthy machine's file system that is measured: one mounted over it hides a full disk and empties none.
    """
    seen, path = Seen(), arguments.require("path")
    place = _mount_of(machine, path)
    known = baseline.devices.get(place.path)
    if baseline.devices and known != place.source:
        seen.expect(False, f"{place.source} is mounted on {place.path}, which is not what belongs there")
        return seen.observation()
    free = machine.files.free(place)
    used = place.reserved + machine.files.usage[place.dev].bytes
    inodes_used = place.inodes_reserved + machine.files.usage[place.dev].inodes
    percent, inode_percent = _percent(used, free.bytes), _percent(inodes_used, free.inodes)
    space, inodes = f"{place.path} is {percent}% full, {free.bytes} bytes free", f"{inode_percent}% of inodes used"
    # Name, what is measured, whether the limit is an upper one, and the fact to tell.
    for name, measured, upper, fact in (
        ("used_percent_at_most", percent, True, space),
        ("used_percent_at_least", percent, False, space),
        ("free_at_least", free.bytes, False, space),
        ("free_at_most", free.bytes, True, space),
        ("inodes_free_at_least", free.inodes, False, f"{place.path} has {free.inodes} inodes free"),
        ("inodes_used_percent_at_most", inode_percent, True, f"{place.path}: {inodes}"),
        ("inodes_used_percent_at_least", inode_percent, False, f"{place.path}: {inodes}"),
    ):
        limit = arguments.number(name)
        if limit is not None:
            seen.expect(measured <= limit if upper else measured >= limit, fact)
    return seen.observation()


def mount(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    seen, path = Seen(), arguments.require("path").rstrip("/") or "/"
    # The last one mounted there is the one that is seen.
    here = next((one for one in reversed(machine.files.mounts) if one.path == path), None)
    wanted = arguments.flag("mounted")
    seen.expect(wanted is (here is not None), f"{path} is {'mounted' if here is not None else 'not mounted'}")
    if here is not None and wanted:
        for option in arguments.texts("options"):
            seen.expect(option in here.options, f"{path} has the options {','.join(here.options)}")
    return seen.observation()


def _mount_of(machine: Machine, path: str) -> Mount:
    view = machine.view()
    while path != "/":
        try:
            found = view.find(path)
            return machine.files.mount_of(found.inode if found.inode is not None else found.parent)
        except OSError:
            path = posixpath.dirname(path)
    return machine.files.mounts[0]


def _percent(used: int, free: int) -> int:
    whole = used + free
    return -(-100 * used // whole) if whole else 0
