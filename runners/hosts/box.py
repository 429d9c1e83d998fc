"""One container that runs systemd: made, started, wired and taken away again."""

from __future__ import annotations

import os
import select
import socket
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from runners.hosts.disks import Described, Disk
from runners.hosts.engine import Engine, EngineError, Finished
from runners.hosts.kernel_view import children, command_line, control_group
from runners.hosts.wiring import Network, Plan
from runners.system import SystemSpec, mappings, size, text
from runners.text import is_digits

_DOWN_SECONDS = 20.0
_PAUSE = 0.05
_MEMORY = 2560 << 20
_CPUS = 2.0
_PREPARE = """\
exec 3<&0 </dev/null
once=$1
shift
if [ -n "$once" ] && rm "/etc/$once" 2>/dev/null; then "$@" <&3 3<&- & fi
exec 3<&- >/dev/null 2>&1
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 /sys/fs/cgroup || exit 1
umount /etc/hosts /etc/hostname /etc/resolv.conf
rm -f /.dockerenv
n=0
until mkdir /sys/fs/cgroup/init.scope 2>/dev/null; do n=$((n+1)); [ $n -gt 600 ] && exit 2; sleep 0.05; done
exec /sbin/init
"""
"""Until systemd can be started: the first process begins the companion, at the first boot only, and waits for its
control group to become its own. systemd takes the companion into its own group, as it does with all that it finds."""

_ENGINES = ("hostname", "hosts", "resolv.conf")


class Limits(NamedTuple):
    """Bytes: the most that a world may hold, and what it holds now without what can be given up."""

    memory: int
    memory_used: int


class Box:
    """A container of an image and the outside of its network. `outside`: the namespace of its neighbours."""

    def __init__(
        self,
        engine: Engine,
        spec: SystemSpec,
        image: str,
        *,
        kind: str,
        network: Network | None = None,
        disks: Sequence[Described] = (),
        companion: Sequence[str] = (),
    ) -> None:
        """network: what it is plugged into, and stays the caller's to close; one of its own otherwise. disks: file
        systems of its own. companion: a program that begins before systemd does, which costs less time than one that
        the engine begins later; `link` is its standard input and output."""
        self._engine = engine
        self._disks: list[Disk] = []
        self.plan = Plan.of(spec)
        self._network, self._owns_network = network or Network(self.plan), network is None
        self.pid = 0
        self._process = -1
        self.inside = -1
        self.container = ""
        self.link: socket.socket | None = None
        self._companion = tuple(companion)
        # A file of this name is there for the first boot alone, and nobody in the world ever sees it.
        once = f".{uuid.uuid4().hex}" if companion else ""
        try:
            self.container = engine.create(
                image,
                name=f"breakfix-{uuid.uuid4().hex[:12]}",
                hostname=spec.hostname,
                command=["/bin/sh", "-c", _PREPARE, "sh", once, *companion],
                asked=bool(companion),
                kind=kind,
                tmpfs=_tmpfs(spec),
                memory=_MEMORY,
                cpus=_CPUS,
            )
            engine.put(self.container, "/etc", _name_files(spec) | ({once: b""} if companion else {}))
            self._disks += map(Disk, disks)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Boot it. Raises EngineError where it does not come up; the cable is plugged in before systemd starts."""
        if self.pid:
            self._wait_until_noticed()
        self._let_go()
        if self._companion and not self.pid:
            self.link = self._engine.attach_first(self.container)
        self.pid = self._engine.start(self.container)
        try:
            self._process = os.pidfd_open(self.pid)
        except OSError as error:
            raise EngineError(f"the world ended at once: {error}") from None
        self.inside = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._network.plug_in(self.plan, self.inside)
            for disk in self._disks:
                disk.attach(self.pid)
            self._hand_over()
        except OSError as error:
            raise EngineError(f"the world could not be wired: {error}") from None

    @property
    def outside(self) -> int:
        return self._network.handle

    def runs(self) -> bool:
        """Does the very process still live that was started?"""
        if self._process < 0:
            return False
        ended = select.poll()
        ended.register(self._process, select.POLLIN)
        return not ended.poll(0)

    def wait_for_companion(self) -> None:
        """Until nothing is left of it. Its link does not say so: the first process has the other end, too."""
        until = time.monotonic() + _DOWN_SECONDS
        while any(argv[-1:] == self._companion[-1:] for argv in map(command_line, children(self.pid))):
            if time.monotonic() > until:
                raise EngineError("what prepares the world does not end")
            time.sleep(_PAUSE / 10)

    def wait_until_down(self) -> None:
        """Until it has shut itself down; one that takes too long is switched off."""
        until = time.monotonic() + _DOWN_SECONDS
        while self.runs():
            if time.monotonic() > until:
                self._engine.kill(self.container)
                until += _DOWN_SECONDS
            time.sleep(0.2)

    def _wait_until_noticed(self) -> None:
        """The engine hears of a container's end a little later than the kernel, and starts none that runs."""
        until = time.monotonic() + _DOWN_SECONDS
        while self._engine.pid(self.container) == self.pid and time.monotonic() < until:
            time.sleep(_PAUSE)

    def _let_go(self) -> None:
        for handle in (self._process, self.inside):
            if handle >= 0:
                os.close(handle)
        self._process = self.inside = -1

    def run(self, argv: Sequence[str], *, seconds: float = 60, user: str = "root") -> Finished:
        return self._engine.run(self.container, argv, seconds=seconds, user=user)

    def limits(self) -> Limits:
        """What its control group may use and does."""
        group = control_group(self.pid, "memory")
        second = (group / "memory.max").exists()
        limit = (group / ("memory.max" if second else "memory.limit_in_bytes")).read_text().strip()
        used = int((group / ("memory.current" if second else "memory.usage_in_bytes")).read_text())
        for line in (group / "memory.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == ("inactive_file" if second else "total_inactive_file"):
                used -= int(value)
        return Limits(memory=int(limit) if is_digits(limit) else 1 << 62, memory_used=max(0, used))

    def close(self) -> None:
        if self.link is not None:
            self.link.close()
        if self.container:
            self._engine.remove(self.container)
        self._let_go()
        if self._owns_network:
            self._network.close()
        for disk in self._disks:
            disk.close()

    def _hand_over(self) -> None:
        """Give the container's own control group to its root, as systemd needs it."""
        uid = root_id(self.pid)
        path = next(
            line.split("::", 1)[1]
            for line in Path(f"/proc/{self.pid}/cgroup").read_text().splitlines()
            if line[:3] == "0::"
        )
        folder = unified() / path.strip().lstrip("/")
        for place in (folder, *(folder / f"cgroup.{name}" for name in ("procs", "threads", "subtree_control"))):
            if place.exists():
                os.chown(place, uid, uid)


def unified() -> Path:
    """Where this host mounts the second version of control groups: all of them, or beside the first."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        fields = line.split()
        if fields[2] == "cgroup2":
            return Path(fields[1])
    raise EngineError("this host mounts no cgroup2")


def root_id(pid: int) -> int:
    """The user id, on this host, of a process's root."""
    for line in Path(f"/proc/{pid}/uid_map").read_text().splitlines():
        inner, outer, _ = line.split()
        if inner == "0":
            return int(outer)
    raise EngineError("the world has no root")


def _name_files(spec: SystemSpec) -> dict[str, bytes]:
    """Files that the engine would write itself, and whose mounts are taken away before systemd starts."""
    described = {file.path: file.content or "" for file in spec.files}
    return {name: described[f"/etc/{name}"].encode() for name in _ENGINES if f"/etc/{name}" in described}


def _tmpfs(spec: SystemSpec) -> dict[str, str]:
    """The memory file systems that systemd needs, and those that are described."""
    found = {"/run": "mode=755", "/run/lock": ""}
    for mount in mappings(spec.settings.get("mounts")):
        if text(mount, "path") == "/tmp":
            bytes_, inodes = size(mount.get("size", 0)) or 1 << 28, size(mount.get("inodes", 0)) or 1 << 14
            found["/tmp"] = f"mode=1777,exec,size={min(bytes_, 1 << 30)},nr_inodes={inodes}"
    return found
