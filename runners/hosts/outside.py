"""A running world as it is seen from outside, and what it was like while it was healthy."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from runners.hosts.box import Box, root_id
from runners.hosts.clients import Clients
from runners.hosts.dbus import DBusError
from runners.hosts.files import Files
from runners.hosts.kernel_view import Digests, Process, control_group, processes, program_of
from runners.hosts.manager import Manager
from runners.hosts.sockets import Listener, listeners
from runners.probes.processes import WILD
from runners.system import SystemSpec, mappings, texts

LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The healthy machine. listeners: (protocol, port) -> programs that listen there; outside: ports that others reach;
    mains: unit -> the program of its main process; lines: command lines and their programs; mounts: path -> device;
    init: the program of the first process. Programs are digests of what runs."""

    listeners: Mapping[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    outside: frozenset[int] = frozenset()
    mains: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[tuple[str, str], ...] = ()
    mounts: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    init: str = ""


class Outside:
    """Handles on one boot of a world; made anew when it was started again.

    ways: (method, URL, host) of a request -> the ports inside that it went through while the world was healthy;
    in_trouble: somebody has touched the world since.
    """

    def __init__(self, box: Box, spec: SystemSpec, clients: Clients | None, digests: Digests | None = None) -> None:
        """digests: of programs in worlds of the same images where nobody has been yet."""
        self.box, self.spec, self.clients = box, spec, clients
        self._digests: Digests = {} if digests is None else digests
        self.pid = box.pid
        self.uids = root_id(box.pid)
        self.files = Files(box.pid, self.uids)
        self.manager = Manager(box.pid, self.files)
        self.group = control_group(box.pid)
        self.baseline = Baseline()
        self.ways: dict[tuple[str, str, str], frozenset[int]] = {}
        self.in_trouble = False
        self._moment: tuple[tuple[Process, ...], tuple[Listener, ...]] | None = None

    def close(self) -> None:
        self.manager.close()
        self.files.close()

    def now(self) -> float:
        return time.time()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Whoever looks at processes and listeners meanwhile sees those of one moment, which are then read once."""
        running = self.processes()
        self._moment = running, self.listeners(running)
        try:
            yield
        finally:
            self._moment = None

    def processes(self) -> tuple[Process, ...]:
        """Living ones; a zombie runs no more."""
        if self._moment is not None:
            return self._moment[0]
        return tuple(one for one in processes(self.group, self.uids) if one.state != "Z")

    def program(self, process: Process) -> str:
        return program_of(process, self._open, None if self.in_trouble else self._digests)

    def services(self) -> tuple[tuple[str, int], ...]:
        """(name, main process) of the active services. Where systemd can be asked no more, nothing is known to run."""
        try:
            return tuple(self.manager.services())
        except (DBusError, OSError):
            return ()

    def timers(self) -> tuple[str, ...]:
        """The timers that are waiting; none where systemd can be asked no more."""
        try:
            return tuple(self.manager.timers())
        except (DBusError, OSError):
            return ()

    def going_down(self) -> bool:
        """Is the machine being shut down or restarted?"""
        try:
            return self._is_off() or self.manager.state() == "stopping"
        except (DBusError, OSError):
            # systemd lets go of its bus just before it becomes what ends the machine.
            time.sleep(0.5)
            return self._is_off()

    def _is_off(self) -> bool:
        try:
            return Path(f"/proc/{self.pid}/comm").read_text().startswith("systemd-shutdow")
        except OSError:
            return True

    def listeners(self, running: tuple[Process, ...]) -> tuple[Listener, ...]:
        return tuple(listeners(self.pid, running)) if self._moment is None else self._moment[1]

    def mounts(self) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        """(path, device, kind, options) in the order in which they were mounted."""
        for line in Path(f"/proc/{self.pid}/mountinfo").read_text().splitlines():
            left, _, right = line.partition(" - ")
            fields, kind = left.split(), right.split()[0]
            options = (*fields[5].split(","), *right.split()[2].split(","))
            yield fields[4].replace("\\040", " "), fields[2], kind, options

    def covered(self, path: str) -> str | None:
        """A mount at or above the path that was not there while the world was healthy: it shows another file."""
        for place, device, _, _ in self.mounts():
            inside = place == "/" or path == place or path.startswith(place.rstrip("/") + "/")
            if inside and self.baseline.mounts and self.baseline.mounts.get(place) != device:
                return place
        return None

    def genuine_listener(self, protocol: str, port: int, process: Process) -> bool:
        """Is it what listens there on the healthy machine? A port that nobody had there takes anyone."""
        known = self.baseline.listeners.get((protocol, port))
        return known is None or self.program(process) in known

    def address_of(self, host: str) -> str:
        """Where a client finds a host, by the described names: this machine's own address for any name of its own."""
        own = self.box.plan.own
        if host in (*LOCAL, self.spec.hostname, own):
            return own
        return str(self.spec.section("names").get(host, host))

    def client_source(self) -> str:
        """An address that requests come from: the first outside client's, so that rules about clients apply."""
        for client in mappings(self.spec.settings.get("clients")):
            for source in texts(client.get("sources")):
                if source != self.box.plan.own:
                    return source
        return self.box.plan.gateway

    def remember(self) -> Baseline:
        """What the world is like now, while it is healthy."""
        running = self.processes()
        programs = {one.pid: program_of(one, self._open, self._digests) for one in running}
        by_inner = {one.inner: one for one in running}
        ports: dict[tuple[str, int], set[str]] = {}
        outside: set[int] = set()
        names: dict[str, set[str]] = {}
        for one in running:
            names.setdefault(one.name, set()).add(programs[one.pid])
        for listener in self.listeners(running):
            held = ports.setdefault((listener.protocol, listener.port), set())
            held.update(programs.get(pid, "") for pid in listener.pids)
            if listener.address in WILD or not listener.address.startswith(("127.", "::1")):
                outside.add(listener.port)
        mains = {name: programs[by_inner[main].pid] for name, main in self.manager.services() if main in by_inner}
        self.baseline = Baseline(
            listeners={key: frozenset(value) for key, value in ports.items()},
            outside=frozenset(outside),
            mains=mains,
            lines=tuple((one.line, programs[one.pid]) for one in running),
            mounts={place: device for place, device, _, _ in self.mounts()},
            names={name: frozenset(value) for name, value in names.items()},
            init=programs.get(self.pid, ""),
        )
        return self.baseline

    def inherit(self, earlier: Outside) -> None:
        """Take over what was known before the machine was started again, whose file systems have other numbers now."""
        before = earlier.baseline
        mounts = {place: device for place, device, _, _ in self.mounts() if place in before.mounts}
        self.baseline = replace(before, mounts=mounts)
        self.ways, self.in_trouble = earlier.ways, earlier.in_trouble

    def _open(self, path: str) -> int | None:
        try:
            return self.files.handle(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return None
