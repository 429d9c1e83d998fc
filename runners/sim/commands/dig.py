"""dig of bind9-dnsutils 9.18: ask DNS servers."""

from __future__ import annotations

import ipaddress

from runners.sim.commands.context import Context
from runners.sim.dns import TTL, Query, ask, configured_servers, search_domains
from runners.sim.machine import mix
from runners.sim.network.names import ResolveFailure, resolve, reverse
from runners.text import is_digits

_TYPES = ("A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT", "CAA", "DS", "DNSKEY")
_VERSION = "9.18.28-1~deb12u2-Debian"
_USAGE = (
    "Usage:  dig [@global-server] [domain] [q-type] [q-class] {q-opt}\n"
    "            {global-d-opt} host [@local-server] {local-d-opt}\n"
)
_USAGE_TAIL = (
    "                 [ host [@local-server] {local-d-opt} [...]]\n\n"
    'Use "dig -h" (or "dig -h | more") for complete list of options\n'
)


class _Request:
    def __init__(self) -> None:
        self.names: list[tuple[str, str]] = []
        self.server: str | None = None
        self.kind = "A"
        self.port = 53
        self.flags: dict[str, bool] = {}
        self.timeout = 5.0
        self.tries = 3

    def on(self, flag: str, default: bool) -> bool:
        return self.flags.get(flag, default)


def main(ctx: Context) -> int:
    request = _Request()
    problem = _read(ctx, request)
    if problem is not None:
        return problem
    if not request.names:
        request.names.append((".", "NS"))
    status = 0
    for name, kind in request.names:
        status = _query(ctx, request, name, kind) or status
    return status


def _read(ctx: Context, request: _Request) -> int | None:
    words = list(ctx.args)
    while words:
        word = words.pop(0)
        if word.startswith("@"):
            request.server = word[1:]
        elif word.startswith("+"):
            _plus(request, word[1:])
        elif word in ("-v", "-h"):
            if word == "-v":
                ctx.stderr.write(f"DiG {_VERSION}\n".encode("utf-8", "surrogateescape"))
            else:
                ctx.out(_USAGE)
            return 0
        elif word == "-x" and words:
            address = words.pop(0)
            try:
                request.names.append((ipaddress.ip_address(address).reverse_pointer + ".", "PTR"))
            except ValueError:
                request.names.append((f"{reverse(address)}.", "PTR"))
        elif word in ("-t", "-q", "-p", "-c", "-b", "-y", "-k", "-f") and words:
            value = words.pop(0)
            if word == "-t":
                request.kind = value.upper()
            elif word == "-q":
                request.names.append((value, request.kind))
            elif word == "-p" and is_digits(value):
                request.port = int(value)
        elif word in ("-4", "-6", "-r", "-u", "-m"):
            continue
        elif word.startswith("-"):
            ctx.stderr.write(f"Invalid option: {word}\n{_USAGE}{_USAGE_TAIL}".encode("utf-8", "surrogateescape"))
            return 1
        elif word.upper() in _TYPES:
            request.kind = word.upper()
            if request.names and request.names[-1][1] != "PTR":
                request.names[-1] = (request.names[-1][0], request.kind)
        elif word.upper() in ("IN", "CH", "HS"):
            continue
        else:
            request.names.append((word, request.kind))
    if len(request.names) == 1 and not request.names[0][0].endswith(".arpa."):
        # The type may stand before or after a single name.
        request.names = [(request.names[0][0], request.kind)]
    return None


def _plus(request: _Request, text: str) -> None:
    name, equals, value = text.partition("=")
    if name in ("time", "timeout") and is_digits(value):
        request.timeout = float(value)
    elif name in ("tries", "retry") and is_digits(value):
        request.tries = int(value) + (1 if name == "retry" else 0)
    elif not equals:
        on = not name.startswith("no")
        request.flags[name if on else name[2:]] = on
        if name == "noall":
            sections = ("question", "answer", "comments", "stats", "cmd", "authority", "additional")
            request.flags |= dict.fromkeys(sections, False)
        elif name == "all":
            request.flags |= dict.fromkeys(("question", "answer", "comments", "stats", "cmd"), True)


def _query(ctx: Context, request: _Request, name: str, kind: str) -> int:
    short = request.on("short", False)
    servers = configured_servers(ctx.machine)
    if request.server is not None:
        address = resolve(ctx.machine, request.server)
        if isinstance(address, ResolveFailure):
            ctx.stderr.write(
                f"dig: couldn't get address for '{request.server}': not found\n".encode("utf-8", "surrogateescape")
            )
            return 10
        servers = [address]
    shown = name
    if request.on("search", False) and "." not in name:
        shown = f"{name}.{search_domains(ctx.machine)[0]}" if search_domains(ctx.machine) else name
    full = shown if shown.endswith(".") else f"{shown}."
    query = ask(ctx.machine, full, kind, servers, port=request.port, timeout=request.timeout, tries=request.tries)
    ctx.sleep(query.seconds)
    for failed in query.failures:
        ctx.line(f";; communications error to {failed}#{request.port}: {query.reason}")
    banner = request.on("cmd", True) and not short
    if banner:
        line = " ".join(ctx.args)
        ctx.line(f"\n; <<>> DiG {_VERSION} <<>> {line}")
        if request.server is not None:
            ctx.line("; (1 server found)")
        ctx.line(";; global options: +cmd")
    if query.status == "":
        ctx.line(";; no servers could be reached")
        if not short:
            ctx.line()
        return 9
    if short:
        for _, _, value in query.records:
            ctx.line(value)
        return 0
    _answer(ctx, request, query, full, kind)
    return 0


def _answer(ctx: Context, request: _Request, query: Query, full: str, kind: str) -> None:
    number = mix(f"{full}{ctx.machine.clock.now}") % 65536
    authority = 0 if query.records else 1
    comments = request.on("comments", True)
    if comments:
        ctx.line(";; Got answer:")
        ctx.line(f";; ->>HEADER<<- opcode: QUERY, status: {query.status}, id: {number}")
        ctx.line(f";; flags: qr rd ra; QUERY: 1, ANSWER: {len(query.records)}, AUTHORITY: {authority}, ADDITIONAL: 1")
        ctx.line("\n;; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232")
    if request.on("question", True):
        if comments:
            ctx.line(";; QUESTION SECTION:")
        ctx.line(f";{_padded(full, 31)}IN\t{kind}")
        ctx.line()
    if request.on("answer", True) and query.records:
        if comments:
            ctx.line(";; ANSWER SECTION:")
        for name, record_kind, value in query.records:
            owner = name if name.endswith(".") else f"{name}."
            ctx.line(f"{_padded(owner, 24)}{TTL}\tIN\t{record_kind}\t{value}")
        ctx.line()
    if request.on("authority", True) and authority and comments:
        zone = full.rstrip(".").split(".", 1)[-1] + "." if full.count(".") > 1 else "."
        ctx.line(";; AUTHORITY SECTION:")
        ctx.line(f"{_padded(zone, 24)}900\tIN\tSOA\tns1.{zone} hostmaster.{zone} 2024010101 7200 3600 1209600 3600")
        ctx.line()
    if request.on("stats", True):
        moment = ctx.machine.clock.time()
        ctx.line(f";; Query time: {max(int(query.seconds * 1000), 0)} msec")
        ctx.line(f";; SERVER: {query.server}#{request.port}({query.server}) (UDP)")
        ctx.line(f";; WHEN: {moment:%a %b %d %H:%M:%S} UTC {moment:%Y}")
        ctx.line(f";; MSG SIZE  rcvd: {28 + len(full) + 16 * len(query.records) + 44 * authority}")
        ctx.line()


def _padded(text: str, width: int) -> str:
    """Tabs up to a column, at least one."""
    tabs = max((width - len(text) + 7) // 8, 1)
    return text + "\t" * tabs
