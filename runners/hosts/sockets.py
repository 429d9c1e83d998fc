"""A world's sockets as this host's kernel knows them: nothing in the world can lie about them."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from runners.hosts.kernel import in_network
from runners.hosts.kernel_view import Process

ESTABLISHED, UNCONNECTED, LISTENS = 1, 7, 10
"""States (include/net/tcp_states.h). Of udp, what waits for datagrams is not connected."""
_PROTOCOLS = {"tcp": socket.IPPROTO_TCP, "udp": socket.IPPROTO_UDP}
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_NETLINK_SOCK_DIAG, _BY_FAMILY, _DUMP = 4, 20, 0x301
_ERROR, _DONE = 2, 3
_HEADER, _QUESTION, _ANSWER = struct.Struct("=IHHII"), struct.Struct("=BBBxI48x"), struct.Struct(">xB2xHH16s16s28x4s")
"""nlmsghdr; inet_diag_req_v2; inet_diag_msg, whose ports and addresses are as on the wire (sock_diag(7))."""
_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A socket that waits for others, or one end of a connection. pids: who holds it, on this host."""

    protocol: str
    address: str
    port: int
    pids: tuple[int, ...]


class Socket(NamedTuple):
    """One of the kernel's. other: address and port of the other end."""

    protocol: str
    state: int
    address: str
    port: int
    other: tuple[str, int]
    inode: int


def listeners(pid: int, running: tuple[Process, ...]) -> Iterator[Listener]:
    """Who waits for connections (tcp) or datagrams (udp) in a process's network."""
    return _held(_waiting(pid), running)


def listening(pid: int) -> frozenset[tuple[str, int]]:
    """(protocol, port) of all that wait in a process's network, whoever holds them."""
    return frozenset((one.protocol, one.port) for one in _waiting(pid))


def connected_to(pid: int, running: tuple[Process, ...], other: tuple[str, int]) -> Iterator[Listener]:
    """The ends, in a process's network, of TCP connections whose other end is at (address, port)."""
    return _held([one for one in sockets(pid, "tcp", ESTABLISHED) if one.other == other], running)


def _waiting(pid: int) -> list[Socket]:
    return [*sockets(pid, "tcp", LISTENS), *sockets(pid, "udp", UNCONNECTED)]


def sockets(pid: int, protocol: str, state: int) -> list[Socket]:
    """Those of a process's network that are in a state; none where the process is gone.

    To be asked for those that listen, the kernel looks at these alone. To print them it walks through a table of all
    that are connected on this host, which takes milliseconds; so that is for kernels that have no answer.
    """
    try:
        return list(asked(pid, protocol, state))
    except OSError:
        return [one for one in printed(pid, protocol) if one.state == state]


def asked(pid: int, protocol: str, state: int) -> Iterator[Socket]:
    """By sock_diag(7). Raises OSError where the kernel was built without it, or this process may not enter there."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with in_network(network):
            link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
    finally:
        os.close(network)
    with link:
        link.settimeout(_SECONDS)
        for family in _FAMILIES:
            question = _QUESTION.pack(family, _PROTOCOLS[protocol], 0, 1 << state)
            link.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _DUMP, 0, 0) + question)
            for answer in _answers(link):
                found, port, other_port, address, other, inode = _ANSWER.unpack_from(answer)
                length = 4 if family == socket.AF_INET else 16
                yield Socket(
                    protocol,
                    found,
                    _spelled(address[:length]),
                    port,
                    (_spelled(other[:length]), other_port),
                    int.from_bytes(inode, sys.byteorder),
                )


def _answers(link: socket.socket) -> Iterator[bytes]:
    """What the kernel says to one question, message by message. Raises OSError where it says no."""
    while True:
        said = link.recv(1 << 16)
        at = 0
        while at < len(said):
            length, kind, _, _, _ = _HEADER.unpack_from(said, at)
            body = said[at + _HEADER.size : at + length]
            if kind == _DONE:
                return
            if kind == _ERROR:
                code = -int.from_bytes(body[:4], sys.byteorder, signed=True)
                raise OSError(code, os.strerror(code))
            yield body
            at += (length + 3) & ~3


def printed(pid: int, protocol: str) -> Iterator[Socket]:
    """By /proc/PID/net (proc(5)), whatever their state."""
    for suffix in ("", "6"):
        try:
            lines = Path(f"/proc/{pid}/net/{protocol}{suffix}").read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            (address, port), (other, other_port) = (_words(end) for end in fields[1:3])
            yield Socket(protocol, int(fields[3], 16), address, port, (other, other_port), int(fields[9]))


def _words(end: str) -> tuple[str, int]:
    """An address of little-endian words and a port, in hexadecimal."""
    address, port = end.split(":")
    words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
    return _spelled(b"".join(words)), int(port, 16)


def _spelled(address: bytes) -> str:
    """As people write it; one of IPv4 that stands in one of IPv6 as the former."""
    if address[:12] == bytes(10) + b"\xff\xff":
        address = address[12:]
    return socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)


def _held(found: Sequence[Socket], running: tuple[Process, ...]) -> Iterator[Listener]:
    holders = _holders(running) if found else {}
    for one in found:
        pids = tuple(holders.get(one.inode, ()))
        yield Listener(protocol=one.protocol, address=one.address, port=one.port, pids=pids)


def _holders(running: tuple[Process, ...]) -> dict[int, list[int]]:
    """inode of a socket -> the processes that have it open."""
    found: dict[int, list[int]] = {}
    for process in running:
        try:
            handles = os.listdir(f"/proc/{process.pid}/fd")
        except OSError:
            continue
        for handle in handles:
            try:
                target = os.readlink(f"/proc/{process.pid}/fd/{handle}")
            except OSError:
                continue
            if target.startswith("socket:["):
                held = found.setdefault(int(target[8:-1]), [])
                if process.pid not in held:
                    held.append(process.pid)
    return found
