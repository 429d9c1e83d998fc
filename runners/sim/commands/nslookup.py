"""nslookup and host of bind9: shorter ways to ask DNS."""

from __future__ import annotations

import ipaddress
import re

from runners.sim.commands.context import Context
from runners.sim.dns import Query, ask, configured_servers, search_domains
from runners.sim.machine import Machine
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.tool import Tool

NAMES = ("nslookup", "host")

_HOST = Tool(
    "host [-aCdilrTvVw] [-c class] [-N ndots] [-t type] [-W time]\n            [-R number] [-m flag] "
"[-p port] hostname [server]",
    "a c= C d i l N= r R= s t= T U v V w W= p= 4 6 m=",
    "host 9.18.28-1~deb12u2-Debian",
    hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    return _host(ctx) if ctx.name == "host" else _nslookup(ctx)


def _servers(ctx: Context, name: str | None) -> list[str] | None:
    if name is None:
        return configured_servers(ctx.machine)
    address = resolve(ctx.machine, name)
    return None if isinstance(address, ResolveFailure) else [address]


def _pointer(text: str) -> str | None:
    try:
        return ipaddress.ip_address(text).reverse_pointer
    except ValueError:
        return None


def _searched(machine: Machine, name: str, kind: str, servers: list[str], timeout: float) -> Query:
    """Ask for the name, and for a short one with the search domains behind it first."""
    candidates = [f"{name}.{domain}" for domain in search_domains(machine)] if "." not in name else []
    answer = ask(machine, name, kind, servers, timeout=timeout, tries=1)
    for candidate in [*candidates, name]:
        answer = ask(machine, candidate, kind, servers, timeout=timeout, tries=1)
        if answer.status != "NXDOMAIN":
            return answer
    return answer


def _nslookup(ctx: Context) -> int:
    kind = "A"
    words = []
    for word in ctx.args:
        if word.startswith("-"):
            name, _, value = word[1:].partition("=")
            if name in ("type", "query", "querytype", "q", "ty"):
                kind = value.upper()
        else:
            words.append(word)
    if not words:
        return 0
    servers = _servers(ctx, words[1] if len(words) > 1 else None)
    if servers is None:
        ctx.line(f"nslookup: couldn't get address for '{words[1]}': not found")
        return 1
    pointer = _pointer(words[0])
    answer = _searched(ctx.machine, pointer or words[0], "PTR" if pointer else kind, servers, 5.0)
    ctx.sleep(answer.seconds)
    if answer.status == "":
        for failed in answer.failures:
            ctx.line(f";; communications error to {failed}#53: {answer.reason}")
        ctx.line(";; no servers could be reached\n")
        return 1
    if pointer:
        for _, _, value in answer.records:
            ctx.line(f"{pointer}\tname = {value}")
        if not answer.records:
            ctx.line(f"** server can't find {pointer}: {answer.status}")
            return 1
        ctx.line()
        return 0
    ctx.line(f"Server:\t\t{answer.server}\nAddress:\t{answer.server}#53\n")
    if answer.status == "NXDOMAIN":
        ctx.line(f"** server can't find {words[0]}: NXDOMAIN\n")
        return 1
    if not answer.records:
        ctx.line(f"*** Can't find {words[0]}: No answer\n")
        return 0
    ctx.line("Non-authoritative answer:")
    for name, record, value in answer.records:
        ctx.line(
            f"Name:\t{name}\nAddress: {value}" if record in ("A", "AAAA") else f"{name}\t{record.lower()} = {value}"
        )
    ctx.line()
    return 0


def _host(ctx: Context) -> int:
    options = _HOST.parse(ctx)
    if options.has("V"):
        ctx.stderr.write(b"host 9.18.28-1~deb12u2-Debian\n")
        return 0
    if not options.operands:
        ctx.stderr.write(f"Usage: {_HOST.usage}\n".encode("utf-8", "surrogateescape"))
        return 1
    name = options.operands[0]
    named = options.operands[1] if len(options.operands) > 1 else None
    servers = _servers(ctx, named)
    if servers is None:
        ctx.line(f"host: couldn't get address for '{named}': not found")
        return 1
    pointer = _pointer(name)
    kind = (options.value("t") or ("PTR" if pointer else "A")).upper()
    # As atoi(3) reads it, and no less than a second.
    digits = re.match(r"\d{1,6}", options.value("W") or "5")
    patience = max(float(digits.group()) if digits else 0.0, 1.0)
    answer = _searched(ctx.machine, pointer or name, kind, servers, patience)
    ctx.sleep(answer.seconds)
    if answer.status == "":
        for failed in answer.failures:
            ctx.line(f";; communications error to {failed}#53: {answer.reason}")
        ctx.line(";; no servers could be reached")
        return 1
    if named:
        ctx.line(f"Using domain server:\nName: {named}\nAddress: {answer.server}#53\nAliases: \n")
    if answer.status == "NXDOMAIN":
        ctx.line(f"Host {pointer + '.' if pointer else name} not found: 3(NXDOMAIN)")
        return 1
    if not answer.records:
        ctx.line(f"{name} has no {kind} record")
        return 0
    for owner, record, value in answer.records:
        words = {"A": "has address", "AAAA": "has IPv6 address", "PTR": "domain name pointer"}.get(record, record)
        ctx.line(f"{pointer or owner} {words} {value}")
    return 0
