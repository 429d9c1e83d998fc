"""nc of netcat-openbsd, and telnet: open a connection and see what is there."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.network.connect import ConnectFailure, Connection, accepted, connect
from runners.sim.network.names import ResolveFailure, resolve, resolve_all
from runners.sim.programs.descriptors import bind
from runners.sim.programs.dialogue import Dialogue
from runners.sim.socket_table import service_name
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("nc", "telnet", "netcat")
PATH = "/bin/nc"

_NC = Tool(
    "nc [-46CDdFhklNnrStUuvZz] [-I length] [-i interval] [-M ttl] [-m minttl] [-O length] [-P proxy_username] "
    "[-p source_port] [-q seconds] [-s sourceaddr] [-T keyword] [-V rtable] [-W recvlimit] [-w timeout] "
    "[-X proxy_protocol] [-x proxy_address[:port]] [destination] [port]",
    "4 6 b C d D F h k l N n r S t U u v z Z I= i= M= m= O= P= p= q= s= T= V= W= w= X= x=",
    "OpenBSD netcat (Debian patchlevel 1.219-1)",
    hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    if ctx.name == "telnet":
        return _telnet(ctx)
    options = _NC.parse(ctx)
    if options.has("h"):
        ctx.stderr.write(
            b"OpenBSD netcat (Debian patchlevel 1.219-1)\nusage: "
            + _NC.usage.encode("utf-8", "surrogateescape")
            + b"\n"
        )
        return 1
    if options.has("l"):
        return _listen(ctx, options)
    if len(options.operands) < 2:
        ctx.stderr.write(b"usage: " + _NC.usage.encode("utf-8", "surrogateescape") + b"\n")
        return 1
    host = options.operands[0]
    ports: list[int] = []
    for text in options.operands[1:]:
        low, dash, high = text.partition("-")
        if not is_digits(low) or (dash and not is_digits(high)) or not 0 < int(low) < 65536 or int(high or 1) > 65535:
            ctx.err(f"port number invalid: {text}" if is_digits(low) else f'service "{text}" unknown')
            return 1
        ports += range(int(low), int(high or low) + 1)
    given = options.value("w")
    if given is not None and not is_digits(given):
        ctx.err(f"timeout invalid: {given}")
        return 1
    timeout = float(given or 130)
    status = 1
    for port in ports:
        ctx.spend(50)
        status = min(
            status,
            _try(ctx, host, port, timeout, verbose=options.has("v"), scan=options.has("z"), udp=options.has("u")),
        )
    return status


def _listen(ctx: Context, options: Options) -> int:
    """Hold a port until somebody connects, or with -k for good."""
    words = [*options.operands, *([options.value("p") or ""] if options.has("p") else [])]
    if not words or not is_digits(words[-1]):
        ctx.stderr.write(b"usage: " + _NC.usage.encode("utf-8", "surrogateescape") + b"\n")
        return 1
    machine, port = ctx.machine, int(words[-1])
    address = resolve(machine, words[0]) if len(words) > 1 else "0.0.0.0"  # noqa: S104
    process = machine.processes.get(ctx.pid)
    if isinstance(address, ResolveFailure) or process is None:
        ctx.err(f"getaddrinfo: {address.message}" if isinstance(address, ResolveFailure) else "Bad file descriptor")
        return 1
    problem = bind(machine, process, address, port, protocol="udp" if options.has("u") else "tcp")
    if problem is not None:
        ctx.err(problem.strerror or "")
        return 1
    if options.has("v"):
        ctx.stderr.write(f"Listening on {address} {port}\n".encode("utf-8", "surrogateescape"))
    keep = options.has("k")
    if ctx.hub is not None:
        ctx.hub.wait(lambda: not keep and accepted(machine, ctx.pid) > 0)
    if options.has("v"):
        ctx.stderr.write(
            f"Connection received on localhost {accepted(machine, ctx.pid) + 40000}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    return 0


def _try(ctx: Context, host: str, port: int, timeout: float, *, verbose: bool, scan: bool, udp: bool) -> int:
    if udp:
        return _udp(ctx, host, port, verbose=verbose)
    addresses = resolve_all(ctx.machine, host)
    result: Connection | ConnectFailure
    for address in (host,) if isinstance(addresses, ResolveFailure) else addresses:
        result = connect(ctx.machine, address, port, cred=ctx.cred, timeout=timeout)
        ctx.sleep(result.seconds)
        if isinstance(result, Connection) or address == host:
            break
        if verbose and address != addresses[-1]:
            ctx.err(f"connect to {_place(host, address)} port {port} (tcp) failed: {result.message}")
    if isinstance(result, ConnectFailure):
        if result.kind == "no-such-host":
            ctx.err(f'getaddrinfo for host "{host}" port {port}: {result.message}')
        elif verbose:
            hurried = result.kind == "timeout" and timeout < 130
            problem = "timed out: Operation now in progress" if hurried else f"failed: {result.message}"
            ctx.err(f"connect to {_place(host, result.address)} port {port} (tcp) {problem}")
        return 1
    if verbose:
        service = service_name(port, "tcp")
        shown = "*" if is_digits(service) else service
        ctx.stderr.write(
            f"Connection to {_place(host, result.address)} {port} port [tcp/{shown}] succeeded!\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    return 0 if scan else _talk(ctx, result)


def _place(host: str, address: str) -> str:
    return host if host == address else f"{host} ({address})"


def _udp(ctx: Context, host: str, port: int, *, verbose: bool) -> int:
    address = resolve(ctx.machine, host)
    if isinstance(address, ResolveFailure):
        ctx.err(f'getaddrinfo for host "{host}" port {port}: {address.message}')
        return 1
    own = ctx.machine.network.interface(address)
    if own is not None and ctx.machine.processes.listener("udp", port, address) is None:
        return 1
    if verbose:
        name = service_name(port, "udp")
        shown = "*" if is_digits(name) else name
        ctx.stderr.write(
            f"Connection to {_place(host, address)} {port} port [udp/{shown}] succeeded!\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    return 0


def _talk(ctx: Context, connection: Connection) -> int:
    """Send standard input, print what comes back at once."""
    dialogue = Dialogue(ctx.machine, connection)
    sent = ctx.stdin.read(65536)
    if sent:
        dialogue.send(sent)
    ctx.sleep(dialogue.seconds)
    ctx.stdout.write(bytes(dialogue.answer))
    return 0


def _telnet(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if not words:
        ctx.line("telnet> ")
        return 1
    host = words[0]
    port = int(words[1]) if len(words) > 1 and is_digits(words[1]) else 23
    address = resolve(ctx.machine, host)
    if isinstance(address, ResolveFailure):
        ctx.sleep(address.seconds)
        ctx.stderr.write(
            f"telnet: could not resolve {host}/{words[1] if len(words) > 1 else 'telnet'}: {address.message}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 1
    ctx.line(f"Trying {address}...")
    result = connect(ctx.machine, host, port, cred=ctx.cred)
    ctx.sleep(result.seconds)
    if isinstance(result, ConnectFailure):
        ctx.stderr.write(
            f"telnet: Unable to connect to remote host: {result.message}\n".encode("utf-8", "surrogateescape")
        )
        return 1
    ctx.line(f"Connected to {host}.\nEscape character is '^]'.")
    _talk(ctx, result)
    ctx.line("Connection closed by foreign host.")
    return 1
