"""sql: asked of the server process itself, by a client of our own, not through ports, passwords or access rules."""

from __future__ import annotations

import os
import socket
import struct

from runners.hosts.kernel import as_user
from runners.hosts.outside import Outside
from runners.hosts.postgres import SqlError, ask
from runners.probes.arguments import Arguments
from runners.probes.databases import judge
from runners.probes.seen import nothing_held
from runners.worlds import Observation

_PATIENCE = 20.0
_FOLDER, _SOCKET = "/run/postgresql", ".s.PGSQL.5432"
_SUPERUSER = "postgres"


def sql(outside: Outside, arguments: Arguments) -> Observation:
    """The first column of the last statement's first row; a row that is not there is no value.

    Asked on its local socket, as the account of the database's owner, which then takes the role that is to ask. The
    kernel says who listens on that socket: it has to be the program that was the machine's server while it was healthy.
    """
    role, query = arguments.text("user") or _SUPERUSER, arguments.require("query")
    try:
        with _connected(outside) as link:
            if not _is_genuine(outside, link):
                return nothing_held("what answers is not PostgreSQL")
            taking = "" if role == _SUPERUSER else f"SET LOCAL ROLE {_quoted(role)}; "
            rows = ask(link, user=_SUPERUSER, database=arguments.require("database"), query=taking + query).rows
    except SqlError as error:
        return nothing_held(str(error))
    except OSError as error:
        return nothing_held(f"PostgreSQL does not answer: {error.strerror or error}")
    return judge(rows[0][0] if rows and rows[0] else None, arguments)


def _connected(outside: Outside) -> socket.socket:
    account = outside.files.account(_SUPERUSER)
    if account is None:
        raise SqlError(f"there is no account {_SUPERUSER}")
    folder = outside.files.handle(_FOLDER, os.O_PATH | os.O_DIRECTORY)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(_PATIENCE)
        with as_user(account.uid + outside.uids):
            link.connect(f"/proc/self/fd/{folder}/{_SOCKET}")
    except OSError:
        link.close()
        raise
    finally:
        os.close(folder)
    return link


def _is_genuine(outside: Outside, link: socket.socket) -> bool:
    pid = struct.unpack("iII", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    known = outside.baseline.names.get(_SUPERUSER, frozenset())
    return any(one.pid == pid and outside.program(one) in known for one in outside.processes())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
