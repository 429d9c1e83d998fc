"""Everybody else on a world's network, played by one thread: name servers, and machines that listen."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from collections.abc import Mapping

from runners.hosts.kernel import in_network
from runners.system import SystemSpec, integer, mappings, text, texts

_A, _ANY_CLASS = 1, 1
_SECONDS_TO_LIVE = 300
_GREETED = ("ssh", "smtp")


class Neighbours:
    """Serves until it is closed. `handle`: the namespace where they live."""

    def __init__(self, spec: SystemSpec, handle: int) -> None:
        self._names = {name.lower().rstrip("."): str(address) for name, address in spec.section("names").items()}
        self._selector = selectors.DefaultSelector()
        self._stop = socket.socketpair()
        self._banners: dict[socket.socket, bytes] = {}
        with in_network(handle):
            for server in texts(spec.section("network").get("dns")):
                asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                asked.bind((server, 53))
                self._selector.register(asked, selectors.EVENT_READ, self._answer)
            for host in spec.entries("hosts"):
                for port in mappings(host.get("ports")):
                    self._listen(text(host, "address"), port)
        self._selector.register(self._stop[0], selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._serve, daemon=True, name="neighbours")
        self._thread.start()

    def close(self) -> None:
        self._stop[1].send(b"x")
        self._thread.join(5)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()
        self._stop[1].close()

    def _listen(self, address: str, port: Mapping[str, object]) -> None:
        number, kind = integer(port, "port"), text(port, "kind")  # type: ignore[arg-type]
        listener = socket.create_server((address, number), backlog=16)
        banner = text(port, "banner")  # type: ignore[arg-type]
        self._banners[listener] = f"{banner}\r\n".encode() if kind in _GREETED else b""
        self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                try:
                    key.data(key.fileobj)
                except OSError:
                    continue

    def _accept(self, listener: socket.socket) -> None:
        link, _ = listener.accept()
        with link:
            link.settimeout(1)
            link.sendall(self._banners[listener])

    def _answer(self, asked: socket.socket) -> None:
        query, who = asked.recvfrom(1500)
        answer = answer_query(query, self._names)
        if answer:
            asked.sendto(answer, who)


def answer_query(query: bytes, names: Mapping[str, str]) -> bytes:
    """A name server's answer (RFC 1035) to one question: an address, no such address, or no such name."""
    if len(query) < 17:
        return b""
    number, _, questions = struct.unpack(">HHH", query[:6])
    at, labels = 12, []
    while at < len(query) and query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    question = query[12 : at + 5]
    if questions != 1 or len(question) < 5:
        return b""
    kind = int.from_bytes(question[-4:-2], "big")
    address = names.get(".".join(labels).lower())
    found = address is not None and kind == _A
    code = 0 if address is not None else 3
    head = struct.pack(">HHHHHH", number, 0x8580 | code, 1, int(found), 0, 0)
    if not found or address is None:
        return head + question
    record = struct.pack(">HHHIH", 0xC00C, _A, _ANY_CLASS, _SECONDS_TO_LIVE, 4) + socket.inet_aton(address)
    return head + question + record
