"""Evaluating probes, and not evaluating them again while nothing they read has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

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
from runners.sim.probes.arguments import Arguments
from runners.sim.probes.baseline import NOTHING_KNOWN, Baseline
from runners.worlds import Observation
from scenario_dsl.model import Probe

Evaluate = Callable[[Machine, Arguments, Baseline], Observation]

_PARTS: Mapping[str, Callable[[Machine], object]] = MappingProxyType(
    {
        "files": lambda machine: machine.files.inodes,
        "loaded": lambda machine: machine.systemd.loaded,
        "mounts": lambda machine: machine.files.mounts,
        "network": lambda machine: machine.network.tables,
        "processes": lambda machine: machine.processes.by_pid,
        "sysctl": lambda machine: machine.network.sysctl,
        "units": lambda machine: machine.systemd.units,
        "usage": lambda machine: machine.files.usage,
    }
)
"""The immutable parts of a machine: a part that is the same object holds the same facts."""


class Kind(NamedTuple):
    """One probe type. `reads`: all parts its answer depends on, or none where it depends on too much to be kept (the
    clock, the journal, whatever answers a request). `acts`: asking changes things, so it is done on a fork."""

    evaluate: Evaluate
    reads: tuple[str, ...] = ()
    acts: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "certificate": Kind(certificate.certificate),
        "client": Kind(network.client),
        "cron": Kind(cron.cron),
        "disk": Kind(disk.disk, ("files", "mounts", "usage")),
        "dns": Kind(network.dns, acts=True),
        "file": Kind(file.evaluate, ("files", "mounts")),
        "firewall": Kind(network.firewall, ("network",)),
        "http": Kind(http.http, acts=True),
        "limit": Kind(units.limit, ("files", "loaded", "processes", "units")),
        "log": Kind(logs.log),
        "memory": Kind(processes.memory, ("processes",)),
        "mount": Kind(disk.mount, ("mounts",)),
        "process": Kind(processes.process, ("processes", "files")),
        "redis": Kind(databases.redis, acts=True),
        "socket": Kind(processes.socket, ("processes",)),
        "sql": Kind(databases.sql, acts=True),
        "ssh": Kind(ssh.ssh, acts=True),
        "sysctl": Kind(network.sysctl, ("sysctl",)),
        "unit": Kind(units.unit, ("files", "loaded", "processes", "units")),
        "user": Kind(accounts.user, ("files",)),
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
        self._arguments: dict[int, tuple[Probe, Arguments]] = {}
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
            held = self._arguments[key] = (probe, Arguments(probe))
        reads = KINDS[probe.type].reads
        if not reads:
            return _ask(machine, probe, held[1], self.baseline)
        parts = tuple(_PARTS[name](machine) for name in reads)
        known = self._known.get(key)
        if (
            known is not None
            and known[0] is probe
            and all(one is other for one, other in zip(known[1], parts, strict=True))
        ):
            return known[2]
        observation = _ask(machine, probe, held[1], self.baseline)
        self._known[key] = (probe, parts, observation)
        return observation
