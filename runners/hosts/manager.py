"""A world's systemd, asked over its own private socket; the kernel says that the first process listens on it."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from runners.hosts.dbus import Connection, DBusError, Decoded
from runners.hosts.files import Files

_SECONDS = 15.0
_BOOT_SECONDS = 90.0
_PAUSE = 0.01
_UP = ("running", "degraded")
_MANAGER = ("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
_HELPER = (
    "import os, socket; os.seteuid({uid}); link = socket.socket(socket.AF_UNIX); link.settimeout(10); "
    "link.connect('/proc/self/fd/{folder}/private'); "
    "socket.send_fds(socket.socket(fileno={back}), [b'x'], [link.fileno()])"
)
_UNIT, _SERVICE = "org.freedesktop.systemd1.Unit", "org.freedesktop.systemd1.Service"
_INFINITY = (1 << 64) - 1
_CHANGING = ("activating", "deactivating", "reloading")
_NEEDING = ("After", "Requires", "BindsTo", "Wants")
_PROPERTIES = "org.freedesktop.DBus.Properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What systemd keeps of a unit. main: its main process's number in the world, 0 for none."""

    name: str
    active: str
    load: str
    file: str
    main: int
    restarts: int


class Manager:
    """A connection that is made before anybody else is in the world, and kept; made anew when systemd drops it.

    Raises DBusError, OSError.
    """

    def __init__(self, pid: int, files: Files) -> None:
        self._pid, self._files = pid, files
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def connect(self) -> None:
        self._connection = Connection(_connected(self._pid, self._files))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _active(self, name: str) -> str:
        path = str(self._call(*_MANAGER, "LoadUnit", _full(name))[0])
        return str(self._property(path, _UNIT, "ActiveState"))

    def unit(self, name: str) -> Unit:
        full = _full(name)
        path = str(self._call(*_MANAGER, "LoadUnit", full)[0])
        service = full.endswith(".service")
        return Unit(
            name=full,
            active=str(self._property(path, _UNIT, "ActiveState")),
            load=str(self._property(path, _UNIT, "LoadState")),
            file=str(self._property(path, _UNIT, "UnitFileState")),
            main=_number(self._property(path, _SERVICE, "MainPID")) if service else 0,
            restarts=_number(self._property(path, _SERVICE, "NRestarts")) if service else 0,
        )

    def memory_limit(self, name: str) -> int | None:
        """The most bytes that the processes of a service may hold together, MemoryMax=; None for no limit."""
        path = str(self._call(*_MANAGER, "LoadUnit", name)[0])
        limit = _number(self._property(path, _SERVICE, "MemoryMax"))
        return None if limit == _INFINITY else limit

    def wait_until_up(self, units: Sequence[str], runs: Callable[[], bool]) -> None:
        """Until the machine has booted and these units are active. Raises DBusError where that takes too long, or where
        it `runs` no more."""
        self._wait(lambda: self._missing(units), runs)

    def _missing(self, units: Sequence[str]) -> str:
        state = self.state()
        if state not in _UP:
            return f"it is {state}"
        waiting = next((unit for unit in units if self._active(unit) != "active"), None)
        return "" if waiting is None else f"it is {state}, {waiting} is not active"

    @staticmethod
    def _wait(missing: Callable[[], str], runs: Callable[[], bool]) -> None:
        """Until nothing is missing, in words."""
        until = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < until:
            try:
                said = missing()
                if not said:
                    return
            except (OSError, DBusError) as error:
                said = str(error)
            if not runs():
                raise DBusError(f"the machine ended while it booted; {said}")
            time.sleep(_PAUSE)
        raise DBusError(f"the machine did not come up within {_BOOT_SECONDS:g} s; {said}")

    def state(self) -> str:
        """starting, running, degraded, stopping, …"""
        return str(self._property(_MANAGER[0], _MANAGER[1], "SystemState"))

    def services(self) -> Iterator[tuple[str, int]]:
        """(name, main process) of every active service that has one."""
        for one in _list(self._call(*_MANAGER, "ListUnits")[0]):
            if isinstance(one, tuple) and str(one[0]).endswith(".service") and one[3] == "active":
                main = _number(self._property(str(one[6]), _SERVICE, "MainPID"))
                if main:
                    yield str(one[0]), main

    def changing(self) -> bool:
        """Is any unit being started, stopped or reloaded, or about to be started again?"""
        units = [one for one in _list(self._call(*_MANAGER, "ListUnits")[0]) if isinstance(one, tuple)]
        return any(one[3] in _CHANGING for one in units)

    def needs(self, name: str) -> tuple[str, ...]:
        """The services that a unit says it requires, wants, is bound to, or comes after, sorted."""
        path = str(self._call(*_MANAGER, "LoadUnit", name)[0])
        found = {str(one) for key in _NEEDING for one in _list(self._property(path, _UNIT, key))}
        return tuple(sorted(one for one in found if one.endswith(".service")))

    def timers(self) -> Iterator[str]:
        """The active timers."""
        for one in _list(self._call(*_MANAGER, "ListUnits")[0]):
            if isinstance(one, tuple) and str(one[0]).endswith(".timer") and one[3] == "active":
                yield str(one[0])

    def forget_starts(self, seconds: float) -> None:
        """Have systemd forget how often it has started services that it gave up, as it does by itself within so many
        seconds: it limits how often, not for how long. It forgets when it reads its units anew, and its journal says
        so. Where units are changed on disk, reading them is somebody else's business."""
        units = [one for one in _list(self._call(*_MANAGER, "ListUnits")[0]) if isinstance(one, tuple)]
        failed = [str(one[6]) for one in units if str(one[0]).endswith(".service") and one[3] == "failed"]
        given_up = any(self._has_been_given_up(path, seconds) for path in failed)
        if given_up and not any(self._property(str(one[6]), _UNIT, "NeedDaemonReload") for one in units):
            self._call(*_MANAGER, "Reload")

    def _has_been_given_up(self, path: str, seconds: float) -> bool:
        interval = _number(self._property(path, _UNIT, "StartLimitIntervalUSec")) / 1e6
        return interval <= seconds and _number(self._property(path, _SERVICE, "NRestarts")) > 0

    def _property(self, path: str, interface: str, name: str) -> Decoded:
        return self._call(path, _PROPERTIES, "Get", interface, name)[0]

    def _call(self, path: str, interface: str, member: str, *texts: str) -> tuple[Decoded, ...]:
        with self._lock:
            if self._connection is not None:
                try:
                    return self._connection.call(path, interface, member, *texts)
                except OSError:
                    self.close()
            self.connect()
            assert self._connection is not None
            return self._connection.call(path, interface, member, *texts)


def _connected(pid: int, files: Files) -> socket.socket:
    """A socket to systemd. It takes only who has a number in its own process namespace, so a helper of ours connects
    there, as the world's root, and hands the socket over."""
    folder = files.handle("/run/systemd", os.O_RDONLY | os.O_DIRECTORY)
    if "private" not in os.listdir(folder):
        os.close(folder)
        raise DBusError("systemd does not listen yet")
    ours, theirs = socket.socketpair()
    try:
        ours.settimeout(_SECONDS)
        code = _HELPER.format(uid=files.uids, folder=folder, back=theirs.fileno())
        call = ["nsenter", "-t", str(pid), "-p", "--", sys.executable, "-I", "-S", "-c", code]
        done = subprocess.run(
            call, pass_fds=(folder, theirs.fileno()), capture_output=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            raise DBusError(f"systemd cannot be reached: {done.stderr.decode(errors='replace').strip()[-200:]}")
        _, handles, _, _ = socket.recv_fds(ours, 1, 1)
    finally:
        ours.close()
        theirs.close()
        os.close(folder)
    link = socket.socket(fileno=handles[0])
    link.settimeout(_SECONDS)
    if struct.unpack("iII", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] != pid:
        link.close()
        raise DBusError("something else answers in systemd's place")
    return link


def _full(name: str) -> str:
    return name if "." in name else f"{name}.service"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _list(value: Decoded) -> list[Decoded]:
    return value if isinstance(value, list) else []
