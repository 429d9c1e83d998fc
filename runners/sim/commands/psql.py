"""psql 15: PostgreSQL's command line client."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.psql_meta import meta
from runners.sim.commands.psql_output import Look, show, show_error
from runners.sim.files.inode import EXECUTE
from runners.sim.pg_client import Link, ask, patience, reach, refusal, target_of
from runners.sim.programs.sql import SqlError, statements
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
    look = Look(options)
    if options.has("l"):
        return meta(ctx, link, look, "\\l")
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


def _command(ctx: Context, link: Link, look: Look, text: str) -> int:
    if text.lstrip().startswith("\\"):
        return meta(ctx, link, look, text.strip())
    answer = ask(ctx, link, text)
    if isinstance(answer, SqlError):
        for result in answer.before:
            show(ctx, look, result)
        show_error(ctx, answer, text)
        return 1
    for result in answer:
        show(ctx, look, result)
    return 0


def _script(ctx: Context, link: Link, look: Look, text: str) -> int:
    """Lines from a file or standard input; an error does not end it unless ON_ERROR_STOP is set."""
    pending = ""
    for line in text.splitlines():
        stripped = line.strip()
        if not pending and stripped.startswith("\\"):
            if stripped.split()[0] in ("\\q", "\\quit"):
                return 0
            meta(ctx, link, look, stripped)
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
