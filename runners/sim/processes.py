"""Processes: immutable records in a table that numbers them as the kernel does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from immutables import Map

from runners.sim.files.inode import Cred


class Socket(NamedTuple):
    """One socket of a process. `state`: LISTEN or ESTABLISHED (tcp), "" (udp). Unix sockets have a `path`."""

    protocol: str
    address: str = ""
    port: int = 0
    state: str = "LISTEN"
    peer: str = ""
    peer_port: int = 0
    path: str = ""
    fd: int = 3


class OpenFile(NamedTuple):
    """A descriptor on a file. `path` is the name it was opened by; the inode lives on when that is deleted."""

    fd: int
    inode: int
    path: str
    mode: str = "r"


class Process(NamedTuple):
    """One process. `argv` is what ps shows; `exe` the real path of its program, `program` the implementation's name.

    cpu: seconds used at its start; cpu_share: of one core, ever since (0..n), see `cpu_used`; rss, vsz: bytes;
    `unit`: the systemd unit whose cgroup it is in; `state`: R, S, D, T or Z. `held` is what a daemon keeps
    in memory (its parsed configuration), an immutable value that only its program reads.
    `comm`: the script that it runs, where it was executed as one. A dead process is not in the table.
    """

    pid: int
    ppid: int
    cred: Cred
    argv: tuple[str, ...]
    exe: str
    program: str
    cwd: str
    started: float
    state: str = "S"
    cpu: float = 0.0
    cpu_share: float = 0.0
    rss: int = 4 << 20
    vsz: int = 16 << 20
    nice: int = 0
    threads: int = 1
    tty: str = "?"
    unit: str | None = None
    files: tuple[OpenFile, ...] = ()
    sockets: tuple[Socket, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    held: object = None
    comm: str = ""

    @property
    def name(self) -> str:
        """The kernel's name (comm): at most 15 bytes of what was executed, a script or the program itself."""
        if self.comm:
            return self.comm
        return self.exe.rsplit("/", 1)[-1][:15] if self.exe else self.argv[0].strip("[]")[:15]

    def cpu_used(self, now: float) -> float:
        """Seconds of processor time up to `now`."""
        return self.cpu + self.cpu_share * max(now - self.started, 0.0)


class ProcessTable:
    """All living processes by pid; `with_sockets`: those of them that hold any, the same map as long as these are."""

    __slots__ = ("by_pid", "next_pid", "with_sockets")

    def __init__(self) -> None:
        self.by_pid: Map[int, Process] = Map()
        self.with_sockets: Map[int, Process] = Map()
        self.next_pid = 1

    def fork(self) -> ProcessTable:
        other = ProcessTable.__new__(ProcessTable)
        other.by_pid = self.by_pid
        other.with_sockets = self.with_sockets
        other.next_pid = self.next_pid
        return other

    def __iter__(self) -> Iterator[Process]:
        """In order of pid."""
        by_pid = self.by_pid
        return iter([by_pid[pid] for pid in sorted(by_pid)])

    def get(self, pid: int) -> Process | None:
        return self.by_pid.get(pid)

    def allocate(self) -> int:
        """The next free pid; numbers wrap at 4194304, as pid_max says."""
        pid = self.next_pid
        while pid in self.by_pid:
            pid += 1
        self.next_pid = pid + 1 if pid < 4194303 else 300
        return pid

    def put(self, process: Process) -> Process:
        self.by_pid = self.by_pid.set(process.pid, process)
        if process.sockets:
            self.with_sockets = self.with_sockets.set(process.pid, process)
        elif process.pid in self.with_sockets:
            self.with_sockets = self.with_sockets.delete(process.pid)
        return process

    def remove(self, pid: int) -> Process | None:
        process = self.by_pid.get(pid)
        if process is not None:
            self.by_pid = self.by_pid.delete(pid)
            if process.sockets:
                self.with_sockets = self.with_sockets.delete(pid)
        return process

    def children(self, pid: int) -> list[Process]:
        found = [process for process in self.by_pid.values() if process.ppid == pid]
        return sorted(found, key=lambda process: process.pid) if len(found) > 1 else found

    def listener(self, protocol: str, port: int, address: str = "*") -> Process | None:
        """Who holds the port, so that a bind to (address, port) would fail or a client would reach it."""
        wild = ("0.0.0.0", "::", "*")  # noqa: S104 (names of addresses, nothing is bound)
        # One IPv6 address is not served by what listens for IPv4.
        open_to = ("::", "*") if ":" in address and address != "::" else wild
        found: Process | None = None
        for process in self.with_sockets.values():
            for socket in process.sockets:
                if (
                    socket.port == port
                    and socket.protocol == protocol
                    and socket.state in ("LISTEN", "")
                    and (socket.address in open_to or address in wild or socket.address == address)
                    and (found is None or process.pid < found.pid)
                ):
                    found = process
        return found
