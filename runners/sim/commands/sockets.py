"""Connections as descriptors: bash's /dev/tcp and /dev/udp."""

from __future__ import annotations

import errno
import re

from runners.sim.commands.streams import Stream
from runners.sim.commands.waiting import Hub
from runners.sim.files.inode import Cred
from runners.sim.files.tree import fail
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.names import ResolveFailure, resolve_all
from runners.sim.programs.dialogue import Dialogue
from runners.sim.socket_table import SERVICES

_PATH = re.compile(r"/dev/(tcp|udp)/([^/]*)/(.*)", re.DOTALL)
_ERRNO = {"refused": errno.ECONNREFUSED, "timeout": errno.ETIMEDOUT, "unreachable": errno.EHOSTUNREACH}
_NETWORK = "Network is unreachable"


class AddressError(Exception):
    """getaddrinfo(3) does not know the host or the port; the text is its message."""


class SocketStream(Stream):
    """A TCP connection."""

    __slots__ = ("dialogue", "hub")

    def __init__(self, dialogue: Dialogue, hub: Hub) -> None:
        super().__init__("socket")
        self.dialogue = dialogue
        self.hub = hub

    def can_read(self) -> bool:
        return bool(self.dialogue.answer) or self.dialogue.ended

    def read(self, size: int = -1) -> bytes:
        pieces = bytearray()
        while size < 0 or len(pieces) < size:
            pieces += self._some(size - len(pieces) if size > 0 else -1)
            if size > 0 or (self.dialogue.ended and not self.dialogue.answer):
                break
        return bytes(pieces)

    def _some(self, size: int) -> bytes:
        """What is there, once there is something; nothing at the end."""
        dialogue = self.dialogue
        if not self.can_read():
            self.hub.wait(self.can_read)
        if dialogue.seconds:
            seconds, dialogue.seconds = dialogue.seconds, 0.0
            self.hub.sleep(seconds)
        piece = bytes(dialogue.answer if size < 0 else dialogue.answer[:size])
        del dialogue.answer[: len(piece)]
        dialogue.machine.budget.spend(1 + (len(piece) >> 8))
        return piece

    def write(self, data: bytes) -> None:
        self.dialogue.machine.budget.spend(20 + (len(data) >> 8))
        self.dialogue.send(data)


class DatagramStream(Stream):
    """A UDP socket. Nobody answers; where no port is open, whoever sends again is told so."""

    __slots__ = ("hub", "machine", "refused", "sent")

    def __init__(self, machine: Machine, hub: Hub, *, refused: bool) -> None:
        super().__init__("socket")
        self.machine = machine
        self.hub = hub
        self.refused = refused
        self.sent = False

    def read(self, size: int = -1) -> bytes:
        if size and not (self.refused and self.sent):
            self.hub.wait(lambda: False)
        raise fail(errno.ECONNREFUSED)

    def write(self, data: bytes) -> None:
        self.machine.budget.spend(1 + (len(data) >> 8))
        if self.refused and self.sent:
            self.sent = False
            raise fail(errno.ECONNREFUSED)
        self.sent = True


def is_network_path(path: str) -> bool:
    """Does bash itself connect, instead of opening a file?"""
    return path.startswith("/dev/") and _PATH.match(path) is not None


def open_socket(machine: Machine, hub: Hub, cred: Cred, path: str) -> Stream:
    """Connect to what `/dev/tcp/HOST/PORT` names. OSError as connect(2); AddressError where there is no such place."""
    match = _PATH.match(path)
    assert match is not None
    protocol, host, service = match.groups()
    port = _port(service)
    addresses = resolve_all(machine, host)
    if isinstance(addresses, ResolveFailure):
        hub.sleep(addresses.seconds)
        raise AddressError(f"{host}: {addresses.message}")
    if protocol == "udp":
        own = machine.network.interface(addresses[-1]) is not None
        listener = machine.processes.listener("udp", port, addresses[-1])
        return DatagramStream(machine, hub, refused=own and listener is None)
    for address in addresses:
        result = connect(machine, address, port, cred=cred)
        hub.sleep(result.seconds)
        if not isinstance(result, ConnectFailure):
            return SocketStream(Dialogue(machine, result), hub)
    assert isinstance(result, ConnectFailure)
    raise fail(errno.ENETUNREACH if result.message == _NETWORK else _ERRNO[result.kind], path)


def _port(service: str) -> int:
    """A port by its number, of which 16 bits count, or by its name in /etc/services."""
    if re.fullmatch(r"[0-9]{0,18}", service):
        return int(service or "0") & 0xFFFF
    port = next((number for number, name in SERVICES.items() if name == service), None)
    if port is None:
        raise AddressError(f"{service}: Servname not supported for ai_socktype")
    return port
