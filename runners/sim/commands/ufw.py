"""ufw 0.36: another front of the packet filter."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.network.firewall import FirewallError, Tables, parse_rule, with_chain

PATH = "/usr/sbin/ufw"


def _enabled(ctx: Context) -> bool:
    try:
        return "ENABLED=yes" in ctx.machine.view().text("/etc/ufw/ufw.conf")
    except OSError:
        return False


def main(ctx: Context) -> int:
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
