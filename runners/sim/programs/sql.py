"""Statements: split, told apart, and those that change something."""

from __future__ import annotations

import re
from functools import lru_cache

from runners.sim.programs.sql_select import constant, explain, holds, select, split_list
from runners.sim.programs.sql_types import (
    Refused,
    Row,
    SqlError,
    SqlRequest,
    SqlResult,
    Storage,
    Table,
    count_rows,
    decode_rows,
    encode_rows,
    find_column,
    find_table,
    syntax,
)

__all__ = [
    "Refused",
    "Row",
    "SqlError",
    "SqlRequest",
    "SqlResult",
    "Storage",
    "Table",
    "encode_rows",
    "execute",
    "statements",
]

WORD = r'"?([A-Za-z_][\w.]*)"?'


@lru_cache(maxsize=256)
def statements(text: str) -> tuple[str, ...]:
    """Split at semicolons outside of quotes; comments go."""
    text = re.sub(r"--[^\n]*", "", text)
    parts = re.findall(r"(?:'(?:[^']|'')*'|\"[^\"]*\"|[^;'\"])+", text)
    return tuple(part.strip() for part in parts if part.strip())


def execute(storage: Storage, statement: str) -> SqlResult:
    """Run one statement; raises Refused with the server's error."""
    words = statement.split(None, 1)
    verb = words[0].upper()
    if verb in ("BEGIN", "COMMIT", "ROLLBACK", "START", "END", "ABORT"):
        return SqlResult({"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(verb, verb))
    run = {
        "SELECT": select,
        "INSERT": _insert,
        "UPDATE": _update,
        "DELETE": _delete,
        "SHOW": _show,
        "EXPLAIN": explain,
    }.get(verb)
    if run is not None:
        return run(storage, statement)
    if verb in ("SET", "VACUUM", "ANALYZE", "CHECKPOINT", "REINDEX", "RESET", "DISCARD"):
        return SqlResult(verb)
    if verb in ("COPY", "WITH", "LOCK", "COMMENT", "DO", "DECLARE", "FETCH", "LISTEN", "NOTIFY", "PREPARE"):
        raise Refused(SqlError("ERROR", f"{verb} is not supported", code="0A000"))
    raise Refused(syntax(statement, words[0]))


def _insert(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(
        rf"(?is)insert\s+into\s+{WORD}\s*(?:\((.*?)\))?\s*values\s*(.*?)(?:\s+returning\s+.*)?", statement
    )
    if match is None:
        raise Refused(syntax(statement, statement.split()[-1]))
    table = find_table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    names = tuple(part.strip().strip('"').lower() for part in match[2].split(",")) if match[2] else columns
    indexes = [find_column(columns, name, statement) for name in names]
    rows: list[Row] = []
    following = count_rows(storage.read(table)) + 1
    for group in split_list(match[3]):
        if not (group.startswith("(") and group.endswith(")")):
            raise Refused(syntax(statement, group.split()[0] if group else ""))
        values = split_list(group[1:-1])
        if len(values) != len(indexes):
            what = (
                "more target columns than expressions"
                if len(values) < len(indexes)
                else "more expressions than target columns"
            )
            raise Refused(SqlError("ERROR", f"INSERT has {what}", code="42601"))
        row: list[str | None] = [None] * len(columns)
        for index, value in zip(indexes, values, strict=True):
            row[index] = (
                storage.functions.get("now")
                if value.lower() in ("now()", "current_timestamp")
                else constant(value, statement)
            )
        if columns[0] == "id" and row[0] is None:
            row[0] = str(following + len(rows))
        rows.append(tuple(row))
    storage.append(table, encode_rows(tuple(rows)))
    return SqlResult(f"INSERT 0 {len(rows)}")


def _update(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(rf"(?is)update\s+{WORD}\s+set\s+(.*?)(?:\s+where\s+(.*))?", statement)
    if match is None:
        raise Refused(syntax(statement, statement.split()[-1]))
    table = find_table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    changes = {}
    for part in split_list(match[2]):
        name, _, value = part.partition("=")
        changes[find_column(columns, name.strip(), statement)] = constant(value.strip(), statement)
    rows, count = [], 0
    for row in decode_rows(storage.read(table)):
        if holds(columns, row, match[3], statement):
            count += 1
            row = tuple(changes.get(index, value) for index, value in enumerate(row))
        rows.append(row)
    if count:
        storage.replace(table, encode_rows(tuple(rows)))
    return SqlResult(f"UPDATE {count}")


def _delete(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(rf"(?is)delete\s+from\s+{WORD}(?:\s+where\s+(.*))?", statement)
    if match is None:
        raise Refused(syntax(statement, statement.split()[-1]))
    table = find_table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    rows = decode_rows(storage.read(table))
    kept = tuple(row for row in rows if not holds(columns, row, match[2], statement))
    if len(kept) != len(rows):
        storage.replace(table, encode_rows(kept))
    return SqlResult(f"DELETE {len(rows) - len(kept)}")


def _show(storage: Storage, statement: str) -> SqlResult:
    name = (statement.split(None, 1)[1:] or [""])[0].strip().lower()
    if name == "all":
        rows = tuple((key, setting, "") for key, setting in sorted(storage.settings.items()))
        return SqlResult("SHOW", ("name", "setting", "description"), rows)
    value = storage.settings.get(name)
    if value is None:
        raise Refused(SqlError("ERROR", f'unrecognized configuration parameter "{name}"', code="42704"))
    return SqlResult("SHOW", (name,), ((value,),))
