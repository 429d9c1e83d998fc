"""SELECT: columns, aggregates, conditions, order."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from runners.sim.programs.sql_types import (
    Refused,
    Row,
    SqlError,
    SqlResult,
    Storage,
    count_rows,
    decode_rows,
    find_column,
    find_table,
    syntax,
)
from runners.text import is_digits


@lru_cache(maxsize=1024)
def _clauses(statement: str) -> re.Match[str] | None:
    return re.fullmatch(
        r"(?is)select\s+(?P<items>.*?)(?:\s+from\s+(?P<table>[\w.\"]+)(?:\s+(?:as\s+)?(?!where|group|order|limit)\w+)?"
        r"(?:\s+where\s+(?P<where>.*?))?(?:\s+group\s+by\s+(?P<group>.*?))?(?:\s+order\s+by\s+(?P<order>.*?))?"
        r"(?:\s+limit\s+(?P<limit>\d+))?(?:\s+offset\s+(?P<offset>\d+))?)?\s*",
        statement,
    )


def select(storage: Storage, statement: str) -> SqlResult:
    match = _clauses(statement)
    if match is None or not match["items"].strip():
        raise Refused(syntax(statement, ""))
    items = split_list(match["items"])
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
    rows = tuple(row for row in rows if holds(columns, row, match["where"], statement))
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
    picks = [_called(storage, columns, item, statement) or _pick(columns, item, statement) for item in items]
    names = tuple(_label(item) for item in items)
    return SqlResult(f"SELECT {len(rows)}", names, tuple(tuple(pick(row) for pick in picks) for row in rows))


def _source(
    storage: Storage, name: str, statement: str, items: list[str], where: str | None
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    plain = name.removeprefix("pg_catalog.").lower()
    make = storage.virtual.get(plain)
    if make is not None:
        return make()
    table = find_table(storage, name, statement)
    columns = tuple(column for column, _ in table.columns)
    if where is None and len(items) == 1 and items[0].lower().replace(" ", "").startswith("count(*)"):
        return columns, ()
    return columns, decode_rows(storage.read(table))


def _count_only(storage: Storage, name: str) -> int | None:
    table = storage.tables.get(name.removeprefix("public.").strip('"').lower())
    return count_rows(storage.read(table)) if table is not None else None


def _constants(storage: Storage, items: list[str], statement: str) -> SqlResult:
    names: list[str] = []
    values: list[str | None] = []
    for item in items:
        text = re.sub(r"(?i)\s+as\s+\w+$", "", item).strip()
        called = _called(storage, (), text, statement)
        if called is not None:
            names.append(_label(item))
            values.append(called(()))
            continue
        computed = _computed(storage, text)
        if computed is not None:
            alias = re.search(r"(?i)\s+as\s+(\w+)$", item)
            names.append(alias[1] if alias is not None else computed[0])
            values.append(computed[1])
            continue
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
        values.append(constant(text, statement))
    return SqlResult("SELECT 1", tuple(names), (tuple(values),))


_MOMENT = r"(\w+)\s*\(\s*\)"
_SIZE = "7453 kB"
"""What any database of the machine takes on its disk."""


def _computed(storage: Storage, text: str) -> tuple[str, str] | None:
    """The name and value of what is worked out from functions: a time between moments, a database's size."""
    between = re.fullmatch(rf"(?i){_MOMENT}\s*-\s*{_MOMENT}", text)
    if between is not None:
        late, early = (storage.functions.get(name.lower()) for name in between.groups())
        if late is not None and early is not None:
            return "?column?", _interval(late, early)
    if re.fullmatch(r"(?i)pg_size_pretty\s*\(\s*pg_database_size\s*\(.*\)\s*\)", text):
        return "pg_size_pretty", _SIZE
    if re.fullmatch(r"(?i)pg_database_size\s*\([^()]*\)", text):
        return "pg_database_size", str(int(_SIZE.split()[0]) * 1024)
    return None


def _interval(late: str, early: str) -> str:
    """`22 days 05:07:08.25`, as PostgreSQL shows the time between two moments."""
    seconds = (datetime.fromisoformat(f"{late}:00") - datetime.fromisoformat(f"{early}:00")).total_seconds()
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    days, rest = divmod(seconds, 86400)
    minutes, second = divmod(rest, 60)
    clock = f"{int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{second:09.6f}".rstrip("0").rstrip(".")
    whole = f"{int(days)} {'day' if days == 1 else 'days'} " if days else ""
    return f"{sign}{whole}{clock}"


def explain(storage: Storage, statement: str) -> SqlResult:
    """EXPLAIN of a SELECT from one table: these tables are small and have no indexes, so they are read through."""
    inner = re.sub(r"(?is)^explain\s+(analyze\s+|verbose\s+|\([^)]*\)\s*)*", "", statement)
    match = _clauses(inner)
    if match is None or match["table"] is None:
        raise Refused(syntax(statement, inner.split()[0] if inner else ""))
    table = find_table(storage, match["table"], statement)
    data = storage.read(table)
    rows, pages = count_rows(data), max(-(-len(data) // 8192), 1)
    width = 8 * len(table.columns)
    lines = [
        f"Seq Scan on {match['table'].removeprefix('public.')}  (cost=0.00..{pages + rows / 100:.2f} rows={rows} width={width})"
    ]
    if match["where"]:
        lines.append(f"  Filter: ({match['where'].strip()})")
    return SqlResult("EXPLAIN", ("QUERY PLAN",), tuple((line,) for line in lines))


def constant(text: str, statement: str) -> str | None:
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


_CALL = re.compile(r"(?is)(?:pg_catalog\.)?(\w+)\s*\(\s*('[^']*'|-?[\d.]+|\"?\w+\"?)\s*\)(?:\s+as\s+\"?\w+\"?)?")


def _called(
    storage: Storage, columns: tuple[str, ...], item: str, statement: str
) -> Callable[[Row], str | None] | None:
    """What calls a function that acts on the server, with a column of each row or with a constant."""
    match = _CALL.fullmatch(item)
    function = storage.calls.get(match[1].lower()) if match is not None else None
    if match is None or function is None:
        return None
    if re.fullmatch(r"'.*'|-?[\d.]+", match[2]):
        value = constant(match[2], statement)
        return lambda _row: function(value)
    index = find_column(columns, match[2], statement)
    return lambda row: function(row[index])


@lru_cache(maxsize=1024)
def _label(item: str, default: str | None = None) -> str:
    alias = re.search(r"(?i)\s+as\s+\"?(\w+)\"?$", item)
    if alias is not None:
        return alias[1]
    call = re.match(r"(\w+)\s*\(", item)
    if call is not None:
        return call[1].lower()
    return default or item.rsplit(".", 1)[-1].strip('"').lower()


@lru_cache(maxsize=1024)
def _pick(columns: tuple[str, ...], item: str, statement: str) -> Callable[[Row], str | None]:
    text = re.sub(r"(?i)\s+as\s+\"?\w+\"?$", "", item).strip()
    call = re.fullmatch(
        r"(?i)pg_size_pretty\s*\(\s*pg_database_size\s*\(\s*\w+\s*\)\s*\)|left\s*\(\s*(\w+)\s*,\s*(\d+)\s*\)", text
    )
    if call is not None and call[1]:
        index, length = find_column(columns, call[1], statement), int(call[2])
        return lambda row: row[index][:length] if row[index] is not None else None  # type: ignore[index]
    if call is not None:
        return lambda _row: _SIZE
    if re.fullmatch(r"'.*'|-?\d+(\.\d+)?", text):
        value = constant(text, statement)
        return lambda _row: value
    index = find_column(columns, text, statement)
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
    index = find_column(columns, what, statement)
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
    keys = [int(part) - 1 if is_digits(part) else -1 for part in (text.strip() for text in group.split(","))]
    names = [items[key] if key >= 0 else text.strip() for key, text in zip(keys, group.split(","), strict=True)]
    indexes = [find_column(columns, name, statement) for name in names]
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
    for part in reversed(split_list(order) if order else []):
        words = part.split()
        index = int(words[0]) - 1 if is_digits(words[0]) else find_column(columns, words[0], statement)
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


def holds(columns: tuple[str, ...], row: Row, where: str | None, statement: str) -> bool:
    if not where:
        return True
    return any(
        all(_compare(columns, row, term, statement) for term in re.split(r"(?i)\s+and\s+", branch))
        for branch in re.split(r"(?i)\s+or\s+", where)
    )


def _compare(columns: tuple[str, ...], row: Row, term: str, statement: str) -> bool:
    match = _COMPARISON.fullmatch(term.strip().strip("()") if term.count("(") == 0 else term.strip())
    if match is None:
        raise Refused(syntax(statement, term.split()[-1] if term.split() else ""))
    value = row[find_column(columns, match[1], statement)]
    operator, right = re.sub(r"\s+", " ", match[2].lower()), match[3]
    if operator in ("is", "is not"):
        return (value is None) == (operator == "is")
    if value is None:
        return False
    if operator == "in":
        return value in [constant(part, statement) for part in split_list(right[1:-1])]
    other = constant(right, statement) or ""
    if operator in ("like", "ilike"):
        pattern = re.escape(other).replace("%", ".*").replace("_", ".")
        return re.fullmatch(pattern, value, re.IGNORECASE if operator == "ilike" else 0) is not None
    left, compared = _sort_key(value), _sort_key(other)
    return {
        "=": left == compared, "<>": left != compared, "!=": left != compared, "<": left < compared,
        ">": left > compared, "<=": left <= compared, ">=": left >= compared,
    }[operator]  # fmt: skip


def split_list(text: str) -> list[str]:
    """The parts between commas outside of quotes and parentheses."""
    return list(_split(text))


@lru_cache(maxsize=1024)
def _split(text: str) -> tuple[str, ...]:
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
    return (*parts, current.strip())
