"""dns, firewall, sysctl and client: the network as the machine has it, and what its clients got."""

from __future__ import annotations

from collections.abc import Sequence

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import observed
from runners.worlds import Observation


def judge_dns(address: str | None, problem: str, arguments: Arguments) -> Observation:
    """`address`: what the name resolves to, None where it does not, because of a `problem`."""
    name, wanted = arguments.require("name"), arguments.flag("resolves")
    if address is None:
        return observed(not wanted, f"{name}: {problem}")
    return observed(bool(wanted) and arguments.text("address") in (None, address), f"{name} resolves to {address}")


def judge_firewall(rules: Sequence[str], arguments: Arguments) -> Observation:
    """`rules`: the chain's policy and rules, as `iptables -S` prints them."""
    name, pattern = arguments.require("chain"), arguments.require("rule")
    matching = next((rule for rule in rules if found(pattern, rule)), None)
    fact = f"{name}: {matching}" if matching is not None else f"{name} has no rule /{pattern}/"
    return observed(arguments.flag("present") is (matching is not None), fact)


def judge_sysctl(value: str | None, arguments: Arguments) -> Observation:
    """`value`: the setting's, None where there is none of that name."""
    wanted = " ".join((arguments.text("equals") or "").split())
    held = value is not None and " ".join(value.split()) == wanted
    return observed(held, f"{arguments.require('key')} = {value}")


def judge_client(requests: int, failures: Sequence[str], arguments: Arguments) -> Observation:
    """`failures`: what came of those requests that failed, in their order."""
    last = f", last: {failures[-1]}" if failures else ""
    most = arguments.integer("errors_at_most") or 0
    return observed(len(failures) <= most, f"{len(failures)} of {requests} requests failed{last}")
