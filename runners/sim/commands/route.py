"""route, ifconfig and arp of net-tools: the older ways to ask for what ip shows."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.net_tools import counters, neighbours, route_table
from runners.sim.network.state import Interface, dotted, mask

NAMES = ("route", "ifconfig", "arp")
PATH = "/sbin/route"


def main(ctx: Context) -> int:
    if ctx.name == "ifconfig":
        return _ifconfig(ctx)
    if ctx.name == "arp":
        return _arp(ctx)
    if ctx.args and not ctx.args[0].startswith("-"):
        return ctx.run(["ip", "route", ctx.args[0], *(_route_words(ctx.args[1:]))])
    for line in route_table(ctx.machine, netstat=False):
        ctx.line(line)
    return 0


def _route_words(words: list[str]) -> list[str]:
    return [{"gw": "via"}.get(word, word) for word in words if word not in ("-net", "-host")]


def _arp(ctx: Context) -> int:
    ctx.line("Address                  HWtype  HWaddress           Flags Mask            Iface")
    for address, hardware, interface in neighbours(ctx.machine):
        ctx.line(f"{address:<24} ether   {hardware}   C                     {interface}")
    return 0


def _ifconfig(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    interfaces = sorted(ctx.machine.network.interfaces, key=lambda interface: interface.name)
    if words:
        interfaces = [interface for interface in interfaces if interface.name == words[0]]
        if not interfaces:
            ctx.stderr.write(
                f"{words[0]}: error fetching interface information: Device not found\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
            return 1
        if len(words) > 1 and words[1] in ("up", "down"):
            return ctx.run(["ip", "link", "set", words[0], words[1]])
    for interface in interfaces:
        if interface.up or "-a" in ctx.args or words:
            ctx.out(_block(ctx, interface))
    return 0


def _block(ctx: Context, interface: Interface) -> str:
    loop = interface.name == "lo"
    received, received_bytes, sent, sent_bytes = counters(ctx.machine, interface)
    kinds = (
        "UP,LOOPBACK,RUNNING" if loop else "UP,BROADCAST,RUNNING,MULTICAST" if interface.up else "BROADCAST,MULTICAST"
    )
    number = 73 if loop else 4163 if interface.up else 4098
    lines = [f"{interface.name}: flags={number}<{kinds}>  mtu {interface.mtu}"]
    # A further address shows only where it was given a label of its own.
    for address in interface.addresses[:1]:
        broadcast = f"  broadcast {address.broadcast or dotted(0)}" if not loop else ""
        lines.append(f"        inet {address.text}  netmask {dotted(mask(address.prefix))}{broadcast}")
    lines.append(
        "        loop  txqueuelen 1000  (Local Loopback)" if loop
        else f"        ether {interface.mac}  txqueuelen 1000  (Ethernet)"
    )  # fmt: skip
    for label, packets, size, tail in (
        ("RX", received, received_bytes, "dropped 0  overruns 0  frame 0"),
        ("TX", sent, sent_bytes, "dropped 0 overruns 0  carrier 0  collisions 0"),
    ):
        lines.append(f"        {label} packets {packets}  bytes {size} ({_size(size)})")
        lines.append(f"        {label} errors 0  {tail}")
    return "\n".join(lines) + "\n\n"


def _size(size: int) -> str:
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
