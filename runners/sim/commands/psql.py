"""psql 15: PostgreSQL's command line client."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.files.inode import EXECUTE
from runners.sim.pg_client import Link, ask, patience, reach, refusal, target_of
from runners.sim.programs.sql import SqlError, SqlResult, statements
from runners.sim.tool import Tool

_TOOL = Tool(
    "psql [OPTION]... [DBNAME [USERNAME]]",
    "c,command= d,dbname= f,file= l,list v,set= V,version X,no-psqlrc 1,single-transaction a,echo-all b,echo-errors "
    "e,echo-queries E,echo-hidden L,log-file= n,no-readline o,output= q,quiet s,single-step S,single-line "
"A,no-align csv "
    "F,field-separator= H,html P,pset= R,record-separator= t,tuples-only T,table-attr= x,expanded z "
    "0 h,host= p,port= U,username= w,no-password W,password",
    "psql (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)",
    hinted=False, after_error='psql: hint: Try "psql --help" for more information.\n',
)  # fmt: skip


class _Look:
    """How results are printed."""

    def __init__(self, options: Options) -> None:
        self.aligned = not options.has("A", "csv")
        self.tuples = options.has("t")
        self.expanded = options.has("x")
        self.separator = options.value("F") or ("," if options.has("csv") else "|")
        self.quiet = options.has("q")
        self.stop = any(value in ("ON_ERROR_STOP=1", "ON_ERROR_STOP=on") for value in options.values("v"))


def main(ctx: Context) -> int:
    # Debian's psql is a wrapper, and what runs is the version's own program.
    ctx.argv[0] = "/usr/lib/postgresql/15/bin/psql"
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("psql (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)")
        return 0
    operands = options.operands
    database = options.value("d") or (operands[0] if operands else None)
    user = options.value("U") or (operands[1] if len(operands) > 1 else None)
    if options.has("l") and database is None:
        database = "postgres"
    if not ctx.files.access(".", EXECUTE):
        # Debian's wrapper of the client tools says so.
        ctx.stderr.write(
            f'could not change directory to "{ctx.files.cwd}": Permission denied\n'.encode("utf-8", "surrogateescape")
        )
    link = reach(
        ctx, target_of(ctx, options.value("h"), options.value("p"), user, database), timeout=patience(ctx, database)
    )
    if isinstance(link, str):
        return _no_connection(ctx, link)
    refused = ask(ctx, link, "")
    if isinstance(refused, SqlError) and refused.severity == "FATAL":
        return _no_connection(ctx, refusal(link, refused))
    look = _Look(options)
    if options.has("l"):
        return _meta(ctx, link, look, "\\l")
    commands: list[tuple[str, str]] = []
    for name, value in options.given:
        if name == "c":
            commands.append(("command", value or ""))
        elif name == "f" and value is not None:
            try:
                data = ctx.stdin.read() if value == "-" else ctx.files.read(value)
            except OSError as error:
                ctx.err(f"error: {value}: {error.strerror}")
                return 1
            commands.append(("script", data.decode("utf-8", "surrogateescape")))
    if not commands:
        commands.append(("script", ctx.stdin.read().decode("utf-8", "surrogateescape")))
    status = 0
    for kind, text in commands:
        status = _command(ctx, link, look, text) if kind == "command" else _script(ctx, link, look, text)
        if status and kind == "command":
            return 1
        if status == 3:
            return 3
    return status


def _no_connection(ctx: Context, message: str) -> int:
    ctx.err(f"error: {message}")
    return 2


def _command(ctx: Context, link: Link, look: _Look, text: str) -> int:
    if text.lstrip().startswith("\\"):
        return _meta(ctx, link, look, text.strip())
    answer = ask(ctx, link, text)
    if isinstance(answer, SqlError):
        _error(ctx, answer, text)
        return 1
    for result in answer:
        _print(ctx, look, result)
    return 0


def _script(ctx: Context, link: Link, look: _Look, text: str) -> int:
    """Lines from a file or standard input; an error does not end it unless ON_ERROR_STOP is set."""
    pending = ""
    for line in text.splitlines():
        stripped = line.strip()
        if not pending and stripped.startswith("\\"):
            if stripped.split()[0] in ("\\q", "\\quit"):
                return 0
            _meta(ctx, link, look, stripped)
            continue
        pending += line + "\n"
        if not stripped.endswith(";"):
            continue
        for statement in statements(pending):
            if _command(ctx, link, look, statement) and look.stop:
                return 3
        pending = ""
    if pending.strip():
        _command(ctx, link, look, pending.strip())
    return 0


def _error(ctx: Context, error: SqlError, query: str) -> None:
    lines = [f"{error.severity}:  {error.message}"]
    if error.position:
        before = query[: error.position - 1]
        number = before.count("\n") + 1
        line = query.split("\n")[number - 1]
        column = error.position - 1 - (before.rfind("\n") + 1)
        lead = f"LINE {number}: "
        lines += [f"{lead}{line}", " " * (len(lead) + column) + "^"]
    if error.detail:
        lines.append(f"DETAIL:  {error.detail}")
    if error.hint:
        lines.append(f"HINT:  {error.hint}")
    ctx.stderr.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def _print(ctx: Context, look: _Look, result: SqlResult) -> None:
    if not result.columns:
        if not look.quiet:
            ctx.line(result.tag)
        return
    _table(ctx, look, result.columns, [["" if cell is None else cell for cell in row] for row in result.rows])


def _table(
    ctx: Context, look: _Look, columns: Sequence[str], rows: list[list[str]], *, title: str = "", counted: bool = True
) -> None:
    """`counted`: how many rows there are stands at the end."""
    ctx.spend(2 * len(rows))
    if look.expanded:
        _expanded(ctx, look, columns, rows)
        return
    if not look.aligned:
        if not look.tuples:
            ctx.line(look.separator.join(columns))
        for row in rows:
            ctx.line(look.separator.join(row))
        if not look.tuples and look.separator != ",":
            ctx.line(_count(rows))
        return
    count = _count(rows)
    rows = [line for row in rows for line in _lines(row)]
    widths = [max([len(column), *(len(row[index]) for row in rows)]) for index, column in enumerate(columns)]
    # The sign that a line goes on stands outside of the last column.
    widths[-1] = max([len(columns[-1]), *(len(row[-1].removesuffix("+")) for row in rows)])
    numeric = [
        bool(rows) and all(_is_number(row[index]) for row in rows if row[index]) for index in range(len(columns))
    ]
    if title and not look.tuples:
        ctx.line(_centred(title, sum(widths) + 3 * len(widths) - 1).rstrip())
    if not look.tuples:
        ctx.line("|".join(f" {_centred(column, width)} " for column, width in zip(columns, widths, strict=True)))
        ctx.line("+".join("-" * (width + 2) for width in widths))
    for row in rows:
        cells = [
            f"{cell:>{width}}" if right else f"{cell:<{width}}"
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        # The last column is not padded when it stands on the left.
        ctx.line(
            "|".join(f" {cell} " for cell in cells)[:-1]
            if numeric[-1]
            else "|".join([*(f" {cell} " for cell in cells[:-1]), f" {row[-1]}"])
        )
    if counted and not look.tuples:
        ctx.line(count)
    ctx.line()


def _lines(row: list[str]) -> list[list[str]]:
    """A row whose cells hold several lines, with a plus sign at the end of each that goes on."""
    parts = [cell.split("\n") for cell in row]
    height = max(len(part) for part in parts)
    wide = [max(len(line) for line in part) for part in parts]
    return [
        [
            part[index].ljust(width) + "+" if index < len(part) - 1 else part[index] if index < len(part) else ""
            for part, width in zip(parts, wide, strict=True)
        ]
        for index in range(height)
    ]


def _centred(text: str, width: int) -> str:
    left = max(width - len(text), 0) // 2
    return f"{' ' * left}{text}".ljust(width)


def _count(rows: Sequence[Sequence[str]]) -> str:
    return f"({len(rows)} row{'' if len(rows) == 1 else 's'})"


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


def _expanded(ctx: Context, look: _Look, columns: Sequence[str], rows: list[list[str]]) -> None:
    width = max(len(column) for column in columns)
    if not rows:
        ctx.line("(0 rows)\n")
        return
    body = max(len(cell) for row in rows for cell in row)
    for number, row in enumerate(rows, 1):
        if look.aligned:
            label = f"-[ RECORD {number} ]"
            ctx.line(
                label
                + "-" * max(width + 1 - len(label), 0)
                + "+" * (len(label) <= width + 1)
                + "-" * (body + 1 - max(len(label) - width - 2, 0))
            )
            for column, cell in zip(columns, row, strict=True):
                ctx.line(f"{column:<{width}} | {cell}".rstrip())
        else:
            for column, cell in zip(columns, row, strict=True):
                ctx.line(f"{column}{look.separator}{cell}")
            if number < len(rows):
                ctx.line()
    if look.aligned:
        ctx.line()


# -- backslash commands


def _meta(ctx: Context, link: Link, look: _Look, text: str) -> int:
    words = text.split()
    verb, rest = words[0].rstrip("+"), words[1:]
    target = link.target
    if verb in ("\\q", "\\timing", "\\pset", "\\set", "\\echo"):
        if verb == "\\echo":
            ctx.line(" ".join(rest))
        return 0
    if verb == "\\x":
        look.expanded = not look.expanded
        ctx.line(f"Expanded display is {'on' if look.expanded else 'off'}.")
        return 0
    if verb == "\\conninfo":
        where = (
            f'via socket in "{target.host or "/var/run/postgresql"}"'
            if target.local
            else f'on host "{target.host}" (address "{link.address}")'
        )
        ctx.line(
            f'You are connected to database "{target.database}" as user "{target.user}" {where} at port '
            f'"{target.port}".'
        )
        return 0
    if verb == "\\l":
        found = _column(ctx, link, "SELECT datname FROM pg_database", 0)
        names = sorted(dict.fromkeys([*found, "postgres", "template0", "template1"]))
        rows = [
            [
                name,
                _owner(ctx, link, name),
                "UTF8",
                "C.UTF-8",
                "C.UTF-8",
                "",
                "libc",
                "=c/postgres\npostgres=CTc/postgres" if name.startswith("template") else "",
            ]
            for name in names
        ]
        columns = (
            "Name",
            "Owner",
            "Encoding",
            "Collate",
            "Ctype",
            "ICU Locale",
            "Locale Provider",
            "Access privileges",
        )
        _table(ctx, look, columns, rows, title="List of databases")
        return 0
    if verb in ("\\dt", "\\d") and not rest:
        answer = ask(ctx, link, "SELECT schemaname, tablename, tableowner FROM pg_tables")
        rows = [] if isinstance(answer, SqlError) else [[cell or "" for cell in row] for row in answer[0].rows]
        rows = sorted([schema, name, "table", owner] for schema, name, owner in rows)
        if not rows:
            ctx.stderr.write(b"Did not find any relations.\n")
            return 0
        _table(ctx, look, ("Schema", "Name", "Type", "Owner"), rows, title="List of relations")
        return 0
    if verb == "\\d":
        return _describe(ctx, link, look, rest[0])
    if verb == "\\du":
        names = sorted(_column(ctx, link, "SELECT rolname FROM pg_roles", 0))
        rows = [
            [name, "Superuser, Create role, Create DB, Replication, Bypass RLS" if name == "postgres" else "", "{}"]
            for name in names
        ]
        _table(ctx, look, ("Role name", "Attributes", "Member of"), rows, title="List of roles", counted=False)
        return 0
    if verb in ("\\c", "\\connect"):
        ctx.line(f'You are now connected to database "{rest[0] if rest else target.database}" as user "{target.user}".')
        return 0
    if verb == "\\?":
        ctx.line(
            "General\n  \\q                     quit psql\nInformational\n  \\d[S+]                 "
            "list tables, views, and sequences\n  \\l[+]   [PATTERN]      list databases"
        )
        return 0
    ctx.stderr.write(f"invalid command {words[0]}\nTry \\? for help.\n".encode("utf-8", "surrogateescape"))
    return 1


def _describe(ctx: Context, link: Link, look: _Look, name: str) -> int:
    """`\\d TABLE`: its columns and their types, from the catalogue."""
    answer = ask(ctx, link, "SELECT table_name, column_name, data_type FROM information_schema.columns")
    table = name.removeprefix("public.").rstrip(";")
    found = () if isinstance(answer, SqlError) else answer[0].rows
    rows = [[row[1] or "", row[2] or "", "", "", ""] for row in found if row[0] == table]
    if not rows:
        ctx.stderr.write(f'Did not find any relation named "{name}".\n'.encode("utf-8", "surrogateescape"))
        return 1
    columns = ("Column", "Type", "Collation", "Nullable", "Default")
    _table(ctx, look, columns, rows, title=f'Table "public.{table}"', counted=False)
    return 0


def _column(ctx: Context, link: Link, query: str, index: int) -> list[str]:
    answer = ask(ctx, link, query)
    return [] if isinstance(answer, SqlError) else [row[index] or "" for row in answer[0].rows]


def _owner(ctx: Context, link: Link, database: str) -> str:
    """The owner that most of a database's tables have; the superuser's otherwise."""
    if database in ("postgres", "template0", "template1"):
        return "postgres"
    other = link._replace(target=link.target._replace(database=database))
    owners = _column(ctx, other, "SELECT tableowner FROM pg_tables", 0)
    return owners[0] if owners else "postgres"
