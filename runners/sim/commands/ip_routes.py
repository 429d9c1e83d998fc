"""ip route and ip neighbour: the main table as it is shown, asked and changed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.ip_words import Words, may_change, verb
from runners.sim.net_tools import neighbours
from runners.sim.network.links import add_route, nexthop
from runners.sim.network.state import Interface, Route, dotted, mask, number

_VERBS = ("list", "show", "lst", "get", "add", "change", "chg", "replace", "prepend", "append", "test", "delete",
          "flush", "save")  # fmt: skip
_TYPES = ("unicast", "blackhole", "unreachable", "prohibit")
_IGNORED = ("scope", "table", "mtu", "advmss", "tos", "window", "rtt", "initcwnd", "initrwnd", "pref")
_USAGE = """Usage: ip route { list | flush } SELECTOR
       ip route save SELECTOR
       ip route restore
       ip route showdump
       ip route get [ ROUTE_GET_FLAGS ] ADDRESS
"""


def route(ctx: Context, flags: set[str], words: list[str]) -> int:
    command = verb(ctx, words, _VERBS, "route")
    if command == "get":
        return _get(ctx, words[1:])
    if command in ("add", "replace", "change", "append", "prepend", "delete"):
        return _change(ctx, command, words[1:])
    if "6" in flags:
        for interface in ctx.machine.network.interfaces:
            if interface.name != "lo" and interface.up:
                ctx.line(f"fe80::/64 dev {interface.name} proto kernel metric 256 pref medium")
        return 0
    if command == "flush":
        if len(words) < 2:
            Words(ctx, []).fail('"ip route flush" requires arguments.', 1)
        may_change(ctx)
        gone = [] if words[1:] == ["cache"] else _selected(ctx, words[1:])
        ctx.machine.network.routes = tuple(one for one in ctx.machine.network.routes if one not in gone)
        return 0
    found = _selected(ctx, words[1:])
    if "json" in flags:
        ctx.line(json.dumps([_json(one) for one in found], indent=4 if "pretty" in flags else None))
        return 0
    device = words[words.index("dev") + 1] if "dev" in words[:-1] else ""
    for one in found:
        ctx.line(_text(one, device))
    return 0


def _selected(ctx: Context, words: list[str]) -> list[Route]:
    """The routes that a list of selectors leaves: each narrows the table further."""
    rest = Words(ctx, words)
    found = list(ctx.machine.network.routes)
    while rest:
        word = rest.next()
        if word == "dev":
            name = rest.device().name
            found = [one for one in found if one.device == name]
        elif word == "via":
            gateway = rest.value()
            found = [one for one in found if one.gateway == gateway]
        elif word == "proto":
            kernel = rest.value() == "kernel"
            found = [one for one in found if bool(one.source) == kernel]
        elif word == "table":
            if rest.value() not in ("main", "all", "254"):
                found = []
        elif word in ("scope", "type"):
            rest.value()
        elif word in ("match", "root", "exact"):
            found = [one for one in found if _fits(one, word, rest.prefix(rest.value()))]
        else:
            text = rest.value() if word == "to" else word
            found = [one for one in found if _fits(one, "exact", rest.prefix(text))]
    return found


def _fits(one: Route, how: str, prefix: tuple[str, int] | None) -> bool:
    if prefix is None:
        return False
    network, length = number(prefix[0]), prefix[1]
    if how == "match":
        return one.prefix <= length and one.leads_to(network)
    inside = one.prefix >= length and not (one.network ^ network) >> (32 - length)
    return inside if how == "root" else inside and one.prefix == length


def _text(one: Route, device: str) -> str:
    kind = f"{one.kind} " if one.kind != "unicast" else ""
    via = f"via {one.gateway} " if one.gateway else ""
    dev = f"dev {one.device} " if one.device and one.device != device else ""
    origin = "proto kernel scope link " if one.source else "scope link " if one.device and not one.gateway else ""
    source = f"src {one.source} " if one.source else ""
    metric = f"metric {one.metric} " if one.metric else ""
    return f"{kind}{one.destination} {via}{dev}{origin}{source}{metric}"


def _json(one: Route) -> dict[str, object]:
    return {
        **({"type": one.kind} if one.kind != "unicast" else {}),
        "dst": one.destination,
        **({"gateway": one.gateway} if one.gateway else {}),
        **({"dev": one.device} if one.device else {}),
        **({"protocol": "kernel"} if one.source else {}),
        **({"scope": "link"} if one.device and not one.gateway else {}),
        **({"prefsrc": one.source} if one.source else {}),
        **({"metric": one.metric} if one.metric else {}),
        "flags": [],
    }


_NO_WAY = {"blackhole": "Invalid argument", "unreachable": "No route to host", "prohibit": "Permission denied"}


def _get(ctx: Context, words: list[str]) -> int:
    rest = Words(ctx, words)
    text = ""
    while rest:
        word = rest.next()
        if word in ("from", "iif", "oif", "dev", "mark", "uid", "vrf", "sport", "dport", "ipproto"):
            rest.value()
        elif word not in ("to", "connected", "fibmatch", "notify"):
            text = word
    if not text:
        rest.fail("need at least a destination address", 1)
    prefix = rest.prefix(text)
    network, uid = ctx.machine.network, ctx.cred.uid
    address = text if prefix is None else prefix[0]
    if network.interface(address) is not None:
        ctx.line(f"local {address} dev lo src {address} uid {uid} \n    cache <local> ")
        return 0
    way = network.way(address)
    if way is None:
        found = network.route(number(address)) if prefix is not None else None
        message = "Network is unreachable" if found is None else _NO_WAY.get(found.kind, "Network is unreachable")
        rest.fail(f"RTNETLINK answers: {message}", 2)
    via = f"via {way.gateway} " if way.gateway else ""
    ctx.line(f"{address} {via}dev {way.interface.name} src {way.source} uid {uid} \n    cache ")
    return 0


class _Wanted:
    """What the words of a change say of one route."""

    def __init__(self, rest: Words) -> None:
        self.kind = self.to = self.gateway = ""
        self.device: Interface | None = None
        self.metric: int | None = None
        while rest:
            word = rest.next()
            if word == "via":
                self.gateway = rest.value()
                if self.gateway == "inet":
                    self.gateway = rest.value()
                if number(self.gateway) < 0:
                    rest.fail(f'Error: any valid address is expected rather than "{self.gateway}".', 1)
            elif word == "dev":
                self.device = rest.device()
            elif word in ("metric", "preference", "priority"):
                self.metric = rest.number("metric", '"{}" value is invalid')
            elif word in _IGNORED or word in ("proto", "src"):
                rest.value()
            elif word == "onlink":
                continue
            elif self.to:
                rest.garbage(word, "to")
            elif word in _TYPES and not self.kind:
                self.kind = word
            else:
                self.to = rest.value() if word == "to" else word
                rest.prefix(self.to)
        self.kind = self.kind or "unicast"


def _change(ctx: Context, command: str, words: list[str]) -> int:
    if not words:
        ctx.stderr.write(_USAGE.encode())
        return 255
    rest = Words(ctx, words)
    wanted = _Wanted(rest)
    prefix = rest.prefix(wanted.to or "default")
    may_change(ctx)
    network = ctx.machine.network
    if prefix is None:
        rest.fail("RTNETLINK answers: Permission denied", 2)
    where, length = number(prefix[0]), prefix[1]
    same = [one for one in network.routes if (one.network, one.prefix) == (where, length)]
    if command == "delete":
        return _delete(rest, wanted, same)
    if where & ~mask(length):
        rest.fail("Error: Invalid prefix for given prefix length.", 2)
    device = _device(rest, wanted)
    same = [one for one in same if one.metric == (wanted.metric or 0)]
    if same and command == "add":
        rest.fail("RTNETLINK answers: File exists", 2)
    if not same and command == "change":
        rest.fail("RTNETLINK answers: No such file or directory", 2)
    if same and command in ("replace", "change"):
        network.routes = tuple(one for one in network.routes if one is not same[0])
    gateway = dotted(number(wanted.gateway)) if wanted.gateway else ""
    add_route(network, Route(where, length, gateway, device, wanted.kind, wanted.metric or 0))
    return 0


def _device(rest: Words, wanted: _Wanted) -> str:
    """The device that a new route leads through, "" for a route that leads nowhere."""
    if wanted.kind != "unicast":
        if wanted.gateway or wanted.device is not None:
            rest.fail("Error: Gateway, device and multipath can not be specified for this route type.", 2)
        return ""
    if wanted.device is not None and not wanted.device.up:
        rest.fail("Error: Device for nexthop is not up.", 2)
    if not wanted.gateway:
        if wanted.device is None:
            rest.fail("RTNETLINK answers: No such device", 2)
        return wanted.device.name
    through = nexthop(rest.ctx.machine.network, wanted.gateway)
    if through is None or (wanted.device is not None and through.name != wanted.device.name):
        rest.fail("Error: Nexthop has invalid gateway.", 2)
    return through.name


def _delete(rest: Words, wanted: _Wanted, same: Sequence[Route]) -> int:
    """The first route that what was said fits."""
    gone = next(
        (
            one
            for one in same
            if wanted.gateway in ("", one.gateway)
            and (wanted.device is None or wanted.device.name == one.device)
            and wanted.kind in ("unicast", one.kind)
            and wanted.metric in (None, one.metric)
        ),
        None,
    )
    if gone is None:
        rest.fail("RTNETLINK answers: No such process", 2)
    network = rest.ctx.machine.network
    network.routes = tuple(route for route in network.routes if route is not gone)
    return 0


def neighbour(ctx: Context, words: list[str]) -> int:
    device = words[words.index("dev") + 1] if "dev" in words[:-1] else ""
    for address, hardware, name in neighbours(ctx.machine):
        if device in ("", name):
            ctx.line(f"{address} dev {name} lladdr {hardware} REACHABLE")
    return 0
