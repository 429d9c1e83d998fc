"""What nginx's configuration comes to, as values."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.files.inode import Cred

DEFAULT_PATH = "/etc/nginx/nginx.conf"
COMBINED = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
)


class Listen(NamedTuple):
    address: str
    port: int
    ssl: bool = False
    default: bool = False


class Peer(NamedTuple):
    """One server to pass requests to: as written, and where it is."""

    name: str
    address: str
    port: int
    backup: bool = False
    down: bool = False


LEVELS = ("emerg", "alert", "crit", "error", "warn", "notice", "info", "debug")
"""What lines of an error log can be, the most urgent first."""


class ErrorLog(NamedTuple):
    """Where errors go, and the least urgent of them that do."""

    path: str = "/var/log/nginx/error.log"
    level: str = "error"


class Location(NamedTuple):
    """kind: prefix, `=`, `^~`, `~` or `~*`. Inherited settings are filled in already.

    `proxy`: (upstream's name or "", peers, URI part or None); `returns`: (status, text); `expires`: seconds, -1 for the past; `absolute`: does a redirect name the server.
    """

    kind: str
    pattern: str
    root: str
    alias: str = ""
    indexes: tuple[str, ...] = ("index.html",)
    try_files: tuple[str, ...] = ()
    proxy: tuple[str, tuple[Peer, ...], str | None] | None = None
    connect_timeout: float = 60.0
    read_timeout: float = 60.0
    returns: tuple[int, str] | None = None
    access_log: tuple[str, str] | None = None
    error_log: ErrorLog = ErrorLog()
    autoindex: bool = False
    stub_status: bool = False
    internal: bool = False
    rules: tuple[tuple[str, str], ...] = ()
    auth_file: str = ""
    realm: str = ""
    headers: tuple[tuple[str, str, bool], ...] = ()
    error_pages: tuple[tuple[int, str], ...] = ()
    max_body: int = 1 << 20
    default_type: str = "application/octet-stream"
    proxy_host: str = ""
    tokens: bool = True
    expires: int | None = None
    absolute: bool = True


class Server(NamedTuple):
    listens: tuple[Listen, ...]
    names: tuple[str, ...]
    locations: tuple[Location, ...]
    fallback: Location
    """What holds outside of every location."""
    certificate: str = ""


class NginxConfig(NamedTuple):
    path: str
    user: Cred
    workers: int
    pid_file: str
    error_log: ErrorLog
    servers: tuple[Server, ...]
    types: dict[str, str]
    logs: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def listens(self) -> tuple[Listen, ...]:
        """Every address and port once, in order."""
        found: dict[tuple[str, int], Listen] = {}
        for server in self.servers:
            for listen in server.listens:
                found.setdefault((listen.address, listen.port), listen)
        return tuple(found.values())


def connections(master: int) -> str:
    """The machine's counter of connections that the workers of a master have accepted."""
    return f"nginx {master}:connections"
