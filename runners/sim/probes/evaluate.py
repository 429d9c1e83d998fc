"""Evaluating probes, and not evaluating them again while nothing they read has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from types import MappingProxyType
from typing import NamedTuple

from runners.probes.arguments import Arguments
from runners.sim.machine import Machine
from runners.sim.probes import (
    accounts,
    certificate,
    cron,
    databases,
    disk,
    file,
    http,
    logs,
    network,
    processes,
    ssh,
    units,
)
from runners.sim.probes.baseline import NOTHING_KNOWN, Baseline
from runners.worlds import Observation
from scenario_dsl.model import Probe

Evaluate = Callable[[Machine, Arguments, Baseline], Observation]

Parts = Callable[[Machine], tuple[object, ...]]
"""The immutable parts of a machine that an answer depends on: a part that is the same object holds the same facts."""
Reads = Callable[[Arguments], Parts]


class Kind(NamedTuple):
    """One probe type. `reads`: all parts its answer depends on, or None where it depends on too much to be kept (the
    clock, the journal, whatever answers a request). `acts`: asking changes things, so it is done on a fork."""

    evaluate: Evaluate
    reads: Reads | None = None
    acts: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "certificate": Kind(certificate.certificate, acts=True),
        "client": Kind(network.client),
        "cron": Kind(cron.cron),
        "disk": Kind(
            disk.disk, lambda _: lambda machine: (machine.files.inodes, machine.files.mounts, machine.files.usage)
        ),
        "dns": Kind(network.dns, acts=True),
        "file": Kind(file.evaluate, file.reads),
        "firewall": Kind(network.firewall, lambda _: lambda machine: (machine.network.tables,)),
        "http": Kind(http.http, acts=True),
        "limit": Kind(units.limit, units.limit_reads),
        "log": Kind(logs.log),
        "memory": Kind(processes.memory, lambda _: lambda machine: (machine.processes.by_pid,)),
        "mount": Kind(disk.mount, lambda _: lambda machine: (machine.files.mounts,)),
        "process": Kind(processes.process, lambda _: lambda machine: (machine.processes.by_pid, machine.files.inodes)),
        "redis": Kind(databases.redis, acts=True),
        "socket": Kind(processes.socket, lambda _: lambda machine: (machine.processes.with_sockets,)),
        "sql": Kind(databases.sql, acts=True),
        "ssh": Kind(ssh.ssh, acts=True),
        "sysctl": Kind(network.sysctl, lambda _: lambda machine: (machine.network.sysctl,)),
        "unit": Kind(units.unit, units.unit_reads),
        "user": Kind(accounts.user, lambda _: lambda machine: (machine.files.inodes,)),
    }
)
"""Every probe type that this machine can be asked."""


def evaluate(machine: Machine, probe: Probe, baseline: Baseline = NOTHING_KNOWN) -> Observation:
    """What the probe says now. The machine is as it was afterwards."""
    return _ask(machine, probe, Arguments(probe), baseline)


def _ask(machine: Machine, probe: Probe, arguments: Arguments, baseline: Baseline) -> Observation:
    kind = KINDS[probe.type]
    return kind.evaluate(machine.fork() if kind.acts else machine, arguments, baseline)


class Memo:
    """Probes already evaluated on one machine, kept while the parts they read are the same objects."""

    __slots__ = ("_arguments", "_known", "baseline")

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._arguments: dict[int, tuple[Probe, Arguments, Parts | None]] = {}
        self._known: dict[int, tuple[Probe, tuple[object, ...], Observation]] = {}

    def fork(self) -> Memo:
        """For a second machine in the same state. What the probes say of themselves is read once for all of them."""
        other = Memo(self.baseline)
        other._arguments = self._arguments
        other._known = dict(self._known)
        return other

    def evaluate(self, machine: Machine, probe: Probe) -> Observation:
        key = id(probe)
        held = self._arguments.get(key)
        if held is None or held[0] is not probe:
            # Holding the probe keeps its id from being given to another one.
            arguments, reads = Arguments(probe), KINDS[probe.type].reads
            held = self._arguments[key] = (probe, arguments, None if reads is None else reads(arguments))
        _, arguments, parts_of = held
        if parts_of is None:
            return _ask(machine, probe, arguments, self.baseline)
        parts = parts_of(machine)
        known = self._known.get(key)
        if known is not None and known[0] is probe and all(map(is_, known[1], parts)):
            return known[2]
        observation = _ask(machine, probe, arguments, self.baseline)
        self._known[key] = (probe, parts, observation)
        return observation
