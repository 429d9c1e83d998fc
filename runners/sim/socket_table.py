"""Sockets of the machine as ss, netstat and lsof list them."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.machine import Machine
from runners.sim.processes import Process, Socket

SERVICES = {
    20: "ftp-data",
    21: "ftp",
    22: "ssh",
    23: "telnet",
    25: "smtp",
    53: "domain",
    67: "bootps",
    68: "bootpc",
    80: "http",
    110: "pop3",
    111: "sunrpc",
    123: "ntp",
    143: "imap2",
    389: "ldap",
    443: "https",
    514: "syslog",
    587: "submission",
    631: "ipp",
    873: "rsync",
    993: "imaps",
    995: "pop3s",
    2049: "nfs",
    3000: "3000",
    3306: "mysql",
    5432: "postgresql",
    6379: "redis",
    8080: "http-alt",
    9418: "git",
    11211: "11211",
}
_UDP_ONLY = frozenset({67, 68, 123, 514})
_TCP_ONLY = frozenset({20, 21, 22, 23, 25, 80, 110, 143, 443, 587, 873, 993, 995, 3306, 5432, 6379, 8080, 9418})


def service_name(port: int, protocol: str) -> str:
    """The port's name in /etc/services, or its number."""
    if (protocol == "tcp" and port in _UDP_ONLY) or (protocol != "tcp" and port in _TCP_ONLY):
        return str(port)
    return SERVICES.get(port, str(port))


class Row(NamedTuple):
    """One socket with all processes that hold it, and its inode number."""

    socket: Socket
    owners: tuple[tuple[Process, int], ...]
    inode: int


def is_ipv6(address: str) -> bool:
    return ":" in address


def inodes(machine: Machine) -> dict[tuple[int, int], int]:
    """(pid, descriptor) -> the number of the socket's inode."""
    return {(process.pid, fd): row.inode for row in rows(machine) for process, fd in row.owners}


def rows(machine: Machine) -> list[Row]:
    """All sockets. What a master and its workers share is one."""
    shared: dict[tuple[object, ...], list[tuple[Process, int]]] = {}
    first: dict[tuple[object, ...], Socket] = {}
    holders = machine.processes.with_sockets
    for process in [holders[pid] for pid in sorted(holders)]:
        for socket in process.sockets:
            key = (
                socket.protocol,
                socket.address,
                socket.port,
                socket.state,
                socket.peer,
                socket.peer_port,
                socket.path,
            )
            shared.setdefault(key, []).append((process, socket.fd))
            first.setdefault(key, socket)
    return [
        Row(first[key], tuple(owners), 20000 + (owners[0][0].pid * 31 + owners[0][1] * 7) % 80000)
        for key, owners in shared.items()
    ]
