"""One probe on one world: the table of what can be asked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from runners.hosts.dbus import DBusError
from runners.hosts.outside import Outside
from runners.hosts.probes import accounts, certificate, network, redis, services, sql, ssh, storage
from runners.probes.arguments import Arguments
from runners.worlds import Observation
from scenario_dsl.model import Probe

KINDS: Mapping[str, Callable[[Outside, Arguments], Observation]] = MappingProxyType(
    {
        "certificate": certificate.certificate,
        "client": network.client,
        "cron": storage.cron,
        "disk": storage.disk,
        "dns": network.dns,
        "file": storage.file,
        "firewall": network.firewall,
        "http": network.ask_http,
        "limit": services.limit,
        "log": storage.log,
        "memory": services.memory,
        "mount": storage.mount,
        "process": services.process,
        "redis": redis.redis,
        "socket": services.socket,
        "sql": sql.sql,
        "ssh": ssh.ssh,
        "unit": services.unit,
        "user": accounts.user,
    }
)


def evaluate(outside: Outside, probe: Probe) -> Observation:
    """What the probe says now. A world that keeps our questions from being asked does not hold what is expected."""
    try:
        return KINDS[probe.type](outside, Arguments(probe))
    except (DBusError, OSError) as error:
        return Observation(holds=False, detail=f"{probe.type}: {error}".replace("\n", " ")[:300])
