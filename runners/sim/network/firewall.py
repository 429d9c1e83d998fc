"""iptables: tables, chains and rules as values, and what they decide about a packet."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple


class Rule(NamedTuple):
    """One rule. Addresses are CIDR text, "" for any; ports are (low, high) ranges; a leading `!` in `inverted` names.

    `words` is the rule as iptables-save prints it, without its chain; `options`: arguments of the target in order.
    """

    words: tuple[str, ...]
    target: str = ""
    protocol: str = ""
    source: str = ""
    destination: str = ""
    in_interface: str = ""
    out_interface: str = ""
    source_ports: tuple[tuple[int, int], ...] = ()
    destination_ports: tuple[tuple[int, int], ...] = ()
    states: frozenset[str] = frozenset()
    inverted: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    comment: str = ""
    goto: bool = False


class Chain(NamedTuple):
    """`policy`: ACCEPT or DROP for built-in chains, "-" for a user's."""

    name: str
    policy: str = "ACCEPT"
    rules: tuple[Rule, ...] = ()


Tables = Mapping[str, Mapping[str, Chain]]
"""table -> chain -> Chain, in the kernel's order."""

BUILT_IN = {
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "raw": ("PREROUTING", "OUTPUT"),
}
TARGETS = frozenset({"ACCEPT", "DROP", "REJECT", "LOG", "RETURN", "REDIRECT", "DNAT", "SNAT", "MASQUERADE", "MARK"})
_STATES = "INVALID NEW RELATED ESTABLISHED UNTRACKED SNAT DNAT"
"""In the order in which they are printed."""
EMPTY_TABLES: Tables = {table: {name: Chain(name) for name in names} for table, names in BUILT_IN.items()}


class Packet(NamedTuple):
    """The first packet of a connection. state: NEW or ESTABLISHED (or RELATED, INVALID)."""

    source: str
    destination: str
    protocol: str = "tcp"
    destination_port: int = 0
    source_port: int = 0
    in_interface: str = ""
    out_interface: str = ""
    state: str = "NEW"


class FirewallError(Exception):
    """A rule that iptables refuses; the text is its message after `iptables v1.8.9 (nf_tables): `. `exit_code` too."""

    def __init__(self, text: str, exit_code: int = 2) -> None:
        super().__init__(text)
        self.exit_code = exit_code


Passed = tuple[str, Rule | None]
"""A rule of a chain that a packet matched; None: the chain's policy decided."""


def verdict(tables: Tables, chain: str, packet: Packet, *, table: str = "filter") -> str:
    """ACCEPT, DROP or REJECT."""
    return traverse(tables, chain, packet, table=table)[0]


def traverse(tables: Tables, chain: str, packet: Packet, *, table: str = "filter") -> tuple[str, list[Passed]]:
    """The verdict, and everything that the packet matched on its way to it, to be counted."""
    first = tables[table][chain]
    passed: list[Passed] = []
    decision = _walk(tables[table], first, packet, 0, passed) if first.rules else None
    if decision is None:
        passed.append((chain, None))
    return decision or first.policy, passed


def _walk(chains: Mapping[str, Chain], chain: Chain, packet: Packet, depth: int, passed: list[Passed]) -> str | None:
    if depth > 64:
        return "DROP"
    for rule in chain.rules:
        if not matches(rule, packet):
            continue
        passed.append((chain.name, rule))
        if rule.target in ("ACCEPT", "DROP", "REJECT"):
            return rule.target
        if rule.target == "RETURN":
            return None
        below = chains.get(rule.target)
        if below is not None:
            result = _walk(chains, below, packet, depth + 1, passed)
            if result is not None or rule.goto:
                return result
    return None


def redirected(tables: Tables, chain: str, packet: Packet) -> tuple[str, int]:
    """Where nat sends the packet: (address, port), changed by REDIRECT or DNAT or as they were."""
    for rule in tables["nat"][chain].rules:
        if not matches(rule, packet):
            continue
        options = dict(zip(rule.options[::2], rule.options[1::2], strict=False))
        if rule.target == "REDIRECT":
            return packet.destination, int(options.get("--to-ports", packet.destination_port))
        if rule.target == "DNAT":
            address, _, port = options.get("--to-destination", "").partition(":")
            return address or packet.destination, int(port or packet.destination_port)
        if rule.target in ("ACCEPT", "DROP", "RETURN"):
            break
    return packet.destination, packet.destination_port


def matches(rule: Rule, packet: Packet) -> bool:
    """Do all of the rule's matches hold for the packet?"""
    inverted = rule.inverted
    # What tells most rules apart comes first.
    return (
        _agrees("dport" in inverted, _port(rule.destination_ports, packet.destination_port))
        and _agrees("in" in inverted, _interface(rule.in_interface, packet.in_interface))
        and _agrees("state" in inverted, not rule.states or packet.state in rule.states)
        and _agrees("protocol" in inverted, not rule.protocol or rule.protocol in ("all", packet.protocol))
        and _agrees("source" in inverted, _within(packet.source, rule.source))
        and _agrees("destination" in inverted, _within(packet.destination, rule.destination))
        and _agrees("out" in inverted, _interface(rule.out_interface, packet.out_interface))
        and _agrees("sport" in inverted, _port(rule.source_ports, packet.source_port))
    )


def _agrees(inverted: bool, holds: bool) -> bool:
    return holds != inverted


def _interface(wanted: str, name: str) -> bool:
    return not wanted or (name.startswith(wanted[:-1]) if wanted.endswith("+") else name == wanted)


def _port(ranges: tuple[tuple[int, int], ...], port: int) -> bool:
    return not ranges or any(low <= port <= high for low, high in ranges)


@lru_cache(maxsize=4096)
def _within(address: str, network: str) -> bool:
    if not network:
        return True
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def parse_rule(words: Sequence[str]) -> Rule:
    """The words after the chain's name in `iptables -A CHAIN …`. FirewallError as iptables would complain."""
    fields: dict[str, object] = {}
    inverted: set[str] = set()
    saved: list[str] = []
    options: list[str] = []
    negate = False
    queue = list(words)
    target = ""
    goto = False

    def take(option: str) -> str:
        if not queue:
            raise FirewallError(f'option "{option}" requires an argument')
        return queue.pop(0)

    def keep(name: str, *printed: str) -> None:
        if negate:
            inverted.add(name)
            saved.append("!")
        saved.extend(printed)

    while queue:
        word = queue.pop(0)
        if word == "!":
            negate = True
            continue
        if word in ("-p", "--protocol", "--proto"):
            value = take(word).lower()
            if value not in ("tcp", "udp", "icmp", "all", "udplite", "esp", "ah", "sctp", "6", "17", "1", "icmpv6"):
                raise FirewallError(f"unknown protocol `{value}' specified")
            value = {"6": "tcp", "17": "udp", "1": "icmp"}.get(value, value)
            fields["protocol"] = "" if value == "all" else value
            if value != "all":
                keep("protocol", "-p", value)
        elif word in ("-s", "--source", "--src"):
            fields["source"] = _network(take(word))
            keep("source", "-s", str(fields["source"]))
        elif word in ("-d", "--destination", "--dst"):
            fields["destination"] = _network(take(word))
            keep("destination", "-d", str(fields["destination"]))
        elif word in ("-i", "--in-interface"):
            fields["in_interface"] = take(word)
            keep("in", "-i", str(fields["in_interface"]))
        elif word in ("-o", "--out-interface"):
            fields["out_interface"] = take(word)
            keep("out", "-o", str(fields["out_interface"]))
        elif word in ("-m", "--match"):
            value = take(word)
            if value not in ("tcp", "udp", "state", "conntrack", "comment", "multiport", "limit", "icmp", "addrtype",
                             "recent", "owner", "mark", "iprange", "string", "mac",
                             "connlimit", "hashlimit"):  # fmt: skip
                raise FirewallError(f"Couldn't load match `{value}':No such file or directory")
            saved.extend(("-m", value))
        elif word in ("--dport", "--destination-port", "--sport", "--source-port"):
            proto = str(fields.get("protocol", ""))
            if proto not in ("tcp", "udp", "sctp"):
                raise FirewallError(f'unknown option "{word}"')
            if saved[-2:] != ["-m", proto] and f"-m {proto}" not in " ".join(saved):
                saved.extend(("-m", proto))
            port_range = _range(take(word))
            source = word in ("--sport", "--source-port")
            fields["source_ports" if source else "destination_ports"] = (port_range,)
            keep("sport" if source else "dport", "--sport" if source else "--dport", _range_text(port_range))
        elif word in ("--dports", "--destination-ports", "--sports", "--source-ports"):
            ranges = tuple(_range(part) for part in take(word).split(","))
            source = word in ("--sports", "--source-ports")
            fields["source_ports" if source else "destination_ports"] = ranges
            keep("sport" if source else "dport", word, ",".join(_range_text(one) for one in ranges))
        elif word in ("--state", "--ctstate"):
            states = take(word).upper().split(",")
            fields["states"] = frozenset(states)
            keep("state", word, ",".join(sorted(states, key=_STATES.find)))
        elif word == "--comment":
            fields["comment"] = take(word)
            saved.extend(("--comment", str(fields["comment"])))
        elif word in ("-j", "--jump", "-g", "--goto"):
            target = take(word)
            goto = word in ("-g", "--goto")
            saved.extend(("-g" if goto else "-j", target))
            options = list(queue)
            if target == "REJECT" and not options:
                options = ["--reject-with", "icmp-port-unreachable"]
            saved.extend(options)
            queue.clear()
        elif word == "--limit":
            saved.extend((word, re.sub(r"/(sec|min|hour|day)\w*$", r"/\1", take(word))))
        elif word in ("--icmp-type", "--limit-burst", "--uid-owner", "--gid-owner", "--mark", "--tcp-flags",
                      "--src-type", "--dst-type", "--name", "--seconds", "--hitcount"):  # fmt: skip
            saved.extend((word, take(word)))
        elif word in ("-c", "--set-counters"):
            take(word)
            take(word)
        elif word in ("--syn", "--set", "--update", "--rcheck"):
            saved.append(word)
        elif word.startswith("-"):
            raise FirewallError(f'unknown option "{word}"')
        else:
            raise FirewallError(f"Bad argument `{word}'")
        negate = False
    return Rule(tuple(saved), target, inverted=frozenset(inverted), options=tuple(options), goto=goto, **fields)  # type: ignore[arg-type]


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise FirewallError(f"host/network `{text}' not found") from None


def _range(text: str) -> tuple[int, int]:
    names = {"ssh": 22, "http": 80, "https": 443, "domain": 53, "smtp": 25, "postgresql": 5432, "mysql": 3306}
    low, colon, high = text.partition(":")
    try:
        first = names.get(low) if low in names else int(low or 0)
        last = (names.get(high) if high in names else int(high or 65535)) if colon else first
    except ValueError:
        raise FirewallError(f"invalid port/service `{text}' specified") from None
    assert first is not None
    assert last is not None
    if not 0 <= first <= 65535 or not 0 <= last <= 65535:
        raise FirewallError(f"invalid port/service `{text}' specified")
    return first, last


def _range_text(ports: tuple[int, int]) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}:{ports[1]}"


# -- changing


def rule_for(tables: Tables, table: str, words: Sequence[str]) -> Rule:
    """A rule whose target is there: an extension of iptables' own or a chain of the table."""
    rule = parse_rule(words)
    if rule.target and rule.target not in TARGETS and rule.target not in tables[table]:
        raise FirewallError(f"Chain '{rule.target}' does not exist")
    return rule


def with_chain(tables: Tables, table: str, chain: Chain) -> Tables:
    """The tables with one chain put in or replaced."""
    return {**tables, table: {**tables[table], chain.name: chain}}


def without_chain(tables: Tables, table: str, name: str) -> Tables:
    return {**tables, table: {key: chain for key, chain in tables[table].items() if key != name}}


def restore(lines: Iterable[str], tables: Tables = EMPTY_TABLES) -> Tables:
    """Read iptables-save's format; tables that it names are replaced as a whole."""
    table = "filter"
    for raw in lines:
        line = raw.strip()
        if not line or line.startswith("#") or line == "COMMIT":
            continue
        if line.startswith("*"):
            table = line[1:]
            tables = {**tables, table: {name: Chain(name) for name in BUILT_IN[table]}}
        elif line.startswith(":"):
            name, policy = line[1:].split()[:2]
            tables = with_chain(tables, table, Chain(name, policy))
        elif line.startswith("-A "):
            words = _split(line)
            chain = tables[table][words[1]]
            tables = with_chain(tables, table, chain._replace(rules=(*chain.rules, parse_rule(words[2:]))))
    return tables


def save(tables: Tables) -> Iterator[str]:
    """The rules of all tables that hold any, as iptables-save prints them (without comments and counters)."""
    for table, chains in tables.items():
        if not any(chain.rules or chain.policy == "DROP" or chain.policy == "-" for chain in chains.values()):
            continue
        yield f"*{table}"
        for chain in chains.values():
            yield f":{chain.name} {chain.policy} [0:0]"
        for chain in chains.values():
            for rule in chain.rules:
                yield f"-A {chain.name} {rule_text(rule)}"
        yield "COMMIT"


def rule_text(rule: Rule) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in rule.words)


def _split(line: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]
