"""The clients of a system, asking from outside for as long as a world is open, and what they got."""

from __future__ import annotations

import http.client
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from runners.hosts.kernel import in_network
from runners.system import SystemSpec, integer, mappings, seconds, text, texts
from scenario_dsl.values import Value

_PATIENCE = 10.0
_KEPT = 2000
_PROTOCOL = 196608
"""Version 3.0 of PostgreSQL's protocol."""


class Sample(NamedTuple):
    """One request: when, by whom, whether it went well, and what came of it."""

    at: float
    client: str
    ok: bool
    detail: str


class Clients:
    """One thread that asks by the clock. `own`: the world's address; `handle`: the namespace they live in."""

    def __init__(self, spec: SystemSpec, own: str, handle: int, seed: int) -> None:
        self._own, self._handle = own, handle
        self._names = {str(name): str(address) for name, address in spec.section("names").items()}
        self._random = random.Random(seed)  # noqa: S311 (whose turn it is, no secret)
        self._clients = tuple(spec.entries("clients"))
        self._samples: deque[Sample] = deque(maxlen=_KEPT)
        self._stop = threading.Event()
        self.requests_failed = 0
        self.transactions_broken = 0
        self._thread = threading.Thread(target=self._serve, daemon=True, name="clients")
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(_PATIENCE + 5)

    def samples(self, name: str | None, within: float | None) -> list[Sample]:
        since = 0.0 if within is None else time.monotonic() - within
        return [one for one in tuple(self._samples) if one.at >= since and name in (None, one.client)]

    def catch_up(self, span: float, machines: int = 1) -> None:
        """Ask now what would have been asked in so many seconds, at most once in each way for each of the machines that
        requests may be shared out among."""
        for client in self._clients:
            for way in (_ways(client) * machines)[: int(span / _every(client))]:
                self._ask(client, way)

    def _serve(self) -> None:
        due = [
            (time.monotonic() + _every(client) * (index + 1) / (len(self._clients) + 1), index)
            for index, client in enumerate(self._clients)
        ]
        while due and not self._stop.is_set():
            due.sort()
            at, index = due.pop(0)
            if self._stop.wait(max(0.0, at - time.monotonic())):
                return
            client = self._clients[index]
            ways = _ways(client)
            self._ask(client, self._random.choices(ways, [integer(one, "weight", 1) for one in ways])[0])
            due.append((time.monotonic() + _every(self._clients[index]) * (0.7 + 0.6 * self._random.random()), index))

    def _ask(self, client: Mapping[str, Value], way: Mapping[str, Value]) -> None:
        kind = text(client, "kind", "http")
        source = self._random.choice(texts(client.get("sources")) or (self._own,))
        try:
            ok, detail = self._http(client, way, source) if kind == "http" else self._connect(client, source, kind)
        except (OSError, http.client.HTTPException) as error:
            ok, detail = False, str(error) or type(error).__name__
        self._samples.append(Sample(time.monotonic(), text(client, "name"), ok, detail))
        if not ok and not self._stop.is_set():
            if kind == "transaction":
                self.transactions_broken += 1
            else:
                self.requests_failed += 1

    def _http(self, client: Mapping[str, Value], way: Mapping[str, Value], source: str) -> tuple[bool, str]:
        parts = urlsplit(text(client, "url").rstrip("/") + text(way, "path"))
        agent = self._random.choice(texts(client.get("agents")) or ("Mozilla/5.0",))
        asked = http.client.HTTPConnection(parts.hostname or self._own, parts.port or 80, timeout=_PATIENCE)
        asked.sock = self._open(parts.hostname or self._own, parts.port or 80, source)
        try:
            asked.request("GET", parts._replace(scheme="", netloc="").geturl() or "/", headers={"User-Agent": agent})
            status = asked.getresponse().status
        finally:
            asked.close()
        return status < 500 and status not in (401, 403), str(status)

    def _connect(self, client: Mapping[str, Value], source: str, kind: str) -> tuple[bool, str]:
        """A database's client goes as far as the server's greeting."""
        host, _, port = text(client, "target").rpartition(":")
        with self._open(host, int(port), source) as link:
            if kind == "tcp":
                return True, "connected"
            who = f"user\0{text(client, 'user')}\0database\0{text(client, 'database')}\0\0".encode()
            link.sendall(struct.pack(">II", 8 + len(who), _PROTOCOL) + who)
            answer = link.recv(1)
        return answer == b"R", "greeted" if answer == b"R" else "refused"

    def _open(self, host: str, port: int, source: str) -> socket.socket:
        with in_network(self._handle):
            link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        link.settimeout(_PATIENCE)
        try:
            link.bind((source, 0))
            link.connect((self._names.get(host, host), port))
        except OSError:
            link.close()
            raise
        return link


def _ways(client: Mapping[str, Value]) -> tuple[Mapping[str, Value], ...]:
    """The paths that a client asks for, with their weights."""
    return tuple(mappings(client.get("paths"))) or ({"path": ""},)


def _every(client: Mapping[str, Value]) -> float:
    return seconds(client.get("every", 10)) or 10.0
