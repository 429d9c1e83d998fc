"""As much of D-Bus as asking systemd takes: method calls over a unix socket, little endian.

Source: the D-Bus specification, "Message Protocol" and "Authentication Protocol".
"""

from __future__ import annotations

import socket
import struct
from typing import TypeAlias

Decoded: TypeAlias = "bool | int | float | str | list[Decoded] | tuple[Decoded, ...] | dict[str, Decoded]"

_CALL, _RETURN, _ERROR = 1, 2, 3
_FIXED = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I"}
_ALIGN = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "s": 4, "o": 4, "a": 4, "h": 4,
          "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}  # fmt: skip
_ATTEMPTS = 250
_PATIENCE = 0.02
_LONGEST = 16 << 20


class DBusError(Exception):
    """The other end refused, or said something that is no message."""


class Connection:
    """Calls over a connected socket, whose time-out bounds each of them."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._serial = 0
        link.sendall(b"\0AUTH EXTERNAL 30\r\n")
        answer = link.recv(512)
        if not answer.startswith(b"OK"):
            raise DBusError(f"not let in: {answer[:80]!r}")
        link.sendall(b"BEGIN\r\n")
        self._wake()

    def close(self) -> None:
        self._link.close()

    def _wake(self) -> None:
        """systemd forgets a message that came in one piece with BEGIN until another one follows it."""
        patience = self._link.gettimeout()
        self._link.settimeout(_PATIENCE)
        try:
            for _ in range(_ATTEMPTS):
                try:
                    self.call("/", "org.freedesktop.DBus.Peer", "Ping")
                    return
                except TimeoutError:
                    continue
            raise DBusError("no answer")
        finally:
            self._link.settimeout(patience)

    def call(self, path: str, interface: str, member: str, *texts: str) -> tuple[Decoded, ...]:
        """Call a method whose arguments are texts; returns what it returns. Raises DBusError, OSError."""
        self._serial += 1
        body = b""
        for one in texts:
            body += bytes(-len(body) % 4) + _string(one)
        fields = b""
        signature = "s" * len(texts)
        for code, kind, value in (
            (1, "o", path),
            (2, "s", interface),
            (3, "s", member),
            (6, "s", "org.freedesktop.systemd1"),
        ):
            fields += bytes(-len(fields) % 8) + bytes([code, 1]) + kind.encode() + b"\0" + _string(value)
        if signature:
            fields += (
                bytes(-len(fields) % 8) + bytes([8, 1]) + b"g\0" + bytes([len(signature)]) + signature.encode() + b"\0"
            )
        head = struct.pack("<BBBBIII", ord("l"), _CALL, 0, 1, len(body), self._serial, len(fields)) + fields
        self._link.sendall(head + bytes(-len(head) % 8) + body)
        while True:
            answer, serial, values = self._receive()
            if serial == self._serial and answer == _RETURN:
                return values
            if serial == self._serial and answer == _ERROR:
                raise DBusError(str(values[0]) if values else "refused")

    def _receive(self) -> tuple[int, int, tuple[Decoded, ...]]:
        head = self._exactly(16)
        kind = head[1]
        length, _, fields = struct.unpack("<III", head[4:16])
        padded = fields + -fields % 8
        if head[0] != ord("l") or padded + length > _LONGEST:
            raise DBusError("not a message")
        rest = self._exactly(padded + length)
        if kind not in (_RETURN, _ERROR):
            # A machine that boots signals a lot; taking all of that apart would be most of the work.
            return kind, 0, ()
        reader = _Reader(head + rest, 12)
        serial, signature = 0, ""
        for each in reader.array("(yv)"):
            code, value = each if isinstance(each, tuple) else (0, 0)
            if code == 5 and isinstance(value, int):
                serial = value
            elif code == 8:
                signature = str(value)
        reader.at = 16 + padded
        return kind, serial, tuple(reader.value(one) for one in _split(signature))

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._link.recv(size - len(parts))
            if not part:
                raise ConnectionResetError("the connection was closed")
            parts += part
        return bytes(parts)


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at

    def value(self, signature: str) -> Decoded:
        kind = signature[0]
        self.at += -self.at % _ALIGN[kind]
        if kind in _FIXED:
            return self._number(kind)
        if kind in "sog":
            size = self._data[self.at] if kind == "g" else struct.unpack_from("<I", self._data, self.at)[0]
            start = self.at + (1 if kind == "g" else 4)
            self.at = start + size + 1
            return self._data[start : start + size].decode("utf-8", "replace")
        if kind == "v":
            return self.value(str(self.value("g")))
        if kind == "a":
            return self._collection(signature[1:])
        return tuple(self.value(one) for one in _split(signature[1:-1]))

    def array(self, element: str) -> list[Decoded]:
        size = struct.unpack_from("<I", self._data, self.at)[0]
        self.at += 4
        self.at += -self.at % _ALIGN[element[0]]
        end, found = self.at + size, []
        while self.at < end:
            found.append(self.value(element))
        return found

    def _collection(self, element: str) -> Decoded:
        if not element.startswith("{"):
            return self.array(element)
        pairs = self.array("(" + element[1:-1] + ")")
        return {str(pair[0]): pair[1] for pair in pairs if isinstance(pair, tuple)}

    def _number(self, kind: str) -> Decoded:
        form = "<" + _FIXED[kind]
        found = struct.unpack_from(form, self._data, self.at)[0]
        self.at += struct.calcsize(form)
        number: int | float = found
        return bool(number) if kind == "b" else number


def _split(signature: str) -> list[str]:
    """The complete types of a signature."""
    found, at = [], 0
    while at < len(signature):
        end = at
        while signature[end] == "a":
            end += 1
        if signature[end] in "({":
            depth = 0
            while True:
                depth += (signature[end] in "({") - (signature[end] in ")}")
                if not depth:
                    break
                end += 1
        found.append(signature[at : end + 1])
        at = end + 1
    return found


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data + b"\0"
