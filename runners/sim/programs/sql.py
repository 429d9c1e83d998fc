"""The little SQL that clients of these systems speak, over tables kept in the data directory's own files.

A table is a file of rows; `base/<oid>/1259` lists a database's tables, `global/1262` the databases, `global/1260` the
roles. So what the files lose, the database has lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.files.content import Content

_FIELD, _ROW, _NULL = "\x1f", "\x1e", "\x00"
_WORD = r'"?([A-Za-z_][\w.]*)"?'

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
    """severity: ERROR, FATAL or PANIC; FATAL ends (or refuses) the connection. `position`: 1-based, 0 for none."""

    severity: str
    message: str
    detail: str = ""
    hint: str = ""
    position: int = 0
    code: str = "XX000"


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


@lru_cache(maxsize=4096)
def _decode(piece: bytes) -> tuple[Row, ...]:
    text = piece.decode("utf-8", "surrogateescape")
    return tuple(
        tuple(None if value == _NULL else value for value in row.split(_FIELD)) for row in text.split(_ROW) if row
    )


def count_rows(content: Content) -> int:
    return sum(piece.count(_ROW.encode()) for piece in content.pieces if isinstance(piece, bytes))


class Storage(NamedTuple):
    """How the engine reaches a database's tables. `append` raises Refused when there is no room."""

    tables: Mapping[str, Table]
    read: Callable[[Table], Content]
    append: Callable[[Table, bytes], None]
    replace: Callable[[Table, bytes], None]
    virtual: Mapping[str, Callable[[], tuple[tuple[str, ...], tuple[Row, ...]]]]
    functions: Mapping[str, str]
    settings: Mapping[str, str]


def statements(text: str) -> list[str]:
    """Split at semicolons outside of quotes; comments go."""
    text = re.sub(r"--[^\n]*", "", text)
    parts = re.findall(r"(?:'(?:[^']|'')*'|\"[^\"]*\"|[^;'\"])+", text)
    return [part.strip() for part in parts if part.strip()]


def execute(storage: Storage, statement: str) -> SqlResult:
    """Run one statement; raises Refused with the server's error."""
    words = statement.split(None, 1)
    verb = words[0].upper()
    if verb in ("BEGIN", "COMMIT", "ROLLBACK", "START", "END", "ABORT"):
        return SqlResult({"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(verb, verb))
    run = {"SELECT": _select, "INSERT": _insert, "UPDATE": _update, "DELETE": _delete, "SHOW": _show}.get(verb)
    if run is not None:
        return run(storage, statement)
    if verb in ("SET", "VACUUM", "ANALYZE", "CHECKPOINT", "REINDEX", "RESET", "DISCARD"):
        return SqlResult(verb)
    if verb in ("CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "TRUNCATE", "COPY", "EXPLAIN", "WITH", "LOCK"):
        raise Refused(SqlError("ERROR", "permission denied for schema public", code="42501"))
    raise Refused(_syntax(statement, words[0]))


def _syntax(statement: str, near: str) -> SqlError:
    position = statement.find(near) + 1 if near else len(statement) + 1
    where = f'syntax error at or near "{near}"' if near else "syntax error at end of input"
    return SqlError("ERROR", where, position=max(position, 1), code="42601")


def _table(storage: Storage, name: str, statement: str) -> Table:
    plain = name.removeprefix("public.").strip('"').lower()
    table = storage.tables.get(plain)
    if table is None:
        at = statement.lower().find(name.lower()) + 1
        raise Refused(SqlError("ERROR", f'relation "{name}" does not exist', position=at, code="42P01"))
    return table


def _column(columns: tuple[str, ...], name: str, statement: str) -> int:
    plain = name.rsplit(".", 1)[-1].strip('"').lower()
    if plain not in columns:
        at = statement.lower().find(name.lower()) + 1
        raise Refused(SqlError("ERROR", f'column "{name}" does not exist', position=at, code="42703"))
    return columns.index(plain)


# -- select


def _select(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(
        r"(?is)select\s+(?P<items>.*?)(?:\s+from\s+(?P<table>[\w.\"]+)(?:\s+(?:as\s+)?(?!where|group|order|limit)\w+)?"
        r"(?:\s+where\s+(?P<where>.*?))?(?:\s+group\s+by\s+(?P<group>.*?))?(?:\s+order\s+by\s+(?P<order>.*?))?"
        r"(?:\s+limit\s+(?P<limit>\d+))?(?:\s+offset\s+(?P<offset>\d+))?)?\s*",
        statement,
    )
    if match is None or not match["items"].strip():
        raise Refused(_syntax(statement, ""))
    items = _split_list(match["items"])
    if match["table"] is None:
        return _constants(storage, items, statement)
    columns, rows = _source(storage, match["table"], statement, items, match["where"])
    if (
        len(items) == 1
        and re.fullmatch(r"(?i)count\s*\(\s*\*\s*\)(\s+as\s+\w+)?", items[0])
        and not match["where"]
        and not rows
    ):
        total = _count_only(storage, match["table"])
        if total is not None:
            return SqlResult("SELECT 1", (_label(items[0]),), ((str(total),),))
    rows = tuple(row for row in rows if _where(columns, row, match["where"], statement))
    if match["group"]:
        return _grouped(columns, rows, items, match["group"], statement)
    if any(re.match(r"(?i)(count|sum|min|max|avg)\s*\(", item) for item in items):
        return SqlResult(
            "SELECT 1",
            tuple(_label(item) for item in items),
            (tuple(_aggregate(columns, rows, item, statement) for item in items),),
        )
    rows = _ordered(columns, rows, match["order"], statement)
    start = int(match["offset"] or 0)
    rows = rows[start : start + int(match["limit"])] if match["limit"] else rows[start:]
    if items == ["*"]:
        return SqlResult(f"SELECT {len(rows)}", columns, rows)
    picks = [_pick(columns, item, statement) for item in items]
    names = tuple(_label(item) for item in items)
    return SqlResult(f"SELECT {len(rows)}", names, tuple(tuple(pick(row) for pick in picks) for row in rows))


def _source(
    storage: Storage, name: str, statement: str, items: list[str], where: str | None
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    plain = name.removeprefix("pg_catalog.").lower()
    make = storage.virtual.get(plain)
    if make is not None:
        return make()
    table = _table(storage, name, statement)
    columns = tuple(column for column, _ in table.columns)
    if where is None and len(items) == 1 and items[0].lower().replace(" ", "").startswith("count(*)"):
        return columns, ()
    return columns, decode_rows(storage.read(table))


def _count_only(storage: Storage, name: str) -> int | None:
    table = storage.tables.get(name.removeprefix("public.").strip('"').lower())
    return count_rows(storage.read(table)) if table is not None else None


def _constants(storage: Storage, items: list[str], statement: str) -> SqlResult:
    names, values = [], []
    for item in items:
        text = re.sub(r"(?i)\s+as\s+\w+$", "", item).strip()
        call = re.fullmatch(r"(?is)(\w+)\s*\((.*)\)|(current_\w+|session_user|user)", text)
        if call is not None:
            name = (call[1] or call[3]).lower()
            if name == "current_setting":
                names.append(_label(item))
                values.append(storage.settings.get(call[2].strip(" '\"")))
                continue
            if name not in storage.functions:
                raise Refused(
                    SqlError(
                        "ERROR",
                        f"function {name}() does not exist",
                        hint="No function matches the given name and argument types. You might need to add explicit type casts.",
                        position=statement.find(text) + 1,
                        code="42883",
                    )
                )
            names.append(_label(item, name))
            values.append(storage.functions[name])
            continue
        names.append(_label(item, "?column?"))
        values.append(_constant(text, statement))
    return SqlResult("SELECT 1", tuple(names), (tuple(values),))


def _constant(text: str, statement: str) -> str | None:
    text = re.sub(r"::\w+$", "", text)
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return text
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    if text.lower() == "null":
        return None
    if text.lower() in ("true", "false"):
        return text.lower()[0]
    match = re.fullmatch(r"(\d+)\s*([-+*/%])\s*(\d+)", text)
    if match is not None:
        left, right = int(match[1]), int(match[3])
        if match[2] in "/%" and right == 0:
            raise Refused(SqlError("ERROR", "division by zero", code="22012"))
        results = {"+": left + right, "-": left - right, "*": left * right}
        return str(results[match[2]] if match[2] in results else left // right if match[2] == "/" else left % right)
    name = text.split()[0]
    raise Refused(SqlError("ERROR", f'column "{name}" does not exist', position=statement.find(name) + 1, code="42703"))


def _label(item: str, default: str | None = None) -> str:
    alias = re.search(r"(?i)\s+as\s+\"?(\w+)\"?$", item)
    if alias is not None:
        return alias[1]
    call = re.match(r"(\w+)\s*\(", item)
    if call is not None:
        return call[1].lower()
    return default or item.rsplit(".", 1)[-1].strip('"').lower()


def _pick(columns: tuple[str, ...], item: str, statement: str) -> Callable[[Row], str | None]:
    text = re.sub(r"(?i)\s+as\s+\"?\w+\"?$", "", item).strip()
    call = re.fullmatch(
        r"(?i)pg_size_pretty\s*\(\s*pg_database_size\s*\(\s*\w+\s*\)\s*\)|left\s*\(\s*(\w+)\s*,\s*(\d+)\s*\)", text
    )
    if call is not None and call[1]:
        index, length = _column(columns, call[1], statement), int(call[2])
        return lambda row: row[index][:length] if row[index] is not None else None  # type: ignore[index]
    if call is not None:
        return lambda _row: "7453 kB"
    if re.fullmatch(r"'.*'|-?\d+(\.\d+)?", text):
        value = _constant(text, statement)
        return lambda _row: value
    index = _column(columns, text, statement)
    return lambda row: row[index]


def _aggregate(columns: tuple[str, ...], rows: tuple[Row, ...], item: str, statement: str) -> str | None:
    match = re.match(r"(?i)(count|sum|min|max|avg)\s*\(\s*(?:distinct\s+)?(.*?)\s*\)", item)
    if match is None:
        name = item.split()[0]
        text = f'column "{name}" must appear in the GROUP BY clause or be used in an aggregate function'
        raise Refused(SqlError("ERROR", text, position=statement.find(name) + 1, code="42803"))
    how, what = match[1].lower(), match[2]
    if how == "count" and what == "*":
        return str(len(rows))
    index = _column(columns, what, statement)
    values = [value for row in rows if (value := row[index]) is not None]
    if "distinct" in item.lower():
        values = list(dict.fromkeys(values))
    if how == "count":
        return str(len(values))
    if not values:
        return None
    if how in ("min", "max"):
        return (min if how == "min" else max)(values, key=_sort_key)
    total = sum(float(value) for value in values)
    result = total if how == "sum" else total / len(values)
    return f"{result:.2f}".rstrip("0").rstrip(".") if how == "sum" else f"{result:.16f}"


def _grouped(
    columns: tuple[str, ...], rows: tuple[Row, ...], items: list[str], group: str, statement: str
) -> SqlResult:
    keys = [int(part) - 1 if part.isdigit() else -1 for part in (text.strip() for text in group.split(","))]
    names = [items[key] if key >= 0 else text.strip() for key, text in zip(keys, group.split(","), strict=True)]
    indexes = [_column(columns, name, statement) for name in names]
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[index] for index in indexes), []).append(row)
    found = []
    for key, members in groups.items():
        found.append(
            tuple(
                key[names.index(item)] if item in names else _aggregate(columns, tuple(members), item, statement)
                for item in items
            )
        )
    return SqlResult(f"SELECT {len(found)}", tuple(_label(item) for item in items), tuple(found))


def _ordered(columns: tuple[str, ...], rows: tuple[Row, ...], order: str | None, statement: str) -> tuple[Row, ...]:
    for part in reversed(_split_list(order) if order else []):
        words = part.split()
        index = int(words[0]) - 1 if words[0].isdigit() else _column(columns, words[0], statement)
        rows = tuple(
            sorted(
                rows, key=lambda row: _sort_key(row[index] or ""), reverse=len(words) > 1 and words[1].lower() == "desc"
            )
        )
    return rows


def _sort_key(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, value


_COMPARISON = re.compile(
    r"(?is)([\w.\"]+)\s*(=|<>|!=|<=|>=|<|>|\blike\b|\bilike\b|\bis\s+not\b|\bis\b|\bin\b)\s*(null|\([^)]*\)|'(?:[^']|'')*'|-?[\d.]+|true|false)(?:::\w+)?"
)


def _where(columns: tuple[str, ...], row: Row, where: str | None, statement: str) -> bool:
    if not where:
        return True
    return any(
        all(_compare(columns, row, term, statement) for term in re.split(r"(?i)\s+and\s+", branch))
        for branch in re.split(r"(?i)\s+or\s+", where)
    )


def _compare(columns: tuple[str, ...], row: Row, term: str, statement: str) -> bool:
    match = _COMPARISON.fullmatch(term.strip().strip("()") if term.count("(") == 0 else term.strip())
    if match is None:
        raise Refused(_syntax(statement, term.split()[-1] if term.split() else ""))
    value = row[_column(columns, match[1], statement)]
    operator, right = re.sub(r"\s+", " ", match[2].lower()), match[3]
    if operator in ("is", "is not"):
        return (value is None) == (operator == "is")
    if value is None:
        return False
    if operator == "in":
        return value in [_constant(part, statement) for part in _split_list(right[1:-1])]
    other = _constant(right, statement) or ""
    if operator in ("like", "ilike"):
        pattern = re.escape(other).replace("%", ".*").replace("_", ".")
        return re.fullmatch(pattern, value, re.IGNORECASE if operator == "ilike" else 0) is not None
    left, compared = _sort_key(value), _sort_key(other)
    return {
        "=": left == compared, "<>": left != compared, "!=": left != compared, "<": left < compared,
        ">": left > compared, "<=": left <= compared, ">=": left >= compared,
    }[operator]  # fmt: skip


def _split_list(text: str) -> list[str]:
    parts, depth, quoted, current = [], 0, False, ""
    for char in text:
        if char == "'":
            quoted = not quoted
        elif not quoted:
            depth += (char == "(") - (char == ")")
            if char == "," and depth == 0:
                parts.append(current.strip())
                current = ""
                continue
        current += char
    return [*parts, current.strip()]


# -- changing


def _insert(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(
        rf"(?is)insert\s+into\s+{_WORD}\s*(?:\((.*?)\))?\s*values\s*(.*?)(?:\s+returning\s+.*)?", statement
    )
    if match is None:
        raise Refused(_syntax(statement, statement.split()[-1]))
    table = _table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    names = tuple(part.strip().strip('"').lower() for part in match[2].split(",")) if match[2] else columns
    indexes = [_column(columns, name, statement) for name in names]
    rows: list[Row] = []
    following = count_rows(storage.read(table)) + 1
    for group in _split_list(match[3]):
        if not (group.startswith("(") and group.endswith(")")):
            raise Refused(_syntax(statement, group.split()[0] if group else ""))
        values = _split_list(group[1:-1])
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
                else _constant(value, statement)
            )
        if columns[0] == "id" and row[0] is None:
            row[0] = str(following + len(rows))
        rows.append(tuple(row))
    storage.append(table, encode_rows(tuple(rows)))
    return SqlResult(f"INSERT 0 {len(rows)}")


def _update(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(rf"(?is)update\s+{_WORD}\s+set\s+(.*?)(?:\s+where\s+(.*))?", statement)
    if match is None:
        raise Refused(_syntax(statement, statement.split()[-1]))
    table = _table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    changes = {}
    for part in _split_list(match[2]):
        name, _, value = part.partition("=")
        changes[_column(columns, name.strip(), statement)] = _constant(value.strip(), statement)
    rows, count = [], 0
    for row in decode_rows(storage.read(table)):
        if _where(columns, row, match[3], statement):
            count += 1
            row = tuple(changes.get(index, value) for index, value in enumerate(row))
        rows.append(row)
    if count:
        storage.replace(table, encode_rows(tuple(rows)))
    return SqlResult(f"UPDATE {count}")


def _delete(storage: Storage, statement: str) -> SqlResult:
    match = re.fullmatch(rf"(?is)delete\s+from\s+{_WORD}(?:\s+where\s+(.*))?", statement)
    if match is None:
        raise Refused(_syntax(statement, statement.split()[-1]))
    table = _table(storage, match[1], statement)
    columns = tuple(column for column, _ in table.columns)
    rows = decode_rows(storage.read(table))
    kept = tuple(row for row in rows if not _where(columns, row, match[2], statement))
    if len(kept) != len(rows):
        storage.replace(table, encode_rows(kept))
    return SqlResult(f"DELETE {len(rows) - len(kept)}")


def _show(storage: Storage, statement: str) -> SqlResult:
    name = statement.split(None, 1)[1].strip().lower()
    value = storage.settings.get(name)
    if value is None:
        raise Refused(SqlError("ERROR", f'unrecognized configuration parameter "{name}"', code="42704"))
    return SqlResult("SHOW", (name,), ((value,),))
