"""iptables 1.8.9 (nf_tables), with iptables-save and iptables-restore: the packet filter."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.commands.context import CommandExit, Context
from runners.sim.iptables_text import PACKET, chain_lines
from runners.sim.network.firewall import (
    BUILT_IN,
    Chain,
    FirewallError,
    Passed,
    Tables,
    restore,
    rule_for,
    rule_text,
    save,
    with_chain,
    without_chain,
)
from runners.text import is_digits

NAMES = (
    "iptables",
    "iptables-save",
    "iptables-restore",
    "ip6tables",
    "ip6tables-save",
    "iptables-nft",
    "iptables-legacy",
)
PATH = "/usr/sbin/iptables"

_VERSION = "v1.8.9 (nf_tables)"
_LONG = {
    "--append": "-A", "--insert": "-I", "--delete": "-D", "--replace": "-R", "--list": "-L", "--list-rules": "-S",
    "--flush": "-F", "--zero": "-Z", "--new-chain": "-N", "--new": "-N", "--delete-chain": "-X", "--policy": "-P",
    "--rename-chain": "-E", "--check": "-C", "--table": "-t", "--numeric": "-n", "--verbose": "-v", "--exact": "-x",
    "--wait": "-w", "--help": "-h", "--version": "-V",
}  # fmt: skip
_NOT_ROOT = "Could not fetch rule set generation id: Permission denied (you must be root)\n\n"
_COMMANDS = "AIDRLSFZNXPEC"


def main(ctx: Context) -> int:
    if ctx.name.endswith("-save"):
        return _save(ctx)
    if ctx.name.endswith("-restore"):
        return _restore(ctx)
    try:
        return _iptables(ctx)
    except FirewallError as error:
        return _fail(ctx, str(error), error.exit_code)


def _fail(ctx: Context, message: str, status: int) -> int:
    """iptables' way to complain: the version in front, and a hint where the command line is to blame."""
    if status == 1:
        # What the kernel refuses is told without the version.
        ctx.stderr.write(f"{ctx.name}: {message}\n".encode("utf-8", "surrogateescape"))
        return status
    hint = f"\nTry `{ctx.name} -h' or '{ctx.name} --help' for more information." if status == 2 else ""
    ctx.stderr.write(f"{ctx.name} {_VERSION}: {message}{hint}\n".encode("utf-8", "surrogateescape"))
    return status


def _tables(ctx: Context) -> Tables:
    network = ctx.machine.network
    return network.tables6 if ctx.name.startswith("ip6") else network.tables


def _put(ctx: Context, tables: Tables) -> None:
    if ctx.name.startswith("ip6"):
        ctx.machine.network.tables6 = tables
    else:
        network, chains = ctx.machine.network, tables["filter"]
        network.tables = tables
        network.hits = {
            (chain, rule): packets
            for (chain, rule), packets in network.hits.items()
            if chain in chains and (rule is None or rule in chains[chain].rules)
        }


def _iptables(ctx: Context) -> int:
    table, command = "filter", ""
    flags: set[str] = set()
    operands: list[str] = []
    rule: list[str] = []
    words = []
    for word in ctx.args:
        word = _LONG.get(word, word)
        if (
            len(word) > 2
            and word[0] == "-"
            and word[1] != "-"
            and word[1:].isalpha()
            and set(word[1:]) <= set("LSFnvxZ")
        ):
            words += [f"-{letter}" for letter in word[1:]]
        else:
            words.append(word)
    while words:
        word = words.pop(0)
        if word == "-t" and words:
            table = words.pop(0)
        elif word.startswith("-t") and len(word) > 2 and word[2:] in BUILT_IN:
            table = word[2:]
        elif word in ("-n", "-v", "-x", "--line-numbers"):
            flags.add(word)
        elif word == "-w":
            if words and is_digits(words[0]):
                words.pop(0)
        elif word == "-h":
            ctx.out(f"{ctx.name} v1.8.9\n\nUsage: {ctx.name} -[ACD] chain rule-specification [options]\n"
                    f"       {ctx.name} -I chain [rulenum] rule-specification [options]\n"
                    f"       {ctx.name} -[LS] [chain [rulenum]] [options]\n       {ctx.name} -[FZ] [chain] [options]\n"
                    f"       {ctx.name} -[NX] chain\n       {ctx.name} -P chain target [options]\n")  # fmt: skip
            return 0
        elif word == "-V":
            ctx.line(f"{ctx.name} {_VERSION}")
            return 0
        elif len(word) == 2 and word[0] == "-" and word[1] in _COMMANDS and not (word == "-Z" and command):
            if command:
                raise FirewallError(f"Cannot use -{word[1]} with -{command}\n")
            command = word[1]
            while words and not words[0].startswith(("-", "!")):
                operands.append(words.pop(0))
        else:
            rule.append(word)
    if table not in BUILT_IN:
        return _fail(ctx, f"table '{table}' does not exist\n"
                          "Perhaps iptables or your kernel needs to be upgraded.", 3)  # fmt: skip
    if not command:
        raise FirewallError(f'unknown option "{rule[0]}"' if rule else "no command specified")
    if ctx.cred.uid != 0:
        ctx.stderr.write(f"{ctx.name} {_VERSION}: {_NOT_ROOT}".encode("utf-8", "surrogateescape"))
        return 4
    return _run(ctx, table, command, operands, rule, flags)


def _chain(tables: Tables, table: str, name: str, verb: str = "") -> Chain:
    chain = tables[table].get(name)
    if chain is None:
        raise FirewallError(verb or "No chain/target/match by that name.", 1)
    return chain


def _run(ctx: Context, table: str, command: str, operands: list[str], rule: list[str], flags: set[str]) -> int:
    tables = _tables(ctx)
    if command in "LS":
        return _list(ctx, tables, table, command, operands, flags)
    if command in "AIDRC":
        return _change(ctx, tables, table, command, operands, rule)
    chains = tables[table]
    if command == "Z" and _hits(ctx, table):
        network = ctx.machine.network
        network.hits = {one: count for one, count in network.hits.items() if operands and one[0] != operands[0]}
    if command == "F":
        for name in operands[:1] or list(chains):
            tables = with_chain(tables, table, _chain(tables, table, name)._replace(rules=()))
    elif command == "N":
        if not operands:
            raise FirewallError('option "-N" requires an argument')
        if operands[0] in chains:
            return _fail(ctx, "Chain already exists.", 1)
        tables = with_chain(tables, table, Chain(operands[0], "-"))
    elif command == "X":
        for name in operands[:1] or [name for name, chain in chains.items() if chain.policy == "-"]:
            chain = _chain(tables, table, name)
            if chain.rules or _references(tables, table, name):
                return _fail(ctx, f" CHAIN_DEL failed (Device or resource busy): chain {name}", 4)
            tables = without_chain(tables, table, name)
    elif command == "P":
        if len(operands) < 2:
            raise FirewallError("-P requires a chain and a policy")
        chain = _chain(tables, table, operands[0], "Bad built-in chain name")
        if chain.policy == "-":
            return _fail(ctx, "Bad built-in chain name", 1)
        if operands[1] not in ("ACCEPT", "DROP"):
            return _fail(ctx, "Bad policy name. Run `dmesg' for more information.", 1)
        tables = with_chain(tables, table, chain._replace(policy=operands[1]))
    _put(ctx, tables)
    return 0


def _hits(ctx: Context, table: str) -> Mapping[Passed, int]:
    """The packets that a table's rules have counted: those of the IPv4 filter are."""
    return ctx.machine.network.hits if table == "filter" and not ctx.name.startswith("ip6") else {}


def _references(tables: Tables, table: str, name: str) -> int:
    return sum(1 for chain in tables[table].values() for rule in chain.rules if rule.target == name)


def _change(ctx: Context, tables: Tables, table: str, command: str, operands: list[str], words: list[str]) -> int:
    if not operands:
        raise FirewallError(f'option "-{command}" requires an argument')
    chain = _chain(tables, table, operands[0])
    number = int(operands[1]) if len(operands) > 1 and is_digits(operands[1]) else None
    rules = list(chain.rules)
    if command == "D" and number is not None:
        if not 1 <= number <= len(rules):
            return _fail(ctx, "Index of deletion too big.", 1)
        del rules[number - 1]
    else:
        rule = rule_for(tables, table, words)
        if command == "A":
            rules.append(rule)
        elif command == "I":
            if number is not None and not 1 <= number <= len(rules) + 1:
                return _fail(ctx, "Index of insertion too big.", 1)
            rules.insert((number or 1) - 1, rule)
        elif command == "R":
            if number is None or not 1 <= number <= len(rules):
                return _fail(ctx, "Index of replacement too big.", 1)
            rules[number - 1] = rule
        else:
            same = [index for index, one in enumerate(rules) if _alike(rule_text(one), rule_text(rule))]
            if not same:
                return _fail(ctx, "Bad rule (does a matching rule exist in that chain?).", 1)
            if command == "C":
                return 0
            del rules[same[0]]
    _put(ctx, with_chain(tables, table, chain._replace(rules=tuple(rules))))
    return 0


def _alike(one: str, other: str) -> bool:
    """The same rule, whichever of its matches was named outright."""
    return [word for word in one.split() if word != "-m"] == [word for word in other.split() if word != "-m"]


def _list(ctx: Context, tables: Tables, table: str, command: str, operands: list[str], flags: set[str]) -> int:
    chains = tables[table]
    names = operands[:1] or list(chains)
    for name in names:
        if name not in chains:
            incompatible = f"chain `{name}' in table `{table}' is incompatible, use 'nft' tool."
            ctx.stderr.write(f"{ctx.name} {_VERSION}: {incompatible}\n".encode("utf-8", "surrogateescape"))
            return 1
    if command == "S":
        for name in names:
            chain = chains[name]
            ctx.line(f"-N {name}" if chain.policy == "-" else f"-P {name} {chain.policy}")
        for name in names:
            for rule in chains[name].rules:
                ctx.line(f"-A {name} {rule_text(rule)}".rstrip())
        return 0
    for index, name in enumerate(names):
        if index:
            ctx.line()
        lines = chain_lines(
            chains[name], _references(tables, table, name), _hits(ctx, table), numeric="-n" in flags,
            verbose="-v" in flags, numbers="--line-numbers" in flags, exact="-x" in flags,
        )  # fmt: skip
        ctx.spend(2 * len(lines))
        for line in lines:
            ctx.line(line)
    return 0


def _save(ctx: Context) -> int:
    if ctx.cred.uid != 0:
        ctx.stderr.write(f"{ctx.name} {_VERSION}: {_NOT_ROOT}".encode("utf-8", "surrogateescape"))
        return 4
    moment = ctx.machine.clock.time()
    stamp = f"{moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}"
    only = ctx.args[ctx.args.index("-t") + 1] if "-t" in ctx.args[:-1] else None
    tables = _tables(ctx)
    if only is not None:
        tables = {only: tables[only]} if only in tables else {}
    for line in save(tables):
        if line.startswith("*"):
            ctx.line(f"# Generated by {ctx.name} v1.8.9 (nf_tables) on {stamp}")
            hits = _hits(ctx, line[1:])
        if line.startswith(":") and line.endswith("[0:0]"):
            count = hits.get((line[1:].split(" ", 1)[0], None), 0)
            line = f"{line.removesuffix('[0:0]')}[{count}:{count * PACKET}]"
        ctx.line(line)
        if line == "COMMIT":
            ctx.line(f"# Completed on {stamp}")
    return 0


def _restore(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if ctx.cred.uid != 0:
        ctx.stderr.write(f"{ctx.name}: {_NOT_ROOT}".encode("utf-8", "surrogateescape"))
        return 4
    try:
        data = ctx.files.read(words[0]) if words else ctx.stdin.read()
    except OSError as error:
        ctx.stderr.write(
            f"Can't open {words[0] if words else 'stdin'}: {error.strerror}\n".encode("utf-8", "surrogateescape")
        )
        raise CommandExit(1) from None
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    tables = _tables(ctx)
    outside = _outside(lines)
    if outside:
        ctx.stderr.write(f"{ctx.name}: line {outside} failed\n".encode("utf-8", "surrogateescape"))
        return 1
    try:
        changed = restore(lines, tables)
    except (FirewallError, KeyError, ValueError, IndexError):
        ctx.stderr.write(f"{ctx.name}: line {_bad_line(lines, tables)} failed\n".encode("utf-8", "surrogateescape"))
        return 1
    if "-t" not in ctx.args and "--test" not in ctx.args:
        _put(ctx, changed)
    return 0


def _outside(lines: list[str]) -> int:
    """The number of the first line that stands in no table, 0 without any."""
    inside = False
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if line.startswith("*"):
            inside = True
        elif line and not line.startswith("#"):
            if not inside:
                return number
            inside = line != "COMMIT"
    return 0


def _bad_line(lines: list[str], tables: Tables) -> int:
    """The number of the first line that cannot be taken in."""
    for number in range(1, len(lines) + 1):
        try:
            restore(lines[:number], tables)
        except (FirewallError, KeyError, ValueError, IndexError):
            return number
    return len(lines)
