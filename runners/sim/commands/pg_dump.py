"""pg_dump of PostgreSQL 15: a database as the statements that make it anew, or packed into an archive."""

from __future__ import annotations

import zlib

from runners.sim.commands.context import Context
from runners.sim.pg_client import Link, ask, reach, refusal, target_of
from runners.sim.programs.sql import SqlError
from runners.sim.tool import Tool

NAMES = ("pg_dump",)

_TOOL = Tool(
    "pg_dump [OPTION]... [DBNAME]",
    "a,data-only b,blobs C,create c,clean d,dbname= f,file= F,format= h,host= n,schema= no-owner O j,jobs= p,port= "
    "s,schema-only t,table= U,username= v,verbose w,no-password W,password x,no-privileges Z,compress= V,version "
    "if-exists inserts",
    "pg_dump (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)",
)
_MAGIC = b"PGDMP\x01\x0e\x00\x04\x08\x01\x01\x01\x00\x00\x00"
_VERSION = "15.6 (Debian 15.6-0+deb12u1)"
_SETTINGS = (
    "statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0", "client_encoding = 'UTF8'",
    "standard_conforming_strings = on", "check_function_bodies = false", "xmloption = content",
    "client_min_messages = warning", "row_security = off",
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    name = options.value("d") or (options.operands[0] if options.operands else "")
    form = options.value("F") or "p"
    if form[:1] not in "pct" or form not in ("p", "plain", "c", "custom", "t", "tar"):
        ctx.err(f'error: invalid output format "{form}" specified')
        return 1
    target = target_of(ctx, options.value("h"), options.value("p"), options.value("U"), name or None)
    link = reach(ctx, target)
    if isinstance(link, str):
        ctx.err(f"error: {link}")
        return 1
    refused = ask(ctx, link, "", "pg_dump")
    if isinstance(refused, SqlError) and refused.severity == "FATAL":
        ctx.err(f"error: {refusal(link, refused)}")
        return 1
    text = _script(ctx, link, rows=not options.has("s"), shape=not options.has("a"), only=options.value("t"))
    if isinstance(text, SqlError):
        ctx.err(f"error: query failed: {text.severity}:  {text.message}")
        return 1
    data = text.encode("utf-8", "surrogateescape")
    if form[0] != "p":
        if options.value("f") is None and ctx.stdout.is_terminal:
            ctx.err("error: archive cannot be written to a terminal")
            return 1
        data = _MAGIC + target.database.encode() + b"\0" + zlib.compress(data)
    path = options.value("f")
    if path is None:
        ctx.stdout.write(data)
        return 0
    try:
        ctx.create(path).write(data)
    except OSError as error:
        ctx.err(f'error: could not open output file "{path}": {error.strerror}')
        return 1
    return 0


def _script(ctx: Context, link: Link, *, rows: bool, shape: bool, only: str | None) -> str | SqlError:
    tables = ask(ctx, link, "SELECT tablename, tableowner FROM pg_tables", "pg_dump")
    columns = ask(ctx, link, "SELECT table_name, column_name, data_type FROM information_schema.columns", "pg_dump")
    if isinstance(tables, SqlError):
        return tables
    if isinstance(columns, SqlError):
        return columns
    head = f"Dumped from database version {_VERSION}\n-- Dumped by pg_dump version {_VERSION}"
    parts = [f"--\n-- PostgreSQL database dump\n--\n\n-- {head}\n\n"]
    parts += [f"SET {setting};\n" for setting in _SETTINGS]
    chosen = sorted((name or "", owner or "") for name, owner in tables[0].rows if only in (None, name))
    fields = {
        table: [(row[1] or "", row[2] or "") for row in columns[0].rows if row[0] == table] for table, _ in chosen
    }
    for table, owner in chosen if shape else ():
        lines = ",\n".join(f"    {name} {kind}" for name, kind in fields[table])
        parts.append(_title(table, "TABLE", owner) + f"CREATE TABLE public.{table} (\n{lines}\n);\n\n\n")
        parts.append(f"ALTER TABLE public.{table} OWNER TO {owner};\n\n")
    for table, owner in chosen if rows else ():
        names = ", ".join(name for name, _ in fields[table])
        found = ask(ctx, link, f"SELECT {names} FROM {table}", "pg_dump")  # noqa: S608 (names of the catalogue)
        if isinstance(found, SqlError):
            return found
        ctx.spend(len(found[0].rows))
        lines = "".join("\t".join("\\N" if cell is None else cell for cell in row) + "\n" for row in found[0].rows)
        title = _title(table, "TABLE DATA", owner, data=True)
        parts.append(f"{title}COPY public.{table} ({names}) FROM stdin;\n{lines}\\.\n\n\n")
    parts.append("--\n-- PostgreSQL database dump complete\n--\n\n")
    return "".join(parts)


def _title(name: str, kind: str, owner: str, *, data: bool = False) -> str:
    lead = "Data for " if data else ""
    return f"--\n-- {lead}Name: {name}; Type: {kind}; Schema: public; Owner: {owner}\n--\n\n"
