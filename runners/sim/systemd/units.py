"""Units as the manager has them loaded: names, files as last read, processes, what depends on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from immutables import Map

from runners.sim.files.inode import Inode
from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.systemd import unitfile
from runners.sim.systemd.jobs import UnitError
from runners.sim.systemd.journal import log
from runners.sim.systemd.unitfile import UnitFile

_INSIDE = ("/dev/null", "/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/")
_KINDS = ("service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer", "slice", "scope")


def full_name(name: str) -> str:
    """`nginx` is nginx.service; a path is its mount unit."""
    if name.startswith("/"):
        return (name.strip("/").replace("-", "\\x2d").replace("/", "-") or "-") + ".mount"
    return name if name.rsplit(".", 1)[-1] in _KINDS and "." in name else f"{name}.service"


def unit_file(machine: Machine, name: str) -> UnitFile:
    """The unit as loaded: read from disk once, then kept until `daemon_reload`. Aliases lead to the unit they name."""
    loaded = machine.systemd.loaded.get(name)
    if loaded is None:
        read = read_unit(machine.view(), name)
        if read.load_state == "not-found":
            return read
        machine.systemd.loaded = {**machine.systemd.loaded, name: read}
        _complain(machine, read)
        loaded = read
    return cast(UnitFile, loaded)


def read_unit(view: FileView, name: str) -> UnitFile:
    """The unit as its files say now, under its own name if `name` is an alias (a link to another unit)."""
    unit = unitfile.load(view, name)
    own = unit.path.rsplit("/", 1)[-1]
    if unit.load_state == "loaded" and own and own != name and "@" not in own and own.rsplit(".", 1)[-1] in _KINDS:
        return unitfile.load(view, own)
    return unit


def _complain(machine: Machine, unit: UnitFile) -> None:
    for line in unit.warnings:
        log(machine, "systemd", line, pid=1, unit=unit.name, priority=4)
    if unit.load_state in ("bad-setting", "error") and unit.problem:
        log(machine, "systemd", f"{unit.name}: {unit.problem}", pid=1, unit=unit.name, priority=3)


def require(machine: Machine, name: str) -> UnitFile:
    """The loaded unit; UnitError when it is missing, masked or wrong."""
    unit = unit_file(machine, name)
    if unit.load_state == "not-found":
        raise UnitError(name, f"Unit {name} not found.", 5)
    if unit.load_state == "masked":
        raise UnitError(unit.name, f"Unit {unit.name} is masked.")
    if unit.load_state in ("bad-setting", "error"):
        raise UnitError(
            unit.name,
            f"Unit {unit.name} has a bad unit file setting.\n"
            f"See system logs and 'systemctl status {unit.name}' for details.",
        )
    return unit


def daemon_reload(machine: Machine) -> None:
    """Read all unit files again."""
    log(machine, "systemd", "Reloading.", pid=1)
    machine.systemd.generation += 1
    reread(machine)


def reread(machine: Machine) -> None:
    """Take the unit files as they are now, without a word in the journal. Only what changed is read again."""
    before, now = machine.systemd.picture, _picture(machine)
    changed = _changes(before, now) if isinstance(before, _Picture) else None
    if changed is not None and not changed:
        return
    machine.systemd.picture = now if changed is not None or _leads_inside(now) else None
    view = machine.view()
    fresh: dict[str, object] = {}
    for name, loaded in machine.systemd.loaded.items():
        unit = cast(UnitFile, loaded)
        if changed is None or unit.load_state == "not-found" or _concerned(changed, name, unit):
            unit = read_unit(view, name)
        if unit.load_state != "not-found" or machine.systemd.get(name).active not in ("inactive", "failed"):
            fresh[name] = unit
        _complain(machine, unit)
    machine.systemd.loaded = fresh


class _Picture(NamedTuple):
    """The unit folders at one moment: their own inodes (None: missing), and the map that all others are found in."""

    folders: tuple[Inode | None, ...]
    inodes: Map[int, Inode]


def _picture(machine: Machine) -> _Picture:
    view = machine.view()
    folders: list[Inode | None] = []
    for folder in unitfile.SEARCH:
        try:
            folders.append(view.stat(folder))
        except OSError:
            folders.append(None)
    return _Picture(tuple(folders), machine.files.inodes)


def _entries(folder: Inode | None) -> Mapping[str, int]:
    return {} if folder is None or folder.entries is None else folder.entries


def _changes(before: _Picture, now: _Picture) -> frozenset[str] | None:
    """Names of the units whose file or drop-ins are not the very same; None when a link leads to where we do not look.

    What stands in .wants and .requires is no part of a unit's own settings.
    """
    changed: set[str] = set()
    for old, new in zip(before.folders, now.folders, strict=True):
        was, entries = _entries(old), _entries(new)
        for name, number in entries.items():
            if was.get(name) == number and _same(before.inodes, now.inodes, number):
                continue
            if not _inside(now.inodes, number):
                return None
            changed.add(name.removesuffix(".d"))
        if old is not new:
            changed.update(name.removesuffix(".d") for name in was if name not in entries)
    return frozenset(name for name in changed if not name.endswith((".wants", ".requires")))


def _same(before: Map[int, Inode], now: Map[int, Inode], number: int) -> bool:
    inode = now[number]
    if before.get(number) is not inode:
        return False
    if inode.entries is not None:
        for child in inode.entries.values():
            if not _same(before, now, child):
                return False
    return True


def _leads_inside(picture: _Picture) -> bool:
    return all(_inside(picture.inodes, number) for folder in picture.folders for number in _entries(folder).values())


def _inside(inodes: Map[int, Inode], number: int) -> bool:
    """Do all links here and below lead to other unit files (or to /dev/null)?"""
    inode = inodes[number]
    if inode.entries is not None:
        return all(_inside(inodes, child) for child in inode.entries.values())
    return inode.target is None or inode.target.startswith(_INSIDE)


def _concerned(changed: frozenset[str], name: str, unit: UnitFile) -> bool:
    """May a unit's settings have changed? They stand under its name, its template's, or those of what it links to."""
    own = unit.path.rsplit("/", 1)[-1]
    if name in changed or unit.name in changed or own in changed:
        return True
    return any("@" in known and unitfile.template_of(known) in changed for known in (name, own))


def needs_reload(machine: Machine, name: str) -> bool:
    """Has the unit's file, or one of its drop-ins, changed since it was loaded?"""
    loaded = machine.systemd.loaded.get(name)
    if not isinstance(loaded, UnitFile):
        return False
    if loaded.load_state == "masked":
        # The drop-ins of a masked unit are known but count for nothing, which the manager takes for a change.
        return bool(loaded.drop_ins)
    now = read_unit(machine.view(), name)
    return (now.path, now.drop_ins, now.source) != (loaded.path, loaded.drop_ins, loaded.source)


def known(machine: Machine) -> list[str]:
    """Names of all units in memory: those with a state of their own, sorted."""
    return sorted(machine.systemd.units)


def processes_of(machine: Machine, name: str) -> list[Process]:
    """The processes in the unit's cgroup, by pid."""
    found = [process for process in machine.processes.by_pid.values() if process.unit == name]
    return sorted(found, key=_pid)


def _pid(process: Process) -> int:
    return process.pid


def dependents(machine: Machine, name: str, *keys: str) -> Iterator[str]:
    """Active units that name this one in one of the `keys` of their [Unit] section (Requires, BindsTo, PartOf)."""
    for other in known(machine):
        if machine.systemd.get(other).active not in ("active", "activating"):
            continue
        unit = unit_file(machine, other)
        if any(name in unit.words("Unit", key) for key in keys):
            yield other
