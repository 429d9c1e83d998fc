"""How iptables prints its rules: the -L table and the rule text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.sim.network.firewall import Chain, Passed, Rule
from runners.text import is_digits

_NUMBERS = {"": "all", "tcp": "tcp", "udp": "udp", "icmp": "icmp"}
_PROTOCOLS = {"all": "0", "icmp": "1", "tcp": "6", "udp": "17"}
_NAMES = {
    22: "ssh",
    80: "http",
    443: "https",
    53: "domain",
    5432: "postgresql",
    6379: "redis",
    25: "smtp",
    3306: "mysql",
    8080: "http-alt",
}


PACKET = 60
"""Bytes of a packet, on average."""


def chain_lines(
    chain: Chain, references: int, hits: Mapping[Passed, int], *, numeric: bool, verbose: bool, numbers: bool,
    exact: bool,
) -> list[str]:  # fmt: skip
    """One chain as `iptables -L` shows it. `hits`: the packets that its rules have counted."""
    own = hits.get((chain.name, None), 0)
    if chain.policy == "-":
        head = f"Chain {chain.name} ({references} references)"
    elif verbose:
        packets, octets = (_figure(number, exact) for number in (own, own * PACKET))
        head = f"Chain {chain.name} (policy {chain.policy} {packets} packets, {octets} bytes)"
    else:
        head = f"Chain {chain.name} (policy {chain.policy})"
    lead = "num  " if numbers else ""
    if verbose:
        title = lead + " pkts bytes target     prot opt in     out     source               destination         "
    else:
        title = f"{lead}{'target':<10} prot opt source               destination         "
    out = [head, title]
    for index, rule in enumerate(chain.rules, 1):
        out.append(
            (f"{index:<5}" if numbers and not verbose else f"{index:<4} " if numbers else "")
            + _line(rule, numeric, verbose, _counters(hits.get((chain.name, rule), 0), exact))
        )
    return out


def _counters(packets: int, exact: bool) -> str:
    return " ".join(
        f"{number:8d}" if exact else f"{_figure(number, exact):>5}" for number in (packets, packets * PACKET)
    )


def _figure(number: int, exact: bool) -> str:
    """A counter, in thousands or millions where it has grown large."""
    if exact or number <= 99999:
        return str(number)
    thousands = (number + 500) // 1000
    return f"{thousands}K" if thousands <= 9999 else f"{(thousands + 500) // 1000}M"


def _line(rule: Rule, numeric: bool, verbose: bool, counters: str) -> str:
    anywhere = "0.0.0.0/0" if numeric else "anywhere"
    inverted = rule.inverted

    def end(text: str, name: str) -> str:
        shown = text.removesuffix("/32") if text else anywhere
        return f"!{shown}" if name in inverted else shown

    protocol = ("!" if "protocol" in inverted else "") + _NUMBERS.get(rule.protocol, rule.protocol)
    if numeric:
        bare = protocol.lstrip("!")
        protocol = ("!" if protocol.startswith("!") else "") + _PROTOCOLS.get(bare, bare)
    target = f"{rule.target:<10}"
    source, destination = end(rule.source, "source"), end(rule.destination, "destination")
    details = _details(rule, numeric)
    if verbose:
        inward = ("!" if "in" in inverted else "") + (
            rule.in_interface or "*" if numeric else rule.in_interface or "any"
        )
        outward = ("!" if "out" in inverted else "") + (
            rule.out_interface or "*" if numeric else rule.out_interface or "any"
        )
        return (
            f"{counters} {target} {protocol:<4} --  {inward:<6} {outward:<6}  {source:<20} {destination:<20}{details}"
        )
    return f"{target} {protocol:<4} --  {source:<20} {destination:<20}{details}"


def _details(rule: Rule, numeric: bool) -> str:
    """What the matches and the target add after the addresses."""
    out = ""
    protocol = rule.protocol or "tcp"
    words = list(rule.words)

    def ports(ranges: Sequence[tuple[int, int]], plural: bool, label: str, negated: bool) -> str:
        shown = ",".join(
            (str(low) if numeric or low not in _NAMES else _NAMES[low]) if low == high else f"{low}:{high}"
            for low, high in ranges
        )
        mark = "!" if negated else ""
        if plural:
            return f" multiport {label}s {mark}{shown}"
        key = {"dport": "dpt", "sport": "spt"}[label]
        if ranges[0][0] != ranges[0][1]:
            key += "s"
        return f" {protocol} {key}:{mark}{shown}"

    multi = "multiport" in words
    if rule.source_ports:
        out += ports(rule.source_ports, multi, "sport", "sport" in rule.inverted)
    if rule.destination_ports:
        out += ports(rule.destination_ports, multi, "dport", "dport" in rule.inverted)
    if rule.states:
        order = ("INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED")
        label = "ctstate" if "--ctstate" in words else "state"
        out += f" {label} " + ",".join(state for state in order if state in rule.states)
    if "--limit" in words:
        out += f" limit: avg {words[words.index('--limit') + 1]} burst 5"
    if "--icmp-type" in words:
        value = words[words.index("--icmp-type") + 1]
        out += f" icmptype {value}" if is_digits(value) else f" icmp {value}"
    if rule.comment:
        out += f" /* {rule.comment} */"
    options = dict(zip(rule.options[::2], rule.options[1::2], strict=False))
    if rule.target == "REJECT":
        out += f" reject-with {options.get('--reject-with', 'icmp-port-unreachable')}"
    elif rule.target == "REDIRECT" and "--to-ports" in options:
        out += f" redir ports {options['--to-ports']}"
    elif rule.target == "DNAT":
        out += f" to:{options.get('--to-destination', '')}"
    elif rule.target == "SNAT":
        out += f" to:{options.get('--to-source', '')}"
    elif rule.target == "LOG":
        prefix = f' prefix "{options["--log-prefix"]}"' if "--log-prefix" in options else ""
        out += f" LOG flags 0 level 4{prefix}"
    return out and " " + out.strip()
