"""dns, firewall, sysctl and client: the network as the machine has it, and what its clients got."""

from __future__ import annotations

from runners.probes.arguments import Arguments
from runners.probes.network import judge_client, judge_dns, judge_firewall, judge_sysctl
from runners.sim.machine import Machine
from runners.sim.network.firewall import rule_text
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.probes.baseline import Baseline
from runners.sim.traffic import samples
from runners.worlds import Observation


def dns(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """By nsswitch.conf, /etc/hosts and the servers of resolv.conf, through the firewall."""
    answer = resolve(machine, arguments.require("name"))
    if isinstance(answer, ResolveFailure):
        return judge_dns(None, answer.message, arguments)
    return judge_dns(answer, "", arguments)


def firewall(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    name = arguments.require("chain")
    chain = machine.network.tables["filter"].get(name)
    rules = [f"-A {name} {rule_text(rule)}" for rule in chain.rules] if chain is not None else []
    if chain is not None and chain.policy != "-":
        rules.insert(0, f"-P {name} {chain.policy}")
    return judge_firewall(rules, arguments)


def sysctl(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    return judge_sysctl(machine.network.sysctl.get(arguments.require("key")), arguments)


def client(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Without `within`, since the world was opened, which is when the system's own clock starts."""
    within = arguments.number("within")
    span = machine.clock.now - machine.spec.start_time if within is None else within
    got = samples(machine, name=arguments.text("name"), within=span)
    return judge_client(len(got), [sample.detail for sample in got if not sample.ok], arguments)
