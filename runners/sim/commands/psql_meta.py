"""psql's backslash commands."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.psql_output import Look, table
from runners.sim.pg_client import Link, ask
from runners.sim.programs.sql import SqlError


def meta(ctx: Context, link: Link, look: Look, text: str) -> int:
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
        return _databases(ctx, link, look, rest, more=words[0].endswith("+"))
    if verb in ("\\dt", "\\d") and not rest:
        return _relations(ctx, link, look, more=words[0].endswith("+"))
    if verb in ("\\di", "\\dv", "\\ds", "\\dm"):
        ctx.stderr.write(b"Did not find any relations.\n")
        return 0
    if verb == "\\dn":
        rows = [["public", "pg_database_owner"]]
        table(ctx, look, ("Name", "Owner"), rows, title="List of schemas")
        return 0
    if verb == "\\df":
        columns = ("Schema", "Name", "Result data type", "Argument data types", "Type")
        table(ctx, look, columns, [], title="List of functions")
        return 0
    if verb in ("\\z", "\\dp"):
        names = sorted(_column(ctx, link, "SELECT tablename FROM pg_tables", 0))
        rows = [["public", name, "table", "", "", ""] for name in names]
        wide = ("Schema", "Name", "Type", "Access privileges", "Column privileges", "Policies")
        table(ctx, look, wide, rows, title="Access privileges")
        return 0
    if verb == "\\d":
        return _describe(ctx, link, look, rest[0])
    if verb == "\\du":
        rows = [[name, _attributes(flags), "{}"] for name, *flags in sorted(_rows(ctx, link, _ROLES))]
        table(ctx, look, ("Role name", "Attributes", "Member of"), rows, title="List of roles", counted=False)
        return 0
    if verb == "\\?":
        ctx.line(
            "General\n  \\q                     quit psql\nInformational\n  \\d[S+]                 "
            "list tables, views, and sequences\n  \\l[+]   [PATTERN]      list databases"
        )
        return 0
    ctx.stderr.write(f"invalid command {words[0]}\nTry \\? for help.\n".encode("utf-8", "surrogateescape"))
    return 1


_TYPES = {
    "timestamptz": "timestamp with time zone", "timestamp": "timestamp without time zone", "int": "integer",
    "int4": "integer", "int8": "bigint", "bool": "boolean", "varchar": "character varying",
    "float8": "double precision",
}  # fmt: skip


def _describe(ctx: Context, link: Link, look: Look, name: str) -> int:
    """`\\d TABLE`: its columns and their types, from the catalogue."""
    answer = ask(ctx, link, "SELECT table_name, column_name, data_type FROM information_schema.columns")
    wanted = name.removeprefix("public.").rstrip(";")
    found = () if isinstance(answer, SqlError) else answer[0].rows
    rows = [[row[1] or "", _TYPES.get(row[2] or "", row[2] or ""), "", "", ""] for row in found if row[0] == wanted]
    if not rows:
        ctx.stderr.write(f'Did not find any relation named "{name}".\n'.encode("utf-8", "surrogateescape"))
        return 1
    columns = ("Column", "Type", "Collation", "Nullable", "Default")
    table(ctx, look, columns, rows, title=f'Table "public.{wanted}"', counted=False)
    return 0


def _databases(ctx: Context, link: Link, look: Look, names: Sequence[str], *, more: bool) -> int:
    rows = []
    for name, owner in sorted(_rows(ctx, link, "SELECT datname, datowner FROM pg_database")):
        if names and name not in names:
            continue
        rights = f"=c/{owner}\n{owner}=CTc/{owner}" if name in ("template0", "template1") else ""
        row = [name, owner, "UTF8", "C.UTF-8", "C.UTF-8", "", "libc", rights]
        size = _column(ctx, link, f"SELECT pg_size_pretty(pg_database_size('{name}'))", 0) if more else []
        rows.append([*row, *size, "pg_default", _DESCRIBED.get(name, "")] if more else row)
    columns = ["Name", "Owner", "Encoding", "Collate", "Ctype", "ICU Locale", "Locale Provider", "Access privileges"]
    table(ctx, look, columns + ["Size", "Tablespace", "Description"] * more, rows, title="List of databases")
    return 0


_DESCRIBED = {
    "postgres": "default administrative connection database",
    "template0": "unmodifiable empty database",
    "template1": "default template for new databases",
}


def _relations(ctx: Context, link: Link, look: Look, *, more: bool) -> int:
    found = sorted(_rows(ctx, link, "SELECT schemaname, tablename, tableowner FROM pg_tables"))
    if not found:
        ctx.stderr.write(b"Did not find any relations.\n")
        return 0
    rows = [[schema, name, "table", owner] for schema, name, owner in found]
    columns = ["Schema", "Name", "Type", "Owner"]
    if more:
        # A table of a few pages has those and one more, of what is too long for it.
        pages = {name: int(count) for name, count in _rows(ctx, link, "SELECT relname, relpages FROM pg_class")}
        rows = [[*row, "permanent", "heap", f"{8 * pages.get(row[1], 0) + 8} kB", ""] for row in rows]
        columns += ["Persistence", "Access method", "Size", "Description"]
    table(ctx, look, columns, rows, title="List of relations")
    return 0


_ROLES = "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit FROM pg_roles"


def _attributes(flags: Sequence[str]) -> str:
    """What \\du says of a role; the first one of a cluster may do everything."""
    superuser, create_role, create_database, login, limit = flags
    said = [
        *(["Superuser"] if superuser == "t" else []),
        *(["Create role"] if create_role == "t" else []),
        *(["Create DB"] if create_database == "t" else []),
        *(["Cannot login"] if login != "t" else []),
    ]
    if (superuser, create_role, create_database) == ("t", "t", "t"):
        said += ["Replication", "Bypass RLS"]
    text = ", ".join(said)
    if limit != "-1":
        count = "No connections" if limit == "0" else f"{limit} connection{'s' * (limit != '1')}"
        text += ("\n" if text else "") + count
    return text


def _rows(ctx: Context, link: Link, query: str) -> list[list[str]]:
    answer = ask(ctx, link, query)
    return [] if isinstance(answer, SqlError) else [[cell or "" for cell in row] for row in answer[0].rows]


def _column(ctx: Context, link: Link, query: str, index: int) -> list[str]:
    return [row[index] for row in _rows(ctx, link, query)]
