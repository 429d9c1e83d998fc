"""The probe types: what can be measured on a system, and what can be expected of it.

Each backend looks in its own way, and each type has one judge; the schema, `check` and the reference are made from this
table. Every expectation that is given must hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scenario_dsl.probes.databases import REDIS, SQL
from scenario_dsl.probes.files import CERTIFICATE, DISK, FILE, MOUNT
from scenario_dsl.probes.machine import CRON, LIMIT, LOG, MEMORY, PROCESS, SYSCTL, UNIT, USER
from scenario_dsl.probes.network import CLIENT, DNS, FIREWALL, HTTP, SOCKET, SSH
from scenario_dsl.probes.scheduling import LATENCY, SCHEDULER, THROUGHPUT
from scenario_dsl.probes.shape import ProbeType, may

__all__ = ["NODE", "PROBES", "ProbeType"]

NODE = may("node", "string", "the machine of a fleet that it is about; the first one otherwise")
"""What every probe takes besides its own arguments."""
PROBES: Mapping[str, ProbeType] = MappingProxyType(
    {
        probe.name: probe
        for probe in (
            HTTP,
            UNIT,
            FILE,
            SOCKET,
            PROCESS,
            DISK,
            MEMORY,
            CRON,
            USER,
            SSH,
            LOG,
            SQL,
            REDIS,
            DNS,
            CERTIFICATE,
            FIREWALL,
            CLIENT,
            MOUNT,
            SYSCTL,
            LIMIT,
            LATENCY,
            THROUGHPUT,
            SCHEDULER,
        )
    }
)
