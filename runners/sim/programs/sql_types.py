"""The little SQL that clients of these systems speak, over tables kept in the data directory's own files.

A table is a file of rows; `base/<oid>/1259` lists a database's tables, `global/1262` the databases, `global/1260` the
roles. So what the files lose, the database has lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.content import Content

_FIELD, _ROW, _NULL = "\x1f", "\x1e", "\x00"

Row = tuple[str | None, ...]


class SqlRequest(NamedTuple):
    """Statements on one connection. `local`: over the Unix socket (then `cred_name` is the peer's user)."""

    database: str
    user: str
    query: str
    password: str | None = None
    local: bool = False
    cred_name: str = ""
    application: str = "psql"


class SqlResult(NamedTuple):
    """What one statement gave. `tag` is the server's command tag (`SELECT 1`, `INSERT 0 1`, …)."""

    tag: str
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    seconds: float = 0.001


class SqlError(NamedTuple):
    """severity: ERROR, FATAL or PANIC; FATAL ends (or refuses) the connection. `position`: 1-based, 0 for none.

    `before`: what the statements in front of the one that failed gave.
    """

    severity: str
    message: str
    detail: str = ""
    hint: str = ""
    position: int = 0
    code: str = "XX000"
    before: tuple[SqlResult, ...] = ()


class Refused(Exception):  # noqa: N818 (it carries an SqlError, which is the error)
    def __init__(self, error: SqlError) -> None:
        super().__init__(error.message)
        self.error = error


class Table(NamedTuple):
    """A table as the catalogue has it."""

    name: str
    node: int
    columns: tuple[tuple[str, str], ...]
    owner: str


def encode_rows(rows: tuple[Row, ...]) -> bytes:
    text = "".join(_FIELD.join(_NULL if value is None else value for value in row) + _ROW for row in rows)
    return text.encode("utf-8", "surrogateescape")


def decode_rows(content: Content) -> tuple[Row, ...]:
    rows: tuple[Row, ...] = ()
    for piece in content.pieces:
        if isinstance(piece, bytes):
            rows += _decode(piece)
    return rows


def is_table(content: Content, width: int) -> bool:
    """Can these bytes be rows of so many values?"""
    return all(_widths(piece) <= {width} for piece in content.pieces if isinstance(piece, bytes))


@lru_cache(maxsize=4096)
def _widths(piece: bytes) -> frozenset[int]:
    return frozenset(map(len, _decode(piece)))


@lru_cache(maxsize=4096)
def _decode(piece: bytes) -> tuple[Row, ...]:
    text = piece.decode("utf-8", "surrogateescape")
    return tuple(
        tuple(None if value == _NULL else value for value in row.split(_FIELD)) for row in text.split(_ROW) if row
    )


def count_rows(content: Content) -> int:
    return sum(
        piece.count(_ROW.encode("utf-8", "surrogateescape")) for piece in content.pieces if isinstance(piece, bytes)
    )


class Storage(NamedTuple):
    """How the engine reaches a database's tables. `append` raises Refused when there is no room.

    `calls`: functions of one argument that act on the server.
    """

    tables: Mapping[str, Table]
    read: Callable[[Table], Content]
    append: Callable[[Table, bytes], None]
    replace: Callable[[Table, bytes], None]
    virtual: Mapping[str, Callable[[], tuple[tuple[str, ...], tuple[Row, ...]]]]
    functions: Mapping[str, str]
    settings: Mapping[str, str]
    calls: Mapping[str, Callable[[str | None], str | None]]


def syntax(statement: str, near: str) -> SqlError:
    position = statement.find(near) + 1 if near else len(statement) + 1
    where = f'syntax error at or near "{near}"' if near else "syntax error at end of input"
    return SqlError("ERROR", where, position=max(position, 1), code="42601")


def find_table(storage: Storage, name: str, statement: str) -> Table:
    plain = name.removeprefix("public.").strip('"').lower()
    table = storage.tables.get(plain)
    if table is None:
        at = statement.lower().find(name.lower()) + 1
        raise Refused(SqlError("ERROR", f'relation "{name}" does not exist', position=at, code="42P01"))
    return table


def find_column(columns: tuple[str, ...], name: str, statement: str) -> int:
    plain = name.rsplit(".", 1)[-1].strip('"').lower()
    if plain not in columns:
        at = statement.lower().find(name.lower()) + 1
        raise Refused(SqlError("ERROR", f'column "{name}" does not exist', position=at, code="42703"))
    return columns.index(plain)
