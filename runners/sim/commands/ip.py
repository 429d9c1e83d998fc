"""ip of iproute2 6.1: addresses, links, routes and neighbours."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.machine import Machine
from runners.sim.net_tools import counters, network_of, outward, routes
from runners.sim.network.state import Interface

PATH = "/bin/ip"

_USAGE = """Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }
       ip [ -force ] -batch filename
where  OBJECT := { address | link | neighbour | route | rule | netns }
       OPTIONS := { -V[ersion] | -s[tatistics] | -d[etails] | -h[uman-readable] |
                    -4 | -6 | -j[son] | -p[retty] | -br[ief] | -o[neline] | -c[olor] }
"""
_OBJECTS = ("address", "link", "route", "neighbour", "neighbor", "rule", "netns", "maddress", "tunnel", "monitor")
_FLAGS = (
    "brief",
    "oneline",
    "json",
    "pretty",
    "statistics",
    "details",
    "color",
    "human-readable",
    "resolve",
    "4",
    "6",
    "Version",
    "all",
    "force",
)


def main(ctx: Context) -> int:
    words = list(ctx.args)
    flags: set[str] = set()
    while words and words[0].startswith("-"):
        text = words.pop(0).lstrip("-")
        name = text.split("=")[0]
        full = next((flag for flag in _FLAGS if name and flag.startswith(name)), None)
        if text in ("h", "help"):
            ctx.out(_USAGE)
            return 255
        if text == "family" and words:
            flags.add("6" if words.pop(0) == "inet6" else "4")
        elif full is None:
            ctx.stderr.write(f'Option "-{text}" is unknown, try "ip -help".\n'.encode("utf-8", "surrogateescape"))
            return 255
        else:
            flags.add(full)
    if "Version" in flags:
        ctx.line("ip utility, iproute2-6.1.0, libbpf 1.1.0")
        return 0
    if not words or words[0] == "help":
        ctx.stderr.write(_USAGE.encode("utf-8", "surrogateescape"))
        return 255
    target, *rest = words
    kind = next((name for name in _OBJECTS if name.startswith(target)), None)
    if target in ("n", "neigh"):
        kind = "neighbour"
    if kind == "address":
        return _address(ctx, flags, rest)
    if kind == "link":
        return _link(ctx, flags, rest)
    if kind == "route":
        return _route(ctx, flags, rest)
    if kind in ("neighbour", "neighbor"):
        return _neighbours(ctx, rest)
    if kind == "rule":
        ctx.out("0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n")
        return 0
    if kind is None:
        ctx.stderr.write(f'Object "{target}" is unknown, try "ip help".\n'.encode("utf-8", "surrogateescape"))
        return 1
    return 0


def _denied(ctx: Context) -> int:
    ctx.stderr.write(b"RTNETLINK answers: Operation not permitted\n")
    return 2


def _find(ctx: Context, name: str) -> Interface | None:
    for interface in ctx.machine.network.interfaces:
        if interface.name == name:
            return interface
    ctx.stderr.write(f'Device "{name}" does not exist.\n'.encode("utf-8", "surrogateescape"))
    return None


def _chosen(ctx: Context, words: Sequence[str]) -> list[tuple[int, Interface]] | None:
    everything = list(enumerate(ctx.machine.network.interfaces, 1))
    names = [word for word in words if word not in ("show", "list", "ls", "sh", "dev", "up", "lst")]
    if "up" in words:
        everything = [(index, one) for index, one in everything if one.up]
    if not names:
        return everything
    if _find(ctx, names[0]) is None:
        return None
    return [(index, one) for index, one in everything if one.name == names[0]]


def _state(interface: Interface) -> str:
    return "UNKNOWN" if interface.name == "lo" else "UP" if interface.up else "DOWN"


def _first_line(index: int, interface: Interface, *, link: bool) -> str:
    loop = interface.name == "lo"
    kinds = ["LOOPBACK"] if loop else ["BROADCAST", "MULTICAST"]
    flags = ",".join(kinds + (["UP", "LOWER_UP"] if interface.up else []))
    mode = " mode DEFAULT" if link else ""
    discipline = "noqueue" if loop else "fq_codel"
    queue = f"mtu {interface.mtu} qdisc {discipline} state {_state(interface)}{mode}"
    return f"{index}: {interface.name}: <{flags}> {queue} group default qlen 1000"


def _hardware(interface: Interface) -> str:
    if interface.name == "lo":
        return "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00"
    return f"    link/ether {interface.mac} brd ff:ff:ff:ff:ff:ff"


def _local6(interface: Interface) -> str:
    """The link-local address that the kernel derives from the hardware one."""
    octets = [int(part, 16) for part in interface.mac.split(":")]
    octets[0] ^= 2
    words = [octets[0] << 8 | octets[1], octets[2] << 8 | 0xFF, 0xFE00 | octets[3], octets[4] << 8 | octets[5]]
    return str(ipaddress.ip_address("fe80::" + ":".join(f"{word:x}" for word in words)))


def _address(ctx: Context, flags: set[str], words: list[str]) -> int:
    verb = words[0] if words else "show"
    if verb in ("add", "a", "del", "delete", "d", "flush", "replace", "change"):
        return _change_address(ctx, verb, words[1:])
    chosen = _chosen(ctx, words)
    if chosen is None:
        return 1
    if "json" in flags:
        ctx.line(json.dumps([_json(index, one) for index, one in chosen], indent=4 if "pretty" in flags else None))
        return 0
    for index, interface in chosen:
        six = "::1/128" if interface.name == "lo" else f"{_local6(interface)}/64"
        four = f"{interface.address}/{interface.prefix}" if interface.address else ""
        show4, show6 = "6" not in flags and four, "4" not in flags and interface.up
        if "brief" in flags:
            texts = ([four] if show4 else []) + ([six] if show6 else [])
            ctx.line(f"{interface.name:<16} {_state(interface):<14} " + "".join(f"{text} " for text in texts))
            continue
        scope = "host" if interface.name == "lo" else "global"
        broadcast = "" if interface.name == "lo" or not four else f" brd {network_of(interface).broadcast_address}"
        scope6 = "host" if interface.name == "lo" else "link"
        life = "valid_lft forever preferred_lft forever"
        if "oneline" in flags:
            if show4:
                ctx.line(
                    f"{index}: {interface.name}    inet {four}{broadcast} scope {scope} {interface.name}\\       {life}"
                )
            if show6:
                ctx.line(f"{index}: {interface.name}    inet6 {six} scope {scope6} \\       {life}")
            continue
        ctx.line(_first_line(index, interface, link=False))
        if "4" not in flags and "6" not in flags:
            ctx.line(_hardware(interface))
        if show4:
            ctx.line(f"    inet {four}{broadcast} scope {scope} {interface.name}")
            ctx.line(f"       {life}")
        if show6:
            ctx.line(f"    inet6 {six} scope {scope6} ")
            ctx.line(f"       {life}")
    return 0


def _json(index: int, interface: Interface) -> dict[str, object]:
    loop = interface.name == "lo"
    return {
        "ifindex": index,
        "ifname": interface.name,
        "flags": (["LOOPBACK"] if loop else ["BROADCAST", "MULTICAST"]) + (["UP", "LOWER_UP"] if interface.up else []),
        "mtu": interface.mtu,
        "qdisc": "noqueue" if loop else "fq_codel",
        "operstate": _state(interface),
        "group": "default",
        "txqlen": 1000,
        "link_type": "loopback" if loop else "ether",
        "address": interface.mac,
        "broadcast": "00:00:00:00:00:00" if loop else "ff:ff:ff:ff:ff:ff",
        "addr_info": [
            {
                "family": "inet",
                "local": interface.address,
                "prefixlen": interface.prefix,
                "scope": "host" if loop else "global",
                "label": interface.name,
                "valid_life_time": 4294967295,
                "preferred_life_time": 4294967295,
            }
        ],
    }


def _replace(machine: Machine, changed: Interface) -> None:
    machine.network.interfaces = tuple(
        changed if interface.name == changed.name else interface for interface in machine.network.interfaces
    )


def _change_address(ctx: Context, verb: str, words: list[str]) -> int:
    if ctx.cred.uid != 0:
        return _denied(ctx)
    if "dev" not in words[:-1]:
        ctx.stderr.write(b'Not enough information: "dev" argument is required.\n')
        return 1
    interface = _find(ctx, words[words.index("dev") + 1])
    if interface is None:
        return 1
    if verb == "flush":
        _replace(ctx.machine, interface._replace(address=""))
        return 0
    try:
        address = ipaddress.ip_interface(words[0])
    except ValueError:
        ctx.stderr.write(
            f'Error: any valid prefix is expected rather than "{words[0]}".\n'.encode("utf-8", "surrogateescape")
        )
        return 1
    if verb.startswith("d"):
        if str(address.ip) != interface.address:
            ctx.stderr.write(b"RTNETLINK answers: Cannot assign requested address\n")
            return 2
        _replace(ctx.machine, interface._replace(address=""))
        return 0
    if str(address.ip) == interface.address:
        ctx.stderr.write(b"RTNETLINK answers: File exists\n")
        return 2
    _replace(ctx.machine, interface._replace(address=str(address.ip), prefix=address.network.prefixlen))
    return 0


def _link(ctx: Context, flags: set[str], words: list[str]) -> int:
    if words and words[0] == "set":
        return _set_link(ctx, words[1:])
    chosen = _chosen(ctx, words)
    if chosen is None:
        return 1
    for index, interface in chosen:
        loop = interface.name == "lo"
        if "brief" in flags:
            kinds = ["LOOPBACK"] if loop else ["BROADCAST", "MULTICAST"]
            shown = ",".join(kinds + (["UP", "LOWER_UP"] if interface.up else []))
            ctx.line(f"{interface.name:<16} {_state(interface):<14} {interface.mac} <{shown}> ")
            continue
        ctx.line(_first_line(index, interface, link=True))
        ctx.line(_hardware(interface))
        if "statistics" in flags:
            received, received_bytes, sent, sent_bytes = counters(ctx.machine, interface)
            ctx.line("    RX:  bytes packets errors dropped  missed   mcast           ")
            ctx.line(f"    {received_bytes:>10} {received:>7} {0:>6} {0:>7} {0:>7} {0:>7} ")
            ctx.line("    TX:  bytes packets errors dropped carrier collsns           ")
            ctx.line(f"    {sent_bytes:>10} {sent:>7} {0:>6} {0:>7} {0:>7} {0:>7} ")
    return 0


def _set_link(ctx: Context, words: list[str]) -> int:
    if ctx.cred.uid != 0:
        return _denied(ctx)
    words = [word for word in words if word != "dev"]
    interface = _find(ctx, words[0]) if words else None
    if interface is None:
        return 1
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        if word in ("up", "down"):
            interface = interface._replace(up=word == "up")
        elif word == "mtu" and rest:
            interface = interface._replace(mtu=int(rest.pop(0)))
    _replace(ctx.machine, interface)
    return 0


def _route(ctx: Context, flags: set[str], words: list[str]) -> int:
    verb = words[0] if words else "show"
    machine = ctx.machine
    if verb == "get" and len(words) > 1:
        return _route_get(ctx, words[1])
    if verb in ("add", "replace", "del", "delete", "change", "append"):
        return _change_route(ctx, verb, words[1:])
    if "6" in flags:
        for interface in machine.network.interfaces:
            if interface.name != "lo" and interface.up:
                ctx.line(f"fe80::/64 dev {interface.name} proto kernel metric 256 pref medium")
        return 0
    only = next((word for word in words if word in ("default", "0.0.0.0/0")), None)
    for destination, gateway, name in routes(machine):
        if only and destination != "default":
            continue
        if gateway:
            ctx.line(f"default via {gateway} dev {name} ")
        else:
            interface = next(one for one in machine.network.interfaces if one.name == name)
            ctx.line(f"{destination} dev {name} proto kernel scope link src {interface.address} ")
    return 0


def _route_get(ctx: Context, text: str) -> int:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        ctx.stderr.write(
            f'Error: any valid prefix is expected rather than "{text}".\n'.encode("utf-8", "surrogateescape")
        )
        return 1
    machine = ctx.machine
    own = machine.network.interface(text)
    uid = ctx.cred.uid
    if own is not None:
        ctx.line(f"local {text} dev lo src {text} uid {uid} \n    cache <local> ")
        return 0
    first = outward(machine)
    if first is None or not first.address:
        ctx.stderr.write(b"RTNETLINK answers: Network is unreachable\n")
        return 2
    if address in network_of(first):
        ctx.line(f"{text} dev {first.name} src {first.address} uid {uid} \n    cache ")
        return 0
    if not machine.network.gateway:
        ctx.stderr.write(b"RTNETLINK answers: Network is unreachable\n")
        return 2
    ctx.line(f"{text} via {machine.network.gateway} dev {first.name} src {first.address} uid {uid} \n    cache ")
    return 0


def _change_route(ctx: Context, verb: str, words: list[str]) -> int:
    """The default route can be set and taken away; other routes are the interfaces' own."""
    if ctx.cred.uid != 0:
        return _denied(ctx)
    machine = ctx.machine
    default = bool(words) and words[0] in ("default", "0.0.0.0/0")
    if verb.startswith("del"):
        if not default or not machine.network.gateway:
            ctx.stderr.write(b"RTNETLINK answers: No such process\n")
            return 2
        machine.network.gateway = ""
        return 0
    if "via" not in words[:-1] or not default:
        return 0
    gateway = words[words.index("via") + 1]
    if verb == "add" and machine.network.gateway:
        ctx.stderr.write(b"RTNETLINK answers: File exists\n")
        return 2
    first = outward(machine)
    if first is None or ipaddress.ip_address(gateway) not in network_of(first):
        ctx.stderr.write(b"Error: Nexthop has invalid gateway.\n")
        return 2
    machine.network.gateway = gateway
    return 0


def _neighbours(ctx: Context, words: list[str]) -> int:
    machine = ctx.machine
    first = outward(machine)
    if first is None or ("dev" in words and first.name not in words):
        return 0
    near = [machine.network.gateway, *machine.network.hosts]
    for address in dict.fromkeys(one for one in near if one):
        if ipaddress.ip_address(address) in network_of(first):
            last = address.rsplit(".", 1)[-1]
            ctx.line(f"{address} dev {first.name} lladdr 52:54:00:12:35:{int(last):02x} REACHABLE")
    return 0
