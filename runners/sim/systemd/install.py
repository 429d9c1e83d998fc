"""Enabling, disabling, masking and reverting: links and files in /etc/systemd/system."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.files.view import FileView
from runners.sim.machine import Machine
from runners.sim.systemd.jobs import UnitError
from runners.sim.systemd.unitfile import SEARCH, UnitFile
from runners.sim.systemd.units import daemon_reload, full_name, read_unit

ETC = SEARCH[0]
_OWN = (ETC, "/run/systemd/system")
_VENDORS = ("/lib/systemd/system", "/usr/lib/systemd/system")


class Change(NamedTuple):
    """One link made, or a link, file or folder removed. `message` is what systemctl prints for it."""

    link: str
    target: str | None

    @property
    def message(self) -> str:
        if self.target is None:
            return f'Removed "{self.link}".'
        return f"Created symlink {self.link} \u2192 {self.target}."


def enable(machine: Machine, name: str, *, reload: bool = True) -> list[Change]:
    """Make the links of the [Install] section, and reload the manager.

    UnitError: not found, masked; OSError when links cannot be made.
    """
    view = machine.view()
    unit = _installable(view, full_name(name))
    changes = [change for link in _links(unit) if (change := _make(view, link, unit.path)) is not None]
    if changes and reload:
        daemon_reload(machine)
    return changes


def disable(machine: Machine, name: str) -> list[Change]:
    """Take all links to the unit out of the .wants and .requires folders, and its aliases."""
    view = machine.view()
    full = full_name(name)
    unit = read_unit(view, full)
    if unit.load_state == "not-found":
        raise UnitError(full, f"Failed to disable unit: Unit file {full} does not exist.")
    changes = []
    for link in [*_wants(view, unit.name), *(link for link in _links(unit) if not _in_wants(link))]:
        if _is_link(view, link):
            view.unlink(link)
            changes.append(Change(link, None))
    if changes:
        daemon_reload(machine)
    return changes


def mask(machine: Machine, name: str) -> list[Change]:
    """Link the unit to /dev/null."""
    view = machine.view()
    full = full_name(name)
    path = f"{ETC}/{full}"
    change = Change(path, "/dev/null")
    try:
        inode = view.stat(path, follow=False)
    except OSError:
        inode = None
    if inode is not None:
        if inode.target == "/dev/null":
            return []
        if inode.target is None:
            raise UnitError(full, f"Failed to mask unit: File {path} already exists.")
        view.unlink(path)
    view.symlink("/dev/null", path)
    daemon_reload(machine)
    return [change]


def unmask(machine: Machine, name: str) -> list[Change]:
    view = machine.view()
    path = f"{ETC}/{full_name(name)}"
    try:
        inode = view.stat(path, follow=False)
    except OSError:
        return []
    if inode.target != "/dev/null" and not (inode.is_file and inode.size == 0):
        return []
    view.unlink(path)
    daemon_reload(machine)
    return [Change(path, None)]


def revert(machine: Machine, name: str) -> list[Change]:
    """Take away its drop-ins and its mask, and the administrator's unit file where the vendor has one as well."""
    view, full = machine.view(), full_name(name)
    vendor = any(view.exists(f"{folder}/{full}") for folder in _VENDORS)
    gone: list[Change] = []
    for folder in _OWN:
        for path in (f"{folder}/{full}.d", f"{folder}/{full}"):
            try:
                inode = view.stat(path, follow=False)
            except OSError:
                continue
            if inode.is_dir or vendor or inode.target == "/dev/null":
                for inside in view.names(path) if inode.is_dir else ():
                    view.unlink(f"{path}/{inside}")
                view.rmdir(path) if inode.is_dir else view.unlink(path)
                gone.append(Change(path, None))
    daemon_reload(machine)
    return gone


def is_enabled(machine: Machine, name: str) -> str:
    """enabled, disabled, static, masked, alias, indirect, linked, transient; UnitError when there is no such file."""
    view = machine.view()
    full = full_name(name)
    unit = read_unit(view, full)
    if unit.load_state == "masked":
        return "masked"
    if unit.load_state == "not-found":
        raise UnitError(full, f"Failed to get unit file state for {full}: No such file or directory")
    if unit.path.startswith("/run/systemd/transient/"):
        return "transient"
    if unit.name != full and unit.path.rsplit("/", 1)[-1] != full:
        return "alias"
    if any(True for _ in _wants(view, full)) or any(
        _is_link(view, link) for link in _links(unit) if not _in_wants(link)
    ):
        return "enabled"
    if unit.settings.get("Install"):
        keys = unit.settings["Install"]
        if not (keys.get("WantedBy") or keys.get("RequiredBy") or keys.get("Alias")) and keys.get("Also"):
            return "indirect"
        return "disabled"
    return "static"


def _installable(view: FileView, full: str) -> UnitFile:
    unit = read_unit(view, full)
    if unit.load_state == "not-found":
        raise UnitError(full, f"Failed to enable unit: Unit file {full} does not exist.")
    if unit.load_state == "masked":
        raise UnitError(full, f"Failed to enable unit: Unit file {ETC}/{full} is masked.")
    return unit


def _links(unit: UnitFile) -> Iterator[str]:
    for alias in unit.words("Install", "Alias"):
        yield f"{ETC}/{alias}"
    for target in unit.words("Install", "WantedBy"):
        yield f"{ETC}/{target}.wants/{unit.name}"
    for target in unit.words("Install", "RequiredBy"):
        yield f"{ETC}/{target}.requires/{unit.name}"


def _in_wants(link: str) -> bool:
    return posixpath.dirname(link).endswith((".wants", ".requires"))


def _make(view: FileView, link: str, target: str) -> Change | None:
    folder = posixpath.dirname(link)
    if not view.exists(folder):
        view.mkdir(folder, 0o755)
    if _is_link(view, link):
        if view.stat(link, follow=False).target == target:
            return None
        view.unlink(link)
    view.symlink(target, link)
    return Change(link, target)


def _is_link(view: FileView, path: str) -> bool:
    try:
        return view.stat(path, follow=False).is_link
    except OSError:
        return False


def _wants(view: FileView, name: str) -> Iterator[str]:
    for folder in view.names(ETC):
        if folder.endswith((".wants", ".requires")):
            path = f"{ETC}/{folder}/{name}"
            if _is_link(view, path):
                yield path
