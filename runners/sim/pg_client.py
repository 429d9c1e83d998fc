"""libpq's side: finding the server by its options, and what it says when it cannot."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.network.connect import TIMEOUT, ConnectFailure, Connection, connect
from runners.sim.processes import Process
from runners.sim.programs.sql import SqlError, SqlRequest, SqlResult
from runners.sim.users import accounts
from runners.text import is_digits

SOCKETS = "/var/run/postgresql"


class Target(NamedTuple):
    """Where to connect and as whom. `host` "" (or a path) means the Unix socket."""

    host: str
    port: int
    user: str
    database: str
    password: str | None

    @property
    def local(self) -> bool:
        return not self.host or self.host.startswith("/")

    @property
    def socket(self) -> str:
        return f"{self.host or SOCKETS}/.s.PGSQL.{self.port}"


class Link(NamedTuple):
    """An open connection: the server's process, and the network connection (None over the socket)."""

    target: Target
    process: Process
    connection: Connection | None
    address: str


def target_of(ctx: Context, host: str | None, port: str | None, user: str | None, database: str | None) -> Target:
    """Options first, then the environment, then libpq's defaults.

    A URI or `key=value` text may stand for the database.
    """
    environment = ctx.environment
    name = accounts(ctx.machine).user_name(ctx.cred.uid)
    password = environment.get("PGPASSWORD")
    if database and database.startswith(("postgresql://", "postgres://")):
        rest = database.split("://", 1)[1]
        credentials, at, place = rest.rpartition("@")
        place, _, path = place.partition("/")
        where, _, number = place.partition(":")
        host, port = host or where, port or number
        if at:
            who, colon, secret = credentials.partition(":")
            user, password = user or who, secret if colon else password
        database = path.split("?", 1)[0]
    elif database and "=" in database:
        parts = dict(word.partition("=")[::2] for word in database.split())
        host, port = parts.get("host", host), parts.get("port", port)
        user, password, database = parts.get("user", user), parts.get("password", password), parts.get("dbname")
    user = user or environment.get("PGUSER") or name
    number = port or environment.get("PGPORT") or ("5432" if host else _cluster_port(ctx))
    if password is None:
        password = _password_file(ctx, host or "localhost", number, database or user, user)
    return Target(
        host if host is not None else environment.get("PGHOST", ""),
        int(number) if is_digits(number) else 5432,
        user,
        database or environment.get("PGDATABASE") or user,
        password,
    )


def _cluster_port(ctx: Context) -> str:
    """The port of the local cluster, which Debian's wrapper of the client tools looks up in its configuration."""
    try:
        text = ctx.machine.view().text("/etc/postgresql/15/main/postgresql.conf")
    except OSError:
        return "5432"
    found = "5432"
    for line in text.splitlines():
        name, equals, value = line.split("#", 1)[0].partition("=")
        if equals and name.strip() == "port" and is_digits(value.strip().strip("'")):
            found = value.strip().strip("'")
    return found


def patience(ctx: Context, database: str | None) -> float:
    """Seconds that a connection may take: connect_timeout (at least 2, as libpq has it), or the kernel's own limit."""
    found = re.search(r"\bconnect_timeout=(\d+)", database or "")
    given = found[1] if found is not None else ctx.environment.get("PGCONNECT_TIMEOUT", "")
    return max(float(given), 2.0) if is_digits(given) and int(given) else TIMEOUT


def _password_file(ctx: Context, host: str, port: str, database: str, user: str) -> str | None:
    """~/.pgpass: the first line that fits. Ignored unless private, as libpq does."""
    path = ctx.environment.get("PGPASSFILE", f"{ctx.environment.get('HOME', '/')}/.pgpass")
    try:
        if ctx.files.stat(path).mode & 0o077:
            return None
        lines = ctx.files.text(path).splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split(":", 4)
        if len(fields) == 5 and all(
            one in ("*", other) for one, other in zip(fields, (host, port, database, user), strict=False)
        ):
            return fields[4]
    return None


def reach(ctx: Context, target: Target, *, timeout: float = TIMEOUT) -> Link | str:
    """Connect; or libpq's complaint (without `psql: error: ` in front). Time passes."""
    if target.local:
        where = f'connection to server on socket "{target.socket}" failed: '
        hint = "\n\tIs the server running locally and accepting connections on that socket?"
        process = _socket_owner(ctx, target.socket)
        if process is None:
            try:
                there = ctx.files.stat(target.socket)
            except OSError as error:
                return f"{where}{error.strerror}{hint}"
            return f"{where}{'Connection refused' if there else 'No such file or directory'}{hint}"
        return Link(target, process, None, "")
    made = connect(ctx.machine, target.host, target.port, cred=ctx.cred, timeout=timeout)
    ctx.sleep(made.seconds)
    if isinstance(made, ConnectFailure):
        if made.kind == "no-such-host":
            return f'could not translate host name "{target.host}" to address: {made.message}'
        place = f'"{target.host}"' if target.host == made.address else f'"{target.host}" ({made.address})'
        if made.kind == "timeout" and timeout < TIMEOUT:
            return f"connection to server at {place}, port {target.port} failed: timeout expired"
        return (
            f"connection to server at {place}, port {target.port} failed: {made.message}\n"
            "\tIs the server running on that host and accepting TCP/IP connections?"
        )
    if made.process is None or made.process.program != "postgres":
        place = f'connection to server at "{target.host}" ({made.address}), port {target.port} failed: '
        if made.remote is not None and made.remote.kind == "postgres":
            return (
                f'{place}FATAL:  no pg_hba.conf entry for host "{made.source}", user "{target.user}", '
                f'database "{target.database}", no encryption'
            )
        return (
            f"{place}server closed the connection unexpectedly\n"
            "\tThis probably means the server terminated abnormally\n\tbefore or while processing the request."
        )
    return Link(target, made.process, made, made.address)


def _socket_owner(ctx: Context, path: str) -> Process | None:
    wanted = path.replace("/var/run/", "/run/")
    for process in ctx.machine.processes:
        if (
            any(socket.path.replace("/var/run/", "/run/") == wanted for socket in process.sockets)
            and process.state != "T"
        ):
            return process
    return None


def ask(ctx: Context, link: Link, query: str, application: str = "psql") -> tuple[SqlResult, ...] | SqlError:
    """Run statements over the connection."""
    program = ctx.machine.programs["postgres"]
    request = SqlRequest(
        link.target.database, link.target.user, query, link.target.password, link.connection is None,
        accounts(ctx.machine).user_name(ctx.cred.uid), application,
    )  # fmt: skip
    process = ctx.machine.processes.get(link.process.pid)
    if process is None:
        return SqlError("FATAL", "terminating connection due to administrator command", code="57P01")
    answer = program.serve(ctx.machine, process, request, link.connection)
    if isinstance(answer, tuple) and not isinstance(answer, SqlError):
        ctx.sleep(sum(result.seconds for result in answer))
        return answer
    if isinstance(answer, SqlError):
        return answer
    return SqlError("FATAL", "the database system is starting up", code="57P03")


def refusal(link: Link, error: SqlError) -> str:
    """What libpq says when the server turned the connection down."""
    target = link.target
    text = f"{error.severity}:  {error.message}"
    if error.code == "28P01" and target.password is None:
        text = "fe_sendauth: no password supplied"
    if target.local:
        return f'connection to server on socket "{target.socket}" failed: {text}'
    place = f'"{target.host}"' if target.host == link.address else f'"{target.host}" ({link.address})'
    return f"connection to server at {place}, port {target.port} failed: {text}"
