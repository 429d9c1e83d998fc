"""Which way a request took through a world: a mark of ours in it, looked for in what the world says to itself.

Web servers pass the headers of a request on. A server that makes the answer up itself passes on nothing.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from typing import NamedTuple

from runners.hosts.kernel import in_network

HEADER = "X-Request-Id"
_IPV4 = 0x0800
_TCP = 6
_LARGEST = 1 << 16
_BUFFER = 8 << 20


class Segment(NamedTuple):
    """What one packet carried, from one port to another; `number` is its place in the stream."""

    source: int
    target: int
    number: int
    data: bytes


class Trace:
    """Listens to a world's loopback from when it is made until it is closed."""

    def __init__(self, network: int) -> None:
        self.mark = secrets.token_hex(16)
        with in_network(network):
            # Of no protocol until it is bound: being moved from all devices to one takes the kernel 10 ms.
            self._link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._link.bind(("lo", _IPV4))
        self._link.setblocking(False)

    def close(self) -> None:
        """The kernel takes 10 to 20 ms to see that no packet is on its way to it, for which nobody waits."""
        threading.Thread(target=self._link.close, daemon=True, name="trace").start()

    def way(self, body: bytes) -> frozenset[int]:
        """The ports that were asked with our mark and whose answer holds the body that came out in the end."""
        segments = {(each.source, each.target, each.number): each for each in self._segments()}
        marked = {(each.target, each.source) for each in segments.values() if self.mark.encode() in each.data}
        found: set[int] = set()
        for port, asker in marked:
            answer = sorted(each for each in segments.values() if (each.source, each.target) == (port, asker))
            if body in b"".join(each.data for each in answer):
                found.add(port)
        return frozenset(found)

    def _segments(self) -> Iterator[Segment]:
        while True:
            try:
                packet = self._link.recv(_LARGEST)
            except BlockingIOError:
                return
            segment = parse(packet[14:])
            if segment is not None and segment.data:
                yield segment


def parse(packet: bytes) -> Segment | None:
    """An IPv4 packet's TCP segment (RFC 791, RFC 9293), or None."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != _TCP:
        return None
    head = (packet[0] & 15) * 4
    whole = packet[: int.from_bytes(packet[2:4], "big")]
    tcp = whole[head:]
    if len(tcp) < 20:
        return None
    source, target = int.from_bytes(tcp[0:2], "big"), int.from_bytes(tcp[2:4], "big")
    return Segment(source, target, int.from_bytes(tcp[4:8], "big"), tcp[(tcp[12] >> 4) * 4 :])
