"""ufw 0.36 and nft 1.0.6: other fronts of the same packet filter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from runners.sim.commands.context import Context
from runners.sim.network.firewall import Chain, FirewallError, Rule, Tables, parse_rule, with_chain

NAMES = ("ufw", "nft")
PATH = "/usr/sbin/ufw"

_HOOKS = {
    ("filter", "INPUT"): ("filter", "input", "filter"), ("filter", "FORWARD"): ("filter", "forward", "filter"),
    ("filter", "OUTPUT"): ("filter", "output", "filter"), ("nat", "PREROUTING"): ("nat", "prerouting", "dstnat"),
    ("nat", "INPUT"): ("nat", "input", "100"), ("nat", "OUTPUT"): ("nat", "output", "-100"),
    ("nat", "POSTROUTING"): ("nat", "postrouting", "srcnat"),
}  # fmt: skip


def main(ctx: Context) -> int:
    return _nft(ctx) if ctx.name == "nft" else _ufw(ctx)


# -- nft


def _nft(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if "-v" in ctx.args or "--version" in ctx.args:
        ctx.line("nftables v1.0.6 (Lester Gooch #5)")
        return 0
    if ctx.cred.uid != 0:
        ctx.stderr.write(
            b"Operation not permitted (you must be root)\nnetlink: Error: cache initialization failed: "
            b"Operation not permitted\n"
        )
        return 1
    tables = ctx.machine.network.tables
    if words[:2] == ["list", "ruleset"]:
        for name, chains in tables.items():
            if any(chain.rules or chain.policy != "ACCEPT" for chain in chains.values()):
                ctx.out("\n".join(_ruleset(name, chains.values())) + "\n")
        return 0
    if words[:2] == ["list", "tables"]:
        for name, chains in tables.items():
            if any(chain.rules or chain.policy != "ACCEPT" for chain in chains.values()):
                ctx.line(f"table ip {name}")
        return 0
    if words[:2] == ["flush", "ruleset"]:
        ctx.machine.network.tables = {
            name: {
                key: chain._replace(rules=(), policy="ACCEPT") for key, chain in chains.items() if chain.policy != "-"
            }
            for name, chains in tables.items()
        }
        return 0
    ctx.stderr.write(
        b"Error: syntax error, unexpected end of file, expecting string\n"
        if not words
        else f"Error: syntax error, unexpected {words[-1]}\n{' '.join(words)}\n{'^' * len(words[0])}\n".encode(
            "utf-8", "surrogateescape"
        )
    )
    return 1


def _ruleset(table: str, chains: Iterable[Chain]) -> Iterator[str]:
    yield f"table ip {table} {{"
    for chain in chains:
        hook = _HOOKS.get((table, chain.name))
        if hook is None and chain.policy != "-":
            continue
        yield f"\tchain {chain.name} {{"
        if hook is not None:
            yield f"\t\ttype {hook[0]} hook {hook[1]} priority {hook[2]}; policy {chain.policy.lower()};"
        for rule in chain.rules:
            yield f"\t\t{_nft_rule(rule)}"
        yield "\t}"
        yield ""
    yield "}"


def _nft_rule(rule: Rule) -> str:
    parts = []
    for value, text in (
        (rule.in_interface, f'iifname "{rule.in_interface}"'), (rule.out_interface, f'oifname "{rule.out_interface}"'),
        (rule.source, f"ip saddr "
f"{rule.source.removesuffix('/32')}"), (rule.destination, f"ip daddr {rule.destination.removesuffix('/32')}"),
    ):  # fmt: skip
        if value:
            parts.append(text)
    if rule.destination_ports:
        low, high = rule.destination_ports[0]
        parts.append(f"{rule.protocol} dport {low if low == high else f'{low}-{high}'}")
    elif rule.protocol:
        parts.append(f"ip protocol {rule.protocol}")
    if rule.states:
        parts.append("ct state " + ",".join(sorted(state.lower() for state in rule.states)))
    parts.append("counter packets 0 bytes 0")
    parts.append(
        {"REJECT": "reject", "LOG": "log"}.get(
            rule.target, rule.target.lower() if rule.target in ("ACCEPT", "DROP", "RETURN") else f"jump {rule.target}"
        )
    )
    return " ".join(parts)


# -- ufw


def _enabled(ctx: Context) -> bool:
    try:
        return "ENABLED=yes" in ctx.machine.view().text("/etc/ufw/ufw.conf")
    except OSError:
        return False


def _ufw(ctx: Context) -> int:
    words = [word for word in ctx.args if word not in ("--force", "--dry-run")]
    if words and words[0] == "--version":
        ctx.line("ufw 0.36.2\nCopyright 2008-2023 Canonical Ltd.")
        return 0
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"ERROR: You need to be root to run this script\n")
        return 1
    verb = words[0] if words else ""
    if verb == "status":
        return _status(ctx, verbose="verbose" in words, numbered="numbered" in words)
    if verb in ("enable", "disable"):
        return _switch(ctx, verb == "enable")
    if verb in ("allow", "deny", "reject", "limit", "delete", "insert"):
        return _rule(ctx, words)
    if verb in ("reload", "reset", "default", "logging"):
        ctx.line(
            {"reload": "Firewall reloaded" if _enabled(ctx) else "Firewall not enabled (skipping reload)"}.get(
                verb, "Default policy changed"
            )
        )
        return 0
    ctx.stderr.write(b"ERROR: not enough args\n" if not words else b"ERROR: Invalid syntax\n")
    return 1


def _switch(ctx: Context, on: bool) -> int:
    view = ctx.machine.view()
    if not view.exists("/etc/ufw"):
        view.mkdir("/etc/ufw")
    view.write(
        "/etc/ufw/ufw.conf", f"ENABLED={'yes' if on else 'no'}\nLOGLEVEL=low\n".encode("utf-8", "surrogateescape")
    )
    tables: Tables = ctx.machine.network.tables
    chain = tables["filter"]["INPUT"]
    ctx.machine.network.tables = with_chain(tables, "filter", chain._replace(policy="DROP" if on else "ACCEPT"))
    if on:
        base = (["-i", "lo", "-j", "ACCEPT"], ["-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED", "-j", "ACCEPT"])
        missing = tuple(rule for rule in (parse_rule(words) for words in base) if rule not in chain.rules)
        ctx.machine.network.tables = with_chain(
            ctx.machine.network.tables, "filter", chain._replace(policy="DROP", rules=missing + chain.rules)
        )
    ctx.line(
        "Firewall is active and enabled on system startup" if on else "Firewall stopped and disabled on system startup"
    )
    return 0


def _status(ctx: Context, *, verbose: bool, numbered: bool) -> int:
    if not _enabled(ctx):
        ctx.line("Status: inactive")
        return 0
    ctx.line("Status: active")
    if verbose:
        ctx.line("Logging: on (low)\nDefault: deny (incoming), allow (outgoing), disabled (routed)\nNew profiles: skip")
    rules = [rule for rule in ctx.machine.network.tables["filter"]["INPUT"].rules if rule.destination_ports]
    if rules:
        lead = "     " if numbered else ""
        ctx.line(f"\n{lead}{'To':<26} {'Action':<11} From\n{lead}{'--':<26} {'------':<11} ----")
        for index, rule in enumerate(rules, 1):
            port = f"{rule.destination_ports[0][0]}/{rule.protocol}"
            action = {"ACCEPT": "ALLOW", "DROP": "DENY", "REJECT": "REJECT"}.get(rule.target, rule.target)
            number = f"[{index:>2}] " if numbered else ""
            ctx.line(
                f"{number}{port:<26} {action + (' IN' if numbered or verbose else ''):<11} {rule.source or 'Anywhere'}"
            )
        ctx.line()
    return 0


def _rule(ctx: Context, words: list[str]) -> int:
    deleting = words[0] == "delete"
    words = words[1:] if deleting else words[2:] if words[0] == "insert" else words
    if len(words) < 2:
        ctx.stderr.write(b"ERROR: not enough args\n")
        return 1
    target = {"allow": "ACCEPT", "limit": "ACCEPT", "deny": "DROP", "reject": "REJECT"}.get(words[0], "ACCEPT")
    text = " ".join(words[1:])
    source = re.search(r"from (\S+)", text)
    port = re.search(r"port (\d+)", text) or re.match(r"(\d+)", text)
    names = {"ssh": "22", "openssh": "22", "http": "80", "https": "443", "nginx": "80"}
    number = port.group(1) if port else names.get(words[1].lower().split()[0])
    if number is None and source is None:
        ctx.stderr.write(f"ERROR: Could not find a profile matching '{words[1]}'\n".encode("utf-8", "surrogateescape"))
        return 1
    protocol = "udp" if "udp" in text else "tcp"
    spec = [
        *(["-s", source.group(1)] if source and source.group(1) != "any" else []),
        *(["-p", protocol, "--dport", number] if number else []),
        "-j",
        target,
    ]
    try:
        rule = parse_rule(spec)
    except FirewallError:
        ctx.stderr.write(b"ERROR: Bad source address\n")
        return 1
    tables = ctx.machine.network.tables
    chain = tables["filter"]["INPUT"]
    if deleting:
        if rule not in chain.rules:
            ctx.line("Could not delete non-existent rule")
            return 0
        rules = tuple(one for one in chain.rules if one != rule)
    elif rule in chain.rules:
        ctx.line("Skipping adding existing rule")
        return 0
    else:
        rules = (*chain.rules, rule)
    ctx.machine.network.tables = with_chain(tables, "filter", chain._replace(rules=rules))
    ctx.line(f"Rule{'s updated' if not _enabled(ctx) else ' deleted' if deleting else ' added'}")
    return 0
