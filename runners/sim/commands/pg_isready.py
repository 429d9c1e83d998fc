"""pg_isready, pg_lsclusters, pg_ctlcluster, createdb and dropdb: small tools around a PostgreSQL server."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.pg_client import ask, reach, refusal, target_of
from runners.sim.programs.postgres import server_of
from runners.sim.programs.sql import SqlError
from runners.sim.systemctl.jobs import job
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("pg_isready", "pg_lsclusters", "pg_ctlcluster", "createdb", "dropdb")

_COMMON = "h,host= p,port= U,username= w,no-password W,password V,version d,dbname="
_READY = Tool(
    "pg_isready [OPTION]...",
    f"q,quiet t,timeout= {_COMMON}",
    "pg_isready (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)",
    status=3,
)
_OTHER = Tool(
    "{name} [OPTION]... [DBNAME]", f"e,echo O,owner= T,template= E,encoding= i,interactive f,force "
f"if-exists {_COMMON}", "(PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)",
)  # fmt: skip


def main(ctx: Context) -> int:
    if ctx.name == "pg_isready":
        return _ready(ctx)
    if ctx.name == "pg_lsclusters":
        return _list(ctx)
    if ctx.name == "pg_ctlcluster":
        return _control(ctx)
    return _create_or_drop(ctx)


def _ready(ctx: Context) -> int:
    options = _READY.parse(ctx)
    target = target_of(ctx, options.value("h"), options.value("p"), options.value("U"), options.value("d"))
    place = f"{target.host or '/var/run/postgresql'}:{target.port}"
    limit = options.value("t") or "3"
    link = reach(ctx, target, timeout=float(limit) if is_digits(limit) and limit != "0" else 130.0)
    if isinstance(link, str):
        if not options.has("q"):
            ctx.line(f"{place} - no response")
        return 2
    if not options.has("q"):
        ctx.line(f"{place} - accepting connections")
    return 0


def _list(ctx: Context) -> int:
    if "-h" not in ctx.args and "--no-header" not in ctx.args:
        ctx.line("Ver Cluster Port Status Owner    Data directory              Log file")
    view = ctx.machine.view()
    try:
        clusters = view.names("/etc/postgresql/15")
    except OSError:
        return 0
    running = server_of(ctx.machine)
    for name in clusters:
        data = f"/var/lib/postgresql/15/{name}"
        owner = "<unknown>"
        if view.exists(data):
            uid = view.stat(data).uid
            owner = "postgres" if uid != 0 else "root"
        up = running is not None and any(data in word for word in [*running.argv, running.cwd])
        port = "5432"
        try:
            for line in view.text(f"/etc/postgresql/15/{name}/postgresql.conf").splitlines():
                key, equals, value = line.split("#", 1)[0].partition("=")
                if equals and key.strip() == "port":
                    port = value.strip().strip("'")
        except OSError:
            port = "5432"
        log = f"/var/log/postgresql/postgresql-15-{name}.log"
        ctx.line(f"{'15':<3} {name:<7} {port:<4} {'online' if up else 'down':<6} {owner:<8} {data:<27} {log}")
    return 0


def _control(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if len(words) < 3:
        ctx.stderr.write(b"Usage: pg_ctlcluster <version> <cluster> <action> [-- <pg_ctl options>]\n")
        return 1
    version, cluster, action = words[:3]
    if not ctx.machine.view().exists(f"/etc/postgresql/{version}/{cluster}"):
        ctx.stderr.write(
            f"Error: specified cluster '{version} {cluster}' does not exist\n".encode("utf-8", "surrogateescape")
        )
        return 1
    unit = f"postgresql@{version}-{cluster}.service"
    if (
        ctx.machine.systemd.get(unit).active == "inactive"
        and ctx.machine.systemd.get("postgresql.service").active != "inactive"
    ):
        unit = "postgresql.service"
    running = server_of(ctx.machine)
    if action == "status":
        if running is None:
            ctx.line("pg_ctl: no server running")
            return 3
        ctx.line(f"pg_ctl: server is running (PID: {running.pid})")
        return 0
    if action not in ("start", "stop", "restart", "reload"):
        ctx.stderr.write(b"Error: action must be one of: start, stop, restart, reload, promote, status\n")
        return 1
    return job(ctx, action, [unit])


def _create_or_drop(ctx: Context) -> int:
    options = _OTHER.parse(ctx)
    if options.has("V"):
        ctx.line(f"{ctx.name} (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)")
        return 0
    name = options.value("d") or (options.operands[0] if options.operands else "")
    target = target_of(ctx, options.value("h"), options.value("p"), options.value("U"), "postgres")
    name = name or target.user
    link = reach(ctx, target)
    if isinstance(link, str):
        ctx.err(f"error: {link}")
        return 1
    refused = ask(ctx, link, "", ctx.name)
    if isinstance(refused, SqlError) and refused.severity == "FATAL":
        ctx.err(f"error: {refusal(link, refused)}")
        return 1
    verb = "CREATE" if ctx.name == "createdb" else "DROP"
    owner = options.value("O")
    words = [verb, "DATABASE", "IF EXISTS" if options.has("if-exists") and verb == "DROP" else "", _identifier(name)]
    statement = " ".join([word for word in words if word] + ([f"OWNER {_identifier(owner)}"] if owner else []))
    answer = ask(ctx, link, statement, ctx.name)
    if isinstance(answer, SqlError):
        what = "creation" if verb == "CREATE" else "removal"
        ctx.err(f"error: database {what} failed: {answer.severity}:  {answer.message}")
        if answer.detail:
            ctx.stderr.write(f"DETAIL:  {answer.detail}\n".encode("utf-8", "surrogateescape"))
        return 1
    return 0


def _identifier(name: str) -> str:
    """A name as SQL takes it, quoted where it must be."""
    return name if name.isidentifier() and name == name.lower() else '"' + name.replace('"', '""') + '"'
