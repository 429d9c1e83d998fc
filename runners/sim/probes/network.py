"""dns, firewall, sysctl and client: the network as the machine has it, and what its clients got."""

from __future__ import annotations

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.network.firewall import rule_text
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.probes.baseline import Baseline
from runners.sim.traffic import samples
from runners.worlds import Observation


def dns(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """By nsswitch.conf, /etc/hosts and the servers of resolv.conf, through the firewall."""
    seen, name = Seen(), arguments.require("name")
    answer, wanted = resolve(machine, name), arguments.flag("resolves")
    if isinstance(answer, ResolveFailure):
        seen.expect(not wanted, f"{name}: {answer.message}")
        return seen.observation()
    address = arguments.text("address")
    seen.expect(bool(wanted) and address in (None, answer), f"{name} resolves to {answer}")
    return seen.observation()


def firewall(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    seen, name, pattern = Seen(), arguments.require("chain"), arguments.require("rule")
    chain = machine.network.tables["filter"].get(name)
    rules = [f"-A {name} {rule_text(rule)}" for rule in chain.rules] if chain is not None else []
    if chain is not None and chain.policy != "-":
        rules.insert(0, f"-P {name} {chain.policy}")
    matching = [rule for rule in rules if found(pattern, rule)]
    fact = f"{name}: {matching[0]}" if matching else f"{name} has no rule /{pattern}/"
    seen.expect(arguments.flag("present") is bool(matching), fact)
    return seen.observation()


def sysctl(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    seen, key = Seen(), arguments.require("key")
    value = machine.network.sysctl.get(key)
    wanted = " ".join((arguments.text("equals") or "").split())
    seen.expect(value is not None and " ".join(value.split()) == wanted, f"{key} = {value}")
    return seen.observation()


def client(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Without `within`, since the world was opened, which is when the system's own clock starts."""
    seen, name, within = Seen(), arguments.text("name"), arguments.number("within")
    span = machine.clock.now - machine.spec.start_time if within is None else within
    got = samples(machine, name=name, within=span)
    failed = [sample for sample in got if not sample.ok]
    fact = f"{len(failed)} of {len(got)} requests failed" + (f", last: {failed[-1].detail}" if failed else "")
    seen.expect(len(failed) <= (arguments.integer("errors_at_most") or 0), fact)
    return seen.observation()
