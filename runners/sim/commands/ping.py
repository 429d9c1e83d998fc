"""ping of iputils 20221126: ICMP echo."""

from __future__ import annotations

import ipaddress
from signal import SIGINT
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.following import interrupted_at
from runners.sim.commands.waiting import Killed
from runners.sim.network.firewall import Packet, verdict
from runners.sim.network.names import ResolveFailure, canonical, resolve, resolve_all
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("ping", "ping4", "ping6")
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
        if value is not None and not is_digits(value.replace(".", "", 1)):
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
    interval = float(options.value("i") or 1.0)
    # Without a number it goes on until somebody interrupts it, or until the line is out of time.
    count = int(float(options.value("c") or 0)) or None
    deadline = float(options.value("w") or 0)
    if deadline:
        most = max(int(deadline / interval), 1)
        count = most if count is None else min(count, most)
    name = target if _is_address(target) else canonical(ctx.machine, target)
    if six:
        ctx.line(f"PING {target}({name} ({address})) 56 data bytes")
    else:
        ctx.line(f"PING {name} ({address}) 56(84) bytes of data.")
    shown = address if options.has("n") or target == address else f"{name} ({address})"
    tally = _Tally()
    interrupted = False
    try:
        interrupted = _echo(ctx, tally, _Course(reach, address, shown, interval, count, options.has("q")))
        if reach == "lost" and not interrupted:
            ctx.sleep(float(options.value("W") or 10))
    except Killed as killed:
        if killed.signal != SIGINT:
            raise
    if interrupted:
        ctx.out("^C")
    _summary(ctx, tally, name, interval)
    return 0 if tally.times else 1


class _Course(NamedTuple):
    """What is asked: `reach` as `_reach` says it, `shown` the answering host, `most` echoes, None without an end."""

    reach: str
    address: str
    shown: str
    interval: float
    most: int | None
    quiet: bool


class _Tally:
    """What came of it so far: echoes sent, milliseconds of those answered, errors told of."""

    __slots__ = ("errors", "sent", "times")

    def __init__(self) -> None:
        self.sent = 0
        self.errors = 0
        self.times: list[float] = []


def _echo(ctx: Context, tally: _Tally, course: _Course) -> bool:
    """Send one echo after another; True where somebody at the terminal had enough."""
    end = interrupted_at(ctx)
    while course.most is None or tally.sent < course.most:
        if tally.sent:
            ctx.sleep(course.interval)
        if course.most is None and ctx.machine.clock.now >= end:
            return True
        tally.sent += 1
        ctx.spend(20)
        if course.reach == "prohibited":
            ctx.stderr.write(b"ping: sendmsg: Operation not permitted\n")
        elif course.reach == "unreachable":
            tally.errors += 1
            way = ctx.machine.network.way(course.address)
            if not course.quiet:
                source = way.source if way is not None else course.address
                ctx.line(f"From {source} icmp_seq={tally.sent} Destination Host Unreachable")
        elif course.reach != "lost":
            spread = ctx.machine.random("ping")
            milliseconds = 0.021 + spread * 0.03 if course.reach == "self" else 0.35 + spread * 0.4
            tally.times.append(milliseconds)
            if not course.quiet:
                ctx.line(f"64 bytes from {course.shown}: icmp_seq={tally.sent} ttl=64 time={_time(milliseconds)} ms")
    return False


def _summary(ctx: Context, tally: _Tally, name: str, interval: float) -> None:
    times, sent = tally.times, max(tally.sent, 1)
    ctx.line()
    ctx.line(f"--- {name} ping statistics ---")
    loss = f"{(sent - len(times)) * 100 / sent:g}%"
    failed = f"+{tally.errors} errors, " if tally.errors else ""
    elapsed = int((sent - 1) * interval * 1000) + sent - 1
    ctx.line(f"{sent} packets transmitted, {len(times)} received, {failed}{loss} packet loss, time {elapsed}ms")
    if times:
        mean = sum(times) / len(times)
        deviation = (sum((value - mean) ** 2 for value in times) / len(times)) ** 0.5
        ctx.line(f"rtt min/avg/max/mdev = {min(times):.3f}/{mean:.3f}/{max(times):.3f}/{deviation:.3f} ms")
    else:
        ctx.line()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


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
    if ":" in address:
        return "self" if own is not None else "network"
    way = network.way(address) if own is None else None
    if own is None and way is None:
        return "network"
    source, interface = (way.source, way.interface.name) if way is not None else (address, "lo")
    packet = Packet(source, address, "icmp", out_interface=interface)
    if verdict(network.tables, "OUTPUT", packet) != "ACCEPT":
        return "prohibited"
    if way is None:
        back = Packet(source, address, "icmp", in_interface="lo")
        return "self" if verdict(network.tables, "INPUT", back) == "ACCEPT" else "lost"
    answer = Packet(address, source, "icmp", in_interface=interface, state="ESTABLISHED")
    if verdict(network.tables, "INPUT", answer) != "ACCEPT":
        return "lost"
    if address == network.router:
        return "other"
    if way.gateway not in ("", network.router):
        return "unreachable"
    host = network.hosts.get(address)
    if host is None:
        return "lost"
    return "other" if host.up else "unreachable"
