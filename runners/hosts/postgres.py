"""As much of a PostgreSQL client as one query takes (protocol 3.0): over a connected socket, no password unless asked.

Sources: PostgreSQL's documentation, "Frontend/Backend Protocol"; RFC 5802 and RFC 7677 (SCRAM-SHA-256).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import struct
from typing import NamedTuple

_PROTOCOL = 196608
_LONGEST = 16 << 20
_OK, _CLEAR, _MD5, _SASL, _SASL_CONTINUE, _SASL_FINAL = 0, 3, 5, 10, 11, 12
_SCRAM = b"SCRAM-SHA-256"


class SqlError(OSError):
    """What the server has against it, in its own words: SEVERITY: message."""


class Answer(NamedTuple):
    """The rows of the last statement that gave any, as text; NULL is None."""

    rows: tuple[tuple[str | None, ...], ...]


def ask(link: socket.socket, *, user: str, database: str, query: str, password: str = "") -> Answer:
    """Log in, ask, and leave. What the query changes is rolled back. Raises SqlError, OSError."""
    speech = _Speech(link)
    speech.log_in(user, database, password)
    rows = speech.query(f"START TRANSACTION READ ONLY; {query}")
    speech.send(b"X", b"")
    return Answer(rows)


class _Speech:
    def __init__(self, link: socket.socket) -> None:
        self._link = link

    def log_in(self, user: str, database: str, password: str) -> None:
        words = b"\0".join(one.encode() for one in ("user", user, "database", database)) + b"\0\0"
        self._link.sendall(struct.pack(">II", 8 + len(words), _PROTOCOL) + words)
        while True:
            kind, body = self._receive()
            if kind == b"R":
                self._prove(struct.unpack(">I", body[:4])[0], body[4:], user, password)
            elif kind == b"Z":
                return

    def query(self, text: str) -> tuple[tuple[str | None, ...], ...]:
        self.send(b"Q", text.encode() + b"\0")
        rows: list[tuple[str | None, ...]] = []
        while True:
            kind, body = self._receive()
            if kind == b"T":
                rows = []
            elif kind == b"D":
                rows.append(tuple(_fields(body)))
            elif kind == b"Z":
                return tuple(rows)

    def send(self, kind: bytes, body: bytes) -> None:
        self._link.sendall(kind + struct.pack(">I", 4 + len(body)) + body)

    def _prove(self, how: int, body: bytes, user: str, password: str) -> None:
        if how == _CLEAR:
            self.send(b"p", password.encode() + b"\0")
        elif how == _MD5:
            inner = hashlib.md5(f"{password}{user}".encode(), usedforsecurity=False).hexdigest().encode()
            outer = hashlib.md5(inner + body[:4], usedforsecurity=False).hexdigest()
            self.send(b"p", f"md5{outer}\0".encode())
        elif how == _SASL and _SCRAM in body.split(b"\0"):
            self._scram(password)
        elif how not in (_OK, _SASL_FINAL):
            raise SqlError(f"it asks for something that is not known here: {how}")

    def _scram(self, password: str) -> None:
        nonce = base64.b64encode(secrets.token_bytes(18))
        first = b"n=,r=" + nonce
        start = b"n,," + first
        self.send(b"p", _SCRAM + b"\0" + struct.pack(">I", len(start)) + start)
        kind, body = self._receive()
        if kind != b"R" or struct.unpack(">I", body[:4])[0] != _SASL_CONTINUE:
            raise SqlError("it does not go on with the proof")
        said = dict(part.split(b"=", 1) for part in body[4:].split(b","))
        if not said[b"r"].startswith(nonce):
            raise SqlError("it answers somebody else")
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(said[b"s"]), int(said[b"i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        last = b"c=biws,r=" + said[b"r"]
        signed = hmac.digest(hashlib.sha256(key).digest(), b",".join((first, body[4:], last)), "sha256")
        proof = bytes(one ^ other for one, other in zip(key, signed, strict=True))
        self.send(b"p", last + b",p=" + base64.b64encode(proof))

    def _receive(self) -> tuple[bytes, bytes]:
        head = self._exactly(5)
        size = int.from_bytes(head[1:], "big") - 4
        if not 0 <= size <= _LONGEST:
            raise SqlError("what answers is no PostgreSQL")
        body = self._exactly(size)
        if head[:1] == b"E":
            fields = {part[:1]: part[1:].decode("utf-8", "replace") for part in body.split(b"\0") if part}
            raise SqlError(f"{fields.get(b'S', 'ERROR')}: {fields.get(b'M', 'refused')}")
        return head[:1], body

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            part = self._link.recv(size - len(found))
            if not part:
                raise SqlError("it hung up")
            found += part
        return bytes(found)


def _fields(body: bytes) -> list[str | None]:
    """The columns of a row."""
    found: list[str | None] = []
    at = 2
    for _ in range(int.from_bytes(body[:2], "big")):
        size = int.from_bytes(body[at : at + 4], "big", signed=True)
        at += 4
        found.append(None if size < 0 else body[at : at + size].decode("utf-8", "replace"))
        at += max(size, 0)
    return found
