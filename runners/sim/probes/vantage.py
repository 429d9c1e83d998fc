"""Where a probe stands that asks over the network: outside, where the system's clients are."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.network.described import known_address
from runners.sim.traffic import clients

LOCAL = ("localhost", "127.0.0.1", "::1")
_STRANGER = "198.51.100.23"


def client_address(machine: Machine) -> str:
    """An address that requests come from: the first outside client's, so that rules about clients apply."""
    for client in clients(machine):
        for source in client.sources:
            if machine.network.interface(source) is None:
                return source
    return _STRANGER


def own_address(machine: Machine, host: str) -> str | None:
    """Where a client finds this machine: its outward address, for any name or address of its own."""
    outward = known_address(machine)
    own = (*LOCAL, machine.spec.hostname, outward)
    return outward if host in own or machine.network.names.get(host) == outward else None
