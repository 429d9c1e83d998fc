"""ping of iputils 20221126: ICMP echo."""

from __future__ import annotations

import ipaddress

from runners.sim.commands.context import Context
from runners.sim.net_tools import outward
from runners.sim.network.firewall import Packet, verdict
from runners.sim.network.names import ResolveFailure, resolve, resolve_all
from runners.sim.tool import Tool

PATH = "/bin/ping"

_TOOL = Tool(
    "ping [options] <destination>",
    "4 6 a A b B c= D d f h i= I= l= L m= M= n O p= q Q= r R s= S= t= T= U v V w= W= N=",
    "ping from iputils 20221126",
    status=2,
    hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("ping from iputils 20221126")
        return 0
    if not options.operands:
        ctx.stderr.write(b"ping: usage error: Destination address required\n")
        return 1
    for letter in ("c", "i", "w", "W"):
        value = options.value(letter)
        if value is not None and not value.replace(".", "", 1).isdigit():
            ctx.stderr.write(f"ping: invalid argument: '{value}'\n".encode("utf-8", "surrogateescape"))
            return 1
    target = options.operands[-1]
    address = resolve(ctx.machine, target)
    if isinstance(address, ResolveFailure):
        ctx.sleep(address.seconds)
        ctx.err(f"{target}: {address.message}")
        return 2
    six = _six(ctx, target, options.has("4"))
    address = six or address
    reach = _reach(ctx, address)
    if reach == "network":
        ctx.err("connect: Network is unreachable")
        return 2
    count = int(options.value("c") or 0) or 10
    interval = float(options.value("i") or 1.0)
    deadline = float(options.value("w") or 0)
    if deadline:
        count = min(count, max(int(deadline / interval), 1))
    if six:
        ctx.line(f"PING {target}({target} ({address})) 56 data bytes")
    else:
        ctx.line(f"PING {target} ({address}) 56(84) bytes of data.")
    times: list[float] = []
    errors = 0
    for sequence in range(1, count + 1):
        if sequence > 1:
            ctx.sleep(interval)
        if reach == "prohibited":
            ctx.stderr.write(b"ping: sendmsg: Operation not permitted\n")
            continue
        if reach == "unreachable":
            errors += 1
            own = outward(ctx.machine)
            if not options.has("q"):
                ctx.line(f"From {own.address if own else address} icmp_seq={sequence} Destination Host Unreachable")
            continue
        if reach == "lost":
            continue
        spread = ctx.machine.random("ping")
        milliseconds = 0.021 + spread * 0.03 if reach == "self" else 0.35 + spread * 0.4
        times.append(milliseconds)
        if not options.has("q"):
            name = address if options.has("n") or target == address else f"{target} ({address})"
            ttl = 64
            ctx.line(f"64 bytes from {name}: icmp_seq={sequence} ttl={ttl} time={_time(milliseconds)} ms")
    if reach == "lost":
        ctx.sleep(float(options.value("W") or 10))
    ctx.line()
    ctx.line(f"--- {target} ping statistics ---")
    loss = f"{(count - len(times)) * 100 / count:g}%"
    failed = f"+{errors} errors, " if errors else ""
    elapsed = int((count - 1) * interval * 1000) + count - 1
    ctx.line(f"{count} packets transmitted, {len(times)} received, {failed}{loss} packet loss, time {elapsed}ms")
    if times:
        mean = sum(times) / len(times)
        deviation = (sum((value - mean) ** 2 for value in times) / len(times)) ** 0.5
        ctx.line(f"rtt min/avg/max/mdev = {min(times):.3f}/{mean:.3f}/{max(times):.3f}/{deviation:.3f} ms")
    else:
        ctx.line()
    return 0 if times else 1


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.3f}" if milliseconds < 1 else f"{milliseconds:.2f}"


def _six(ctx: Context, target: str, only_four: bool) -> str:
    """The IPv6 address that a name has first, "" where it has none."""
    found = resolve_all(ctx.machine, target)
    return found[0] if not isinstance(found, ResolveFailure) and ":" in found[0] and not only_four else ""


def _reach(ctx: Context, address: str) -> str:
    """self, other, lost (no answer), unreachable, prohibited (own firewall) or network (no route)."""
    network = ctx.machine.network
    own = network.interface(address)
    out = outward(ctx.machine)
    source = address if own is not None else out.address if out is not None else ""
    interface = "lo" if own is not None else out.name if out is not None else ""
    if ":" in address:
        return "self" if own is not None else "network"
    packet = Packet(source, address, "icmp", out_interface=interface)
    if verdict(network.tables, "OUTPUT", packet) != "ACCEPT":
        return "prohibited"
    if own is not None:
        back = Packet(source, address, "icmp", in_interface="lo")
        return "self" if verdict(network.tables, "INPUT", back) == "ACCEPT" else "lost"
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return "network"
    if out is None or not network.gateway:
        return "network"
    answer = Packet(address, source, "icmp", in_interface=out.name, state="ESTABLISHED")
    if verdict(network.tables, "INPUT", answer) != "ACCEPT":
        return "lost"
    if address == network.gateway:
        return "other"
    host = network.hosts.get(address)
    if host is None:
        return "lost"
    return "other" if host.up else "unreachable"
