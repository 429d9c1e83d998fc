"""Disks and partitions, as the sources of the machine's mounts imply them."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.files.tree import Mount
from runners.sim.machine import Machine, mix
from runners.system import text
from runners.text import is_digits

_PARTITION = re.compile(r"^/dev/((?:nvme\d+n\d+|mmcblk\d+)(?=p\d)|[a-z]+)p?(\d+)$")
_WHOLE = re.compile(r"^/dev/((?:[hsv]|xv)d[a-z]+|nvme\d+n\d+)$")
_MAJORS = {"sd": 8, "vd": 254, "xv": 202, "nv": 259, "dm": 253, "hd": 3}


class Partition(NamedTuple):
    """`minor` counts from the disk's own; `mount` None for swap and what is not mounted."""

    name: str
    minor: int
    size: int
    mount: Mount | None
    swap: bool = False


class Disk(NamedTuple):
    name: str
    major: int
    minor: int
    size: int
    partitions: tuple[Partition, ...]
    mount: Mount | None = None


def device_size(mount: Mount) -> int:
    """The partition's size: the file system's, with its own tables (about 2 %), in whole MiB."""
    return (mount.size + mount.size // 50) >> 20 << 20


def disks(machine: Machine) -> list[Disk]:
    """In order of name. A disk is as large as its partitions, rounded up to a whole GiB."""
    partitions: dict[str, list[Partition]] = {}
    whole: dict[str, Mount] = {}
    for mount in machine.files.mounts:
        match = _PARTITION.match(mount.source)
        if match:
            known = partitions.setdefault(match.group(1), [])
            name = mount.source.removeprefix("/dev/")
            if all(partition.name != name for partition in known):
                known.append(Partition(name, int(match.group(2)), device_size(mount), mount))
        elif _WHOLE.match(mount.source):
            whole.setdefault(mount.source.removeprefix("/dev/"), mount)
    swap = _swap(machine)
    if swap is not None:
        match = _PARTITION.match(swap[0])
        if match:
            partitions.setdefault(match.group(1), []).append(
                Partition(swap[0].removeprefix("/dev/"), int(match.group(2)), swap[1], None, swap=True)
            )
    found = []
    for index, name in enumerate(sorted({*partitions, *whole})):
        parts = tuple(sorted(partitions.get(name, []), key=lambda partition: partition.minor))
        size = sum(part.size for part in parts) or device_size(whole[name])
        size = -(-size // (1 << 30)) << 30
        found.append(Disk(name, _MAJORS.get(name[:2], 8), index * 16, size, parts, whole.get(name)))
    return found


def _swap(machine: Machine) -> tuple[str, int] | None:
    """The first swap device of /proc/swaps and its size in bytes."""
    try:
        lines = machine.view().text("/proc/swaps").splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[0].startswith("/dev/") and is_digits(words[2]):
            return words[0], int(words[2]) * 1024
    return None


def uuid(machine: Machine, device: str) -> str:
    """A device's UUID: the one that the described fstab mounts it by; else any one, but always the same."""
    places = {text(entry, "path") for entry in machine.spec.entries("mounts") if text(entry, "device") == device}
    for line in _described_fstab(machine).splitlines():
        words = line.split()
        if len(words) > 1 and words[0].startswith("UUID=") and words[1] in places:
            return words[0].removeprefix("UUID=")
    made = f"{mix('uuid ' + device):016x}{mix(device + ' uuid'):016x}"
    return f"{made[:8]}-{made[8:12]}-4{made[13:16]}-a{made[17:20]}-{made[20:]}"


def _described_fstab(machine: Machine) -> str:
    return next((file.content or "" for file in machine.spec.files if file.path == "/etc/fstab"), "")


def numbers(machine: Machine, dev: int) -> tuple[int, int]:
    """Major and minor of the device that a mount's files lie on, for stat(2); of no disk is 0 and a number."""
    mount = next((one for one in machine.files.mounts if one.dev == dev), None)
    for disk in disks(machine) if mount is not None and mount.source.startswith("/dev/") else ():
        for part in disk.partitions:
            if mount is not None and f"/dev/{part.name}" == mount.source:
                return disk.major, disk.minor + part.minor
        if mount is not None and f"/dev/{disk.name}" == mount.source:
            return disk.major, disk.minor
    return 0, 20 + max(dev, 0)
