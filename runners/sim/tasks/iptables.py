"""iptables: a rule of the packet filter is there or not, a chain has a policy, or a chain is empty."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.machine import Machine
from runners.sim.network.firewall import Chain, FirewallError, Rule, Tables, rule_for, with_chain, without_chain
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value

# In the order, and by the names, in which iptables-save prints them: a rule is the same however it was asked for.
_PACKET = (("source", "-s"), ("destination", "-d"), ("in_interface", "-i"), ("out_interface", "-o"), ("protocol", "-p"))
_PORTS = (("source_port", "--sport"), ("destination_port", "--dport"))
_TARGET = (
    ("jump", "-j"),
    ("to_destination", "--to-destination"), ("to_source", "--to-source"), ("to_ports", "--to-ports"),
)  # fmt: skip
_IMPLIED = ("tcp", "udp", "conntrack", "multiport", "comment", "limit", "state")
"""Matches that stand with their own options."""


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    arguments.exclusive("flush", "policy")
    if arguments.choice("ip_version", ("ipv4", "ipv6", "both"), "ipv4") == "both":
        raise ModuleFailure("ip_version both is not part of the subset: write two tasks")
    six = arguments.text("ip_version") == "ipv6"
    tables = machine.network.tables6 if six else machine.network.tables
    table = arguments.choice("table", tuple(tables), "filter") or "filter"
    chain = arguments.text("chain")
    if chain is None and not arguments.flag("flush"):
        raise ModuleFailure("flush is False but all of the following are missing: chain")
    try:
        new = _change(tables, table, chain, arguments)
    except FirewallError as error:
        raise ModuleFailure(f"iptables v1.8.9 (nf_tables): {error}", {"rc": error.exit_code}) from error
    if six:
        machine.network.tables6 = new
    else:
        machine.network.tables = new
    changed = arguments.flag("flush") or new != tables
    values: dict[str, Value] = {"table": table, "chain": chain, "rule": " ".join(_words(arguments))}
    return TaskResult(changed=changed, values=values)


def _change(tables: Tables, table: str, chain: str | None, arguments: Arguments) -> Tables:
    if arguments.flag("flush"):
        for known in list(tables[table].values()):
            if chain in (None, known.name):
                tables = with_chain(tables, table, known._replace(rules=()))
        return tables
    assert chain is not None
    here = tables[table].get(chain)
    policy = arguments.choice("policy", ("ACCEPT", "DROP", "QUEUE", "RETURN"))
    if policy is not None:
        if here is None or here.policy == "-":
            raise ModuleFailure("Can't detect current policy")
        return with_chain(tables, table, here._replace(policy=policy))
    present = arguments.choice("state", ("present", "absent"), "present") == "present"
    words = _words(arguments)
    if not words:
        return _manage(tables, table, chain, here, present and arguments.flag("chain_management"), present)
    if here is None:
        raise FirewallError("No chain/target/match by that name.", 1)
    rules = _rules(here, rule_for(tables, table, words), arguments, present)
    return with_chain(tables, table, here._replace(rules=rules))


def _manage(tables: Tables, table: str, chain: str, here: Chain | None, make: bool, present: bool) -> Tables:
    if make and here is None:
        return with_chain(tables, table, Chain(chain, "-"))
    if not present and here is not None and here.policy == "-":
        return without_chain(tables, table, chain)
    return tables


def _rules(chain: Chain, rule: Rule, arguments: Arguments, present: bool) -> tuple[Rule, ...]:
    rules = chain.rules
    if (rule in rules) == present:
        return rules
    if not present:
        place = rules.index(rule)
        return (*rules[:place], *rules[place + 1 :])
    if arguments.choice("action", ("append", "insert"), "append") == "append":
        return (*rules, rule)
    place = (arguments.integer("rule_num") or 1) - 1
    if place > len(rules):
        raise FirewallError("Index of insertion too big.", 1)
    return (*rules[:place], rule, *rules[place:])


def _words(arguments: Arguments) -> list[str]:
    """The rule's words, without its chain; none where no part of a rule was given."""
    matches = arguments.texts("match") or ()
    ports, states = arguments.texts("destination_ports"), arguments.texts("ctstate")
    words = _options(arguments, _PACKET)
    single = _options(arguments, _PORTS)
    if single or arguments.text("protocol") in matches:
        words += ["-m", arguments.require("protocol"), *single]
    if ports:
        words += ["-m", "multiport", "--dports", ",".join(ports)]
    words += _options(arguments, (("icmp_type", "--icmp-type"),))
    for match in matches:
        words += [] if match in _IMPLIED else ["-m", match]
    if states:
        match, option = ("state", "--state") if "state" in matches else ("conntrack", "--ctstate")
        words += ["-m", match, option, ",".join(states)]
    if "limit" in arguments:
        words += ["-m", "limit", "--limit", arguments.require("limit")]
    if "comment" in arguments:
        words += ["-m", "comment", "--comment", arguments.require("comment")]
    words += _options(arguments, _TARGET)
    if "reject_with" in arguments:
        words += [*(() if "jump" in arguments else ("-j", "REJECT")), "--reject-with", arguments.require("reject_with")]
    return words


def _options(arguments: Arguments, options: Sequence[tuple[str, str]]) -> list[str]:
    """Those given, each with its flag; a leading `!` inverts."""
    words = []
    for name, flag in options:
        text = arguments.text(name)
        if text is not None:
            words += ["!", flag, text[1:].strip()] if text.startswith("!") else [flag, text]
    return words
