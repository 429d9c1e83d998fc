"""nft of nftables 1.0.6, as far as it shows the rules that iptables has made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners.sim.commands.context import Context
from runners.sim.iptables_text import PACKET
from runners.sim.network.firewall import EMPTY_TABLES, Chain, Passed, Rule, Tables

PATH = "/usr/sbin/nft"

_HOOKS = {
    ("filter", "INPUT"): "filter hook input priority filter",
    ("filter", "FORWARD"): "filter hook forward priority filter",
    ("filter", "OUTPUT"): "filter hook output priority filter",
    ("nat", "PREROUTING"): "nat hook prerouting priority dstnat",
    ("nat", "INPUT"): "nat hook input priority srcnat",
    ("nat", "OUTPUT"): "nat hook output priority dstnat",
    ("nat", "POSTROUTING"): "nat hook postrouting priority srcnat",
}


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if ctx.args[:1] in (["-v"], ["--version"]):
        ctx.line("nftables v1.0.6 (Lester Gooch #5)")
        return 0
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"Operation not permitted (you must be root)\nnetlink: Error: cache initialization failed: ")
        ctx.stderr.write(b"Operation not permitted\n")
        return 1
    network = ctx.machine.network
    if words[:2] == ["flush", "ruleset"]:
        network.tables, network.tables6, network.hits = EMPTY_TABLES, EMPTY_TABLES, {}
        return 0
    shown: dict[str, tuple[Tables, Mapping[Passed, int]]] = {
        "ip": (network.tables, network.hits),
        "ip6": (network.tables6, {}),
    }
    if words[:2] == ["list", "tables"]:
        for family, (tables, _) in shown.items():
            for table in _used(tables):
                ctx.line(f"table {family} {table}")
        return 0
    if words[:2] == ["list", "table"] and len(words) > 2:
        family, table = (words[2], words[3]) if len(words) > 3 else ("ip", words[2])
        if family not in shown or table not in _used(shown[family][0]):
            ctx.stderr.write(
                f"Error: No such file or directory\nlist table {family} {table}\n{' ' * (12 + len(family))}"
                f"{'^' * len(table)}\n".encode("utf-8", "surrogateescape")
            )
            return 1
        chosen: dict[str, tuple[str, ...]] = {family: (table,)}
    elif words[:2] == ["list", "ruleset"]:
        chosen = {family: tuple(_used(tables)) for family, (tables, _) in shown.items()}
    else:
        ctx.stderr.write(b"Error: syntax error, unexpected newline\n")
        return 1
    for family, names in chosen.items():
        tables, hits = shown[family]
        for table in names:
            for line in _table(family, table, tables, hits):
                ctx.spend(1)
                ctx.line(line)
    return 0


def _used(tables: Tables) -> list[str]:
    """The tables that iptables has made: those that hold something."""
    return [
        name
        for name, chains in tables.items()
        if any(chain.rules or chain.policy != "ACCEPT" for chain in chains.values())
    ]


def _table(family: str, table: str, tables: Tables, hits: Mapping[Passed, int]) -> Iterator[str]:
    counted = hits if table == "filter" else {}
    yield f"# Warning: table {family} {table} is managed by iptables-nft, do not touch!"
    yield f"table {family} {table} {{"
    hooked = {name for kind, name in _HOOKS if kind == table}
    chains = [chain for name, chain in tables[table].items() if chain.policy == "-" or name in hooked]
    for number, chain in enumerate(chains):
        if number:
            yield ""
        yield from _chain(family, table, chain, counted)
    yield "}"


def _chain(family: str, table: str, chain: Chain, hits: Mapping[Passed, int]) -> Iterator[str]:
    yield f"\tchain {chain.name} {{"
    hook = _HOOKS.get((table, chain.name))
    if hook is not None:
        yield f"\t\ttype {hook}; policy {chain.policy.lower()};"
    for rule in chain.rules:
        packets = hits.get((chain.name, rule), 0)
        counter = f"counter packets {packets} bytes {packets * PACKET}"
        yield "\t\t" + " ".join([*_matches(family, rule), counter, *_target(rule)])
    yield "\t}"


def _matches(family: str, rule: Rule) -> Iterator[str]:
    def sign(name: str) -> str:
        return "!= " if name in rule.inverted else ""

    for name, text, key in (("in", rule.in_interface, "iifname"), ("out", rule.out_interface, "oifname")):
        if text:
            yield f'{key} {sign(name)}"{text.replace("+", "*")}"'
    for name, text, key in (("source", rule.source, "saddr"), ("destination", rule.destination, "daddr")):
        if text:
            yield f"{family} {key} {sign(name)}{text.removesuffix('/32')}"
    ported = [("sport", rule.source_ports), ("dport", rule.destination_ports)]
    if rule.protocol and not any(ranges for _, ranges in ported):
        key = "ip protocol" if family == "ip" else "meta l4proto"
        yield f"{key} {sign('protocol')}{rule.protocol}"
    for name, ranges in ported:
        if ranges:
            ports = [str(low) if low == high else f"{low}-{high}" for low, high in ranges]
            yield f"{rule.protocol} {name} {sign(name)}" + (ports[0] if len(ports) == 1 else f"{{ {','.join(ports)} }}")
    if rule.states:
        order = ("INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED")
        yield f"ct state {sign('state')}" + ",".join(one.lower() for one in order if one in rule.states)


def _target(rule: Rule) -> Iterator[str]:
    options = dict(zip(rule.options[::2], rule.options[1::2], strict=False))
    if rule.target in ("ACCEPT", "DROP", "REJECT", "RETURN", "MASQUERADE"):
        yield rule.target.lower()
    elif rule.target == "LOG":
        prefix = options.get("--log-prefix")
        yield f'log prefix "{prefix}"' if prefix else "log"
    elif rule.target == "DNAT":
        yield f"dnat to {options.get('--to-destination', '')}"
    elif rule.target == "SNAT":
        yield f"snat to {options.get('--to-source', '')}"
    elif rule.target == "REDIRECT":
        yield f"redirect to :{options.get('--to-ports', '')}"
    elif rule.target:
        yield f"{'goto' if rule.goto else 'jump'} {rule.target}"
