"""ip link and ip address: interfaces as they are shown and changed."""

from __future__ import annotations

import ipaddress
import json

from runners.sim.commands.context import Context
from runners.sim.commands.ip_words import Words, chosen, may_change, verb
from runners.sim.net_tools import counters
from runners.sim.network.links import add_address, delete_address, put, set_up
from runners.sim.network.state import Address, Interface, dotted, mask, number

_FOREVER = "valid_lft forever preferred_lft forever"


def _state(interface: Interface) -> str:
    return "DOWN" if not interface.up else "UNKNOWN" if interface.name == "lo" else "UP"


def _flags(interface: Interface) -> list[str]:
    kinds = ["LOOPBACK"] if interface.name == "lo" else ["BROADCAST", "MULTICAST"]
    return kinds + (["UP", "LOWER_UP"] if interface.up else [])


def _first_line(index: int, interface: Interface, *, link: bool) -> str:
    mode = " mode DEFAULT" if link else ""
    discipline = "noqueue" if interface.name == "lo" else "fq_codel"
    shape = f"mtu {interface.mtu} qdisc {discipline} state {_state(interface)}{mode}"
    return f"{index}: {interface.name}: <{','.join(_flags(interface))}> {shape} group default qlen {interface.queue}"


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


def address(ctx: Context, flags: set[str], words: list[str]) -> int:
    command = verb(ctx, words, ("add", "change", "replace", "delete", "show", "list", "lst", "flush"), "address")
    if command in ("add", "delete", "replace", "change"):
        return _change_address(ctx, command, words[1:])
    if command == "flush":
        return _flush(ctx, words[1:])
    interfaces = chosen(ctx, words[1:])
    if "json" in flags:
        ctx.line(json.dumps([_json(index, one) for index, one in interfaces], indent=4 if "pretty" in flags else None))
        return 0
    for index, interface in interfaces:
        _show(ctx, flags, index, interface)
    return 0


def _show(ctx: Context, flags: set[str], index: int, interface: Interface) -> None:
    name, loop = interface.name, interface.name == "lo"
    fours = interface.addresses if "6" not in flags else ()
    six = ("::1/128" if loop else f"{_local6(interface)}/64") if "4" not in flags and interface.up else ""
    if "brief" in flags:
        texts = [f"{one.text}/{one.prefix}" for one in fours] + [six] * bool(six)
        ctx.line(f"{name:<16} {_state(interface):<14} " + "".join(f"{text} " for text in texts))
        return
    lines = [f"inet {_four(interface, one)}" for one in fours]
    if six:
        lines.append(f"inet6 {six} scope {'host' if loop else 'link'} ")
    if "oneline" in flags:
        for line in lines:
            ctx.line(f"{index}: {name}    {line}\\       {_FOREVER}")
        return
    if flags & {"4", "6"} and not lines:
        return
    ctx.line(_first_line(index, interface, link=False))
    if not flags & {"4", "6"}:
        ctx.line(_hardware(interface))
    for line in lines:
        ctx.line(f"    {line}")
        ctx.line(f"       {_FOREVER}")


def _four(interface: Interface, one: Address) -> str:
    broadcast = f" brd {one.broadcast}" if one.broadcast else ""
    secondary = " secondary" if interface.secondary(one) else ""
    return f"{one.text}/{one.prefix}{broadcast} scope {one.scope}{secondary} {one.label or interface.name}"


def _json(index: int, interface: Interface) -> dict[str, object]:
    loop = interface.name == "lo"
    return {
        "ifindex": index,
        "ifname": interface.name,
        "flags": _flags(interface),
        "mtu": interface.mtu,
        "qdisc": "noqueue" if loop else "fq_codel",
        "operstate": _state(interface),
        "group": "default",
        "txqlen": interface.queue,
        "link_type": "loopback" if loop else "ether",
        "address": interface.mac,
        "broadcast": "00:00:00:00:00:00" if loop else "ff:ff:ff:ff:ff:ff",
        "addr_info": [
            {
                "family": "inet",
                "local": one.text,
                "prefixlen": one.prefix,
                **({"broadcast": one.broadcast} if one.broadcast else {}),
                "scope": one.scope,
                **({"secondary": True} if interface.secondary(one) else {}),
                "label": one.label or interface.name,
                "valid_life_time": 4294967295,
                "preferred_life_time": 4294967295,
            }
            for one in interface.addresses
        ],
    }


def _change_address(ctx: Context, command: str, words: list[str]) -> int:
    rest = Words(ctx, words)
    name = label = text = broadcast = ""
    while rest:
        word = rest.next()
        if word == "dev":
            name = rest.value()
        elif word == "label":
            label = rest.value()
        elif word in ("brd", "broadcast"):
            broadcast = rest.value()
            if broadcast not in ("+", "-") and number(broadcast) < 0:
                rest.fail(f'Error: inet address is expected rather than "{broadcast}".', 1)
        elif word in ("scope", "valid_lft", "preferred_lft", "metric", "proto", "peer", "remote", "anycast"):
            rest.value()
        elif word in ("home", "nodad", "mngtmpaddr", "noprefixroute", "autojoin"):
            continue
        elif text:
            rest.garbage(word, "local")
        else:
            text = rest.value() if word == "local" else word
            rest.prefix(text)
    if not name:
        rest.fail('Not enough information: "dev" argument is required.', 1)
    given = rest.prefix(text) if text else None
    interface = rest.named(name)
    may_change(ctx)
    if not text:
        rest.fail("RTNETLINK answers: Operation not supported", 2)
    if given is None:
        # Addresses of IPv6 are not kept here: this machine has those of its links alone.
        rest.fail("RTNETLINK answers: Permission denied", 2)
    plain, prefix = dotted(number(given[0])), given[1]
    if command == "delete":
        return _delete(rest, interface, plain, prefix, bare="/" not in text)
    whole = dotted(number(plain) | ~mask(prefix) & 0xFFFFFFFF)
    new = Address(plain, prefix, {"+": whole, "-": ""}.get(broadcast, broadcast), label)
    if command != "add" and any((one.text, one.prefix) == (plain, prefix) for one in interface.addresses):
        return 0
    refused = add_address(ctx.machine.network, interface, new)
    if refused is not None:
        rest.refuse(refused)
    return 0


def _delete(rest: Words, interface: Interface, plain: str, prefix: int, *, bare: bool) -> int:
    """An address without a length stands for the one of any length, for old scripts' sake."""
    gone = next((one for one in interface.addresses if one.text == plain and (bare or one.prefix == prefix)), None)
    if bare and (gone is None or gone.prefix != 32):
        rest.ctx.stderr.write(
            b"Warning: Executing wildcard deletion to stay compatible with old scripts.\n"
            + f"         Explicitly specify the prefix length ({plain}/32) to avoid this warning.\n".encode()
            + b"         This special behaviour is likely to disappear in further releases,\n"
            b"         fix your scripts!\n"
        )
    if gone is None:
        rest.fail("Error: ipv4: Address not found.", 2)
    delete_address(rest.ctx.machine.network, interface, gone)
    return 0


def _flush(ctx: Context, words: list[str]) -> int:
    if not words:
        Words(ctx, []).fail("Flush requires arguments.", 1)
    network = ctx.machine.network
    wanted = [one.name for _, one in chosen(ctx, words)]
    rest = Words(ctx, words)
    scope = label = ""
    subnet: tuple[str, int] | None = None
    while rest:
        word = rest.next()
        if word in ("scope", "label"):
            scope, label = (rest.value(), label) if word == "scope" else (scope, rest.value())
        elif word == "to":
            subnet = rest.prefix(rest.value())
    may_change(ctx)
    for name in wanted:
        for one in rest.named(name).addresses:
            interface = rest.named(name)
            inside = subnet is None or not (number(one.text) ^ number(subnet[0])) >> (32 - subnet[1])
            if one in interface.addresses and inside and scope in ("", one.scope) and label in ("", one.label or name):
                delete_address(network, interface, one)
    return 0


def link(ctx: Context, flags: set[str], words: list[str]) -> int:
    command = verb(ctx, words, ("add", "set", "change", "replace", "delete", "show", "lst", "list"), "link")
    if command in ("set", "change"):
        return _set_link(ctx, words[1:])
    if command in ("add", "replace", "delete"):
        return _no_other_links(ctx, command, words[1:])
    for index, interface in chosen(ctx, words[1:]):
        if "brief" in flags:
            shown = ",".join(_flags(interface))
            ctx.line(f"{interface.name:<16} {_state(interface):<14} {interface.mac} <{shown}> ")
            continue
        first, hardware = _first_line(index, interface, link=True), _hardware(interface)
        if "oneline" in flags:
            ctx.line(f"{first}\\{hardware}")
            continue
        ctx.line(first)
        ctx.line(hardware)
        if "statistics" in flags:
            received, received_bytes, sent, sent_bytes = counters(ctx.machine, interface)
            ctx.line("    RX:  bytes packets errors dropped  missed   mcast           ")
            ctx.line(f"    {received_bytes:>10} {received:>7} {0:>6} {0:>7} {0:>7} {0:>7} ")
            ctx.line("    TX:  bytes packets errors dropped carrier collsns           ")
            ctx.line(f"    {sent_bytes:>10} {sent:>7} {0:>6} {0:>7} {0:>7} {0:>7} ")
    return 0


def _no_other_links(ctx: Context, command: str, words: list[str]) -> int:
    """The kernel has no drivers for further interfaces, and lets go of none that it has."""
    rest = Words(ctx, words)
    if command == "delete":
        names = [word for word in words if word != "dev"]
        if not names:
            rest.fail('Not enough information: "dev" argument is required.', 255)
        rest.named(names[0])
        may_change(ctx)
        rest.fail("RTNETLINK answers: Operation not supported", 2)
    if "type" not in words:
        rest.fail('Not enough information: "type" argument is required', 1)
    may_change(ctx)
    rest.fail("Error: Unknown device type.", 2)


_SWITCHES = ("arp", "multicast", "allmulticast", "promisc", "trailers", "carrier", "protodown", "dynamic")


def _set_link(ctx: Context, words: list[str]) -> int:
    rest = Words(ctx, words)
    name, up = "", None
    mtu = queue = -1
    while rest:
        word = rest.next()
        if word in ("up", "down"):
            up = word == "up"
        elif word == "mtu":
            mtu = rest.number(word, 'Invalid "{}" value')
        elif word in ("txqueuelen", "txqlen", "qlen"):
            queue = rest.number("txqueuelen", 'Invalid "{}" value')
        elif word in _SWITCHES:
            value = rest.value()
            if value not in ("on", "off"):
                rest.fail(f'Error: argument of "{word}" must be "on" or "off", not "{value}"', 1)
        elif word == "alias":
            rest.value()
        elif name:
            rest.garbage(word)
        else:
            name = rest.value() if word == "dev" else word
    if not name:
        rest.fail('Not enough information: "dev" argument is required.', 255)
    interface = rest.named(name)
    may_change(ctx)
    if 0 <= mtu < 68 and name != "lo":
        rest.fail("Error: mtu less than device minimum.", 2)
    if mtu > 65535 and name != "lo":
        rest.fail("Error: mtu greater than device maximum.", 2)
    interface = interface._replace(
        mtu=mtu if mtu >= 0 else interface.mtu, queue=queue if queue >= 0 else interface.queue
    )
    put(ctx.machine.network, interface)
    if up is not None:
        set_up(ctx.machine.network, interface, up)
    return 0
