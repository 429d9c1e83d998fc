"""getent of glibc: entries of the name service databases."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.network.names import ResolveFailure, canonical, resolve, resolve_all
from runners.sim.socket_table import SERVICES
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "getent [OPTION...] database [key ...]",
    "i,no-idn s,service= A,no-addrconfig",
    "getent (Debian GLIBC 2.36-9+deb12u9) 2.36",
    status=1,
)
_FILES = {"passwd": "/etc/passwd", "group": "/etc/group", "shadow": "/etc/shadow", "services": "/etc/services",
          "protocols": "/etc/protocols", "networks": "/etc/networks", "gshadow": "/etc/gshadow"}  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "wrong number of arguments")
    database, *keys = options.operands
    if database in ("hosts", "ahosts", "ahostsv4", "ahostsv6"):
        return _hosts(ctx, database, keys)
    if database == "initgroups":
        known = accounts(ctx.machine)
        for key in keys:
            gids = sorted(known.cred(key).groups) if known.user(key) else []
            ctx.line(f"{key:<21}{''.join(f' {gid}' for gid in gids)}")
        return 0
    path = _FILES.get(database)
    if path is None:
        ctx.stderr.write(f"Unknown database: {database}\n".encode("utf-8", "surrogateescape"))
        ctx.line("Try `getent --help' or `getent --usage' for more information.")
        return 1
    try:
        lines = ctx.files.text(path).splitlines()
    except OSError:
        return 2
    lines = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        for line in lines:
            ctx.line(line)
        return 0
    status = 0
    for key in keys:
        found = next((line for line in lines if _matches(line, database, key)), None)
        if found is None and database == "services" and is_digits(key) and int(key) in SERVICES:
            found = f"{SERVICES[int(key)]:<21} {key}/tcp"
        if found is None:
            status = 2
        else:
            ctx.line(found)
    return status


def _matches(line: str, database: str, key: str) -> bool:
    if database in ("services", "protocols", "networks"):
        words = line.split()
        return key in words[0:1] or (len(words) > 1 and key in (words[1], words[1].split("/")[0]))
    fields = line.split(":")
    return fields[0] == key or (
        is_digits(key) and len(fields) > 2 and fields[2] == key and database in ("passwd", "group")
    )


def _hosts(ctx: Context, database: str, keys: list[str]) -> int:
    if not keys:
        for line in ctx.files.text("/etc/hosts").splitlines():
            words = line.split("#", 1)[0].split()
            if len(words) > 1:
                ctx.line(f"{words[0]:<15} {' '.join(words[1:])}")
        return 0
    status = 0
    for key in keys:
        address = resolve(ctx.machine, key)
        if isinstance(address, ResolveFailure):
            ctx.sleep(address.seconds)
            status = 2
        elif database == "hosts" and _six(ctx, key):
            ctx.line(_six(ctx, key))
        elif database == "hosts":
            names = _names_of(ctx, address, key)
            ctx.line(f"{address:<15} {names}")
        else:
            name = _names_of(ctx, address, key).split()[0]
            for place, one in enumerate(_family(ctx, database, key)):
                for index, kind in enumerate(("STREAM", "DGRAM", "RAW")):
                    ctx.line(f"{one:<15} {kind:<6} {name if place == index == 0 else ''}")
    return status


def _family(ctx: Context, database: str, key: str) -> list[str]:
    """The addresses that the database gives: all, or one family's (IPv4 ones mapped, where only IPv6 is asked for)."""
    found = resolve_all(ctx.machine, key)
    addresses = list(found) if not isinstance(found, ResolveFailure) else []
    if database == "ahosts":
        return addresses
    wanted = [one for one in addresses if (":" in one) == (database == "ahostsv6")]
    return wanted or [f"::ffff:{one}" for one in addresses if database == "ahostsv6"]


def _six(ctx: Context, key: str) -> str:
    """The line of /etc/hosts that gives the name an IPv6 address, which getent prefers."""
    if not ctx.files.exists("/etc/hosts"):
        return ""
    for line in ctx.machine.view().text("/etc/hosts").splitlines():
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and ":" in words[0] and key in words[1:]:
            return f"{words[0]:<15} {' '.join(words[1:])}"
    return ""


def _names_of(ctx: Context, address: str, key: str) -> str:
    for line in ctx.machine.view().text("/etc/hosts").splitlines() if ctx.files.exists("/etc/hosts") else []:
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and words[0] == address and (key in words[1:] or key == address):
            return " ".join(words[1:])
    return canonical(ctx.machine, key)
