"""HTTP requests and answers, and making one from one end to the other."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from runners.sim.files.inode import ROOT, Cred
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, Connection, connect

Headers = tuple[tuple[str, str], ...]

REASONS = {
    200: "OK", 201: "Created", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 413: "Request Entity Too Large",
    412: "Precondition Failed", 416: "Range Not Satisfiable", 501: "Not Implemented",
    429: "Too Many Requests", 499: "Client Closed Request", 500: "Internal Server Error", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout",
}  # fmt: skip


class TlsIdentity(NamedTuple):
    """What a server showed in the handshake: the certificate's PEM text."""

    certificate: str


MOST_HOPS = 24
"""A request that servers hand on to each other in a circle ends after so many. Real ones run out of connections."""


class HttpRequest(NamedTuple):
    """`target`: path and query as sent. `remote`: the peer's address. `scheme`: http or https.

    Without a method it is no request: `target` is the line that was sent for one.
    """

    method: str
    target: str
    host: str
    headers: Headers = ()
    body: bytes = b""
    remote: str = "127.0.0.1"
    scheme: str = "http"

    def header(self, name: str) -> str | None:
        return _find(self.headers, name)

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class HttpResponse(NamedTuple):
    """`seconds`: from the first byte sent to the last received. `via`: the programs it came through, nearest first.

    `phrase`: the server's own words for the status, where they are not the usual ones.
    """

    status: int
    headers: Headers = ()
    body: bytes = b""
    seconds: float = 0.001
    address: str = ""
    port: int = 0
    tls: TlsIdentity | None = None
    via: tuple[str, ...] = ()
    phrase: str = ""

    def header(self, name: str) -> str | None:
        return _find(self.headers, name)

    @property
    def reason(self) -> str:
        return self.phrase or REASONS.get(self.status, "")


class HttpFailure(NamedTuple):
    """kind: refused, timeout, unreachable, no-such-host, empty-reply, not-http, tls, bad-url. message: one line."""

    kind: str
    message: str
    seconds: float = 0.0
    address: str = ""
    port: int = 0


def _find(headers: Headers, name: str) -> str | None:
    lower = name.lower()
    for key, value in headers:
        if key.lower() == lower:
            return value
    return None


def request(
    machine: Machine,
    method: str,
    url: str,
    *,
    headers: Headers = (),
    body: bytes = b"",
    source: str = "127.0.0.1",
    cred: Cred = ROOT,
    timeout: float = 130.0,
    connect_to: str | None = None,
) -> HttpResponse | HttpFailure:
    """One request. `connect_to`: an address to connect to instead of the URL's host (curl --resolve).

    An empty Host header is one that is not sent.

    Spends no virtual time itself: the caller lets `seconds` pass.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return HttpFailure("bad-url", "URL using bad/illegal format or missing URL")
    host = parts.hostname or ""
    if not host or parts.scheme not in ("http", "https"):
        return HttpFailure("bad-url", "URL using bad/illegal format or missing URL")
    connection = connect(machine, connect_to or host, port, source=source, cred=cred, timeout=timeout)
    if isinstance(connection, ConnectFailure):
        return HttpFailure(connection.kind, connection.message, connection.seconds, connection.address, port)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = _find(headers, "Host")
    if named is None:
        named = host if parts.port is None else f"{host}:{parts.port}"
    elif not named:
        headers = tuple(one for one in headers if one[0].lower() != "host")
    sent = HttpRequest(method, target, named, headers, body, connection.source, parts.scheme)
    return exchange(machine, connection, sent)


def exchange(machine: Machine, connection: Connection, sent: HttpRequest) -> HttpResponse | HttpFailure:
    """Send a request over a connection and take the answer."""
    where = (connection.address, connection.port)
    if connection.process is None:
        return _remote(connection, sent)
    program = machine.programs.get(connection.process.program)
    if program is None:
        # A command that listens takes the connection, and says nothing on it.
        return HttpFailure("timeout", "Operation timed out", 3600.0, *where)
    if machine.hops >= MOST_HOPS:
        return HttpFailure("empty-reply", "Empty reply from server", connection.seconds, *where)
    machine.hops += 1
    try:
        answer = program.serve(machine, connection.process, sent, connection)
    finally:
        machine.hops -= 1
    if isinstance(answer, HttpResponse):
        via = (connection.process.program, *answer.via)
        return answer._replace(address=where[0], port=where[1], seconds=answer.seconds + connection.seconds, via=via)
    if isinstance(answer, HttpFailure):
        return answer._replace(address=where[0], port=where[1])
    if sent.scheme == "https":
        return HttpFailure("tls", "wrong version number", connection.seconds, *where)
    if answer is None:
        return HttpFailure("empty-reply", "Empty reply from server", connection.seconds, *where)
    return HttpFailure("not-http", "Received HTTP/0.9 when not allowed", connection.seconds, *where)


def _remote(connection: Connection, sent: HttpRequest) -> HttpResponse | HttpFailure:
    remote = connection.remote
    where = (connection.address, connection.port)
    if remote is None or remote.kind not in ("http", "https"):
        return HttpFailure("empty-reply", "Empty reply from server", connection.seconds, *where)
    if (remote.kind == "https") != (sent.scheme == "https"):
        if sent.scheme == "https":
            return HttpFailure("tls", "wrong version number", connection.seconds, *where)
        return HttpResponse(400, (("Content-Type", "text/html"),), b"", connection.seconds, *where)
    body = (remote.banner or '{"status":"ok"}').encode("utf-8", "surrogateescape")
    kind = "application/json" if body[:1] in (b"{", b"[") else "text/html"
    return HttpResponse(
        200, (("Content-Type", kind), ("Content-Length", str(len(body)))), body, connection.seconds + 0.021, *where
    )
