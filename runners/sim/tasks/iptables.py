"""iptables: a rule of the packet filter is there or not, a chain has a policy, or a chain is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.sim.machine import Machine
from runners.sim.network.firewall import Chain, FirewallError, Rule, Tables, parse_rule, with_chain, without_chain
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value

ACCEPTED = (
    "chain", "table", "state", "action", "rule_num", "protocol", "source", "destination", "source_port",
    "destination_port", "destination_ports", "in_interface", "out_interface", "ctstate", "match", "limit",
    "comment", "jump", "goto", "reject_with", "to_ports", "to_destination", "to_source", "icmp_type", "policy",
    "flush", "chain_management", "ip_version", "wait", "log_prefix", "log_level",
)  # fmt: skip
ALIASES: Mapping[str, str] = {}

# In the order in which the module puts them on the command line.
_BEFORE_MATCHES = (("protocol", "-p"), ("source", "-s"), ("destination", "-d"))
_TARGET = (
    ("jump", "-j"), ("log_prefix", "--log-prefix"), ("log_level", "--log-level"),
    ("to_destination", "--to-destination"),
)  # fmt: skip
_PLACES = (
    ("to_source", "--to-source"), ("goto", "-g"), ("in_interface", "-i"), ("out_interface", "-o"),
    ("source_port", "--source-port"), ("destination_port", "--destination-port"), ("to_ports", "--to-ports"),
)  # fmt: skip


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
    return with_chain(tables, table, here._replace(rules=_rules(here, parse_rule(words), arguments, present)))


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
    """The rule as the module writes it for iptables."""
    matches = arguments.texts("match") or ()
    ports, states = arguments.texts("destination_ports"), arguments.texts("ctstate")
    words = _options(arguments, _BEFORE_MATCHES)
    for match in matches:
        words += ["-m", match]
    words += _options(arguments, _TARGET)
    if ports:
        words += ["-m", "multiport", "--dports", ",".join(ports)]
    words += _options(arguments, _PLACES)
    if states:
        if "state" in matches:
            words += ["--state", ",".join(states)]
        else:
            words += [*(() if "conntrack" in matches else ("-m", "conntrack")), "--ctstate", ",".join(states)]
    if "limit" in arguments:
        words += ["-m", "limit", *_options(arguments, (("limit", "--limit"),))]
    if "reject_with" in arguments:
        words += [*(() if "jump" in arguments else ("-j", "REJECT")), "--reject-with", arguments.require("reject_with")]
    words += _options(arguments, (("icmp_type", "--icmp-type"),))
    if "comment" in arguments:
        words += ["-m", "comment", "--comment", arguments.require("comment")]
    return words


def _options(arguments: Arguments, options: Sequence[tuple[str, str]]) -> list[str]:
    """Those given, each with its flag; a leading `!` inverts."""
    words = []
    for name, flag in options:
        text = arguments.text(name)
        if text is not None:
            words += ["!", flag, text[1:].strip()] if text.startswith("!") else [flag, text]
    return words
