"""File systems of a described size in a world: ext4 on a loop device, whose file has no name and whose mount is the
world's alone. All of it is gone with the last handle on it and the last process that sees it, however those ended."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from runners.hosts.kernel import attach_mount, detached_mount
from runners.system import SystemSpec, mappings, size, text, texts
from scenario_dsl.errors import HostError
from scenario_dsl.values import Value

_SECONDS = 60
_CONFIGURE, _GET_FREE = 0x4C0A, 0x4C82
_AUTOCLEAR, _FLAGS_AT, _CONFIG_BYTES = 4, 60, 304
"""linux/loop.h: struct loop_config, and where in it are the flags."""
_ATTEMPTS = 50
_CONTROL = "/dev/loop-control"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a system says of one of its file systems. size in bytes."""

    path: str
    size: int
    inodes: int
    options: tuple[str, ...]


def described(settings: Mapping[str, Value]) -> Mapping[str, Described]:
    """The file systems that can be made for a world: those on disks, save the root and what boots the machine."""
    return {
        text(mount, "path"): Described(
            path=text(mount, "path"),
            size=size(mount.get("size", 0)),
            inodes=size(mount.get("inodes", 0)),
            options=texts(mount.get("options")),
        )
        for mount in mappings(settings.get("mounts"))
        if text(mount, "fstype") == "ext4" and text(mount, "path") not in ("/", "/boot")
    }


def mount_of(settings: Mapping[str, Value], path: str) -> str:
    """The described mount that a path lies in."""
    places = [text(mount, "path") for mount in mappings(settings.get("mounts"))]
    inside = [place for place in places if place == "/" or f"{path}/".startswith(f"{place}/")]
    return max(inside, key=len, default="/")


class Disk:
    """One file system, not mounted yet. Raises OSError; HostError where this machine cannot make any."""

    def __init__(self, what: Described) -> None:
        self.what = what
        self._mount = -1
        # Where this file lies can be seen in the world.
        with tempfile.TemporaryFile() as file:
            os.ftruncate(file.fileno(), what.size)
            _make(file.fileno(), what.inodes)
            self._loop, self._device = _loop(file.fileno())

    def attach(self, pid: int) -> None:
        """Mount it in the world of a process. The first time it takes over what lies at its place there."""
        first = self._mount < 0
        mount = detached_mount("ext4", self._device, nosuid="nosuid" in self.what.options)
        self._forget()
        self._mount = mount
        if first:
            _take_over(f"/proc/{pid}/root{self.what.path}", mount)
        failed: list[OSError] = []

        def attach() -> None:
            try:
                attach_mount(mount, pid, self.what.path)
            except OSError as error:
                failed.append(error)

        # A thread that has been in another world's mounts is of no use afterwards.
        thread = threading.Thread(target=attach)
        thread.start()
        thread.join()
        if failed:
            raise failed[0]

    def close(self) -> None:
        self._forget()
        if self._loop >= 0:
            os.close(self._loop)
            self._loop = -1

    def _forget(self) -> None:
        if self._mount >= 0:
            os.close(self._mount)
            self._mount = -1


def _take_over(there: str, mount: int) -> None:
    here = f"/proc/self/fd/{mount}"
    done = subprocess.run(
        [shutil.which("cp") or "/bin/cp", "-a", f"{there}/.", f"{here}/"],
        pass_fds=(mount,),
        capture_output=True,
        timeout=_SECONDS,
    )
    if done.returncode:
        raise OSError(f"{there} cannot be copied: {done.stderr.decode(errors='replace').strip()}")
    about = os.stat(there)
    os.chown(f"{here}/lost+found", about.st_uid, about.st_uid)


def needed(spec: SystemSpec, paths: tuple[str, ...]) -> tuple[Described, ...]:
    """The file systems that these paths lie in, of those that can be made."""
    known = described(spec.settings)
    places = dict.fromkeys(mount_of(spec.settings, path) for path in paths)
    return tuple(known[place] for place in places if place in known)


def _make(file: int, inodes: int) -> None:
    program = shutil.which("mkfs.ext4") or "/sbin/mkfs.ext4"
    options = ["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard", "-N", str(inodes)]
    try:
        done = subprocess.run(
            [program, *options, f"/proc/self/fd/{file}"], pass_fds=(file,), capture_output=True, timeout=_SECONDS
        )
    except FileNotFoundError:
        raise HostError("mkfs.ext4 is not installed", remedy="apt-get install e2fsprogs") from None
    if done.returncode:
        raise OSError(f"mkfs.ext4: {done.stderr.decode(errors='replace').strip()}")


def _loop(file: int) -> tuple[int, str]:
    """A loop device on an open file that frees itself with its last user: a handle, and its path."""
    try:
        control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise HostError(f"no disks can be made here: {error}", remedy="modprobe loop") from None
    try:
        for _ in range(_ATTEMPTS):
            path = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            config = bytearray(_CONFIG_BYTES)
            struct.pack_into("<II", config, 0, file, 0)
            struct.pack_into("<I", config, _FLAGS_AT, _AUTOCLEAR)
            try:
                fcntl.ioctl(handle, _CONFIGURE, config)
                return handle, path
            except OSError:
                # Somebody else was quicker.
                os.close(handle)
    finally:
        os.close(control)
    raise OSError("no loop device is free")
