"""The network's own state: what is neither in files nor in processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.network.decisions import Decisions
from runners.sim.network.firewall import EMPTY_TABLES, Packet, Passed, Tables


class Interface(NamedTuple):
    """One interface. `address` without prefix; `up` is its administrative state."""

    name: str
    address: str
    prefix: int
    mac: str = "00:00:00:00:00:00"
    up: bool = True
    mtu: int = 1500


class RemotePort(NamedTuple):
    """A port of another machine. kind: http, https, tcp, postgres, redis, ssh; `banner`: what it says first."""

    port: int
    kind: str = "tcp"
    banner: str = ""


class RemoteHost(NamedTuple):
    name: str
    address: str
    ports: tuple[RemotePort, ...] = ()
    up: bool = True


class Network:
    """Interfaces, routes, firewall tables, kernel settings, and the world outside. Everything in it is immutable.

    `names`: host -> address as the DNS servers at `dns` answer; `hosts`: other machines by address;
    `hits`: packets counted by the rules of the filter table.
    """

    __slots__ = ("decisions", "dns", "gateway", "hits", "hosts", "interfaces", "names", "sysctl", "tables", "tables6")

    def __init__(self) -> None:
        self.interfaces: tuple[Interface, ...] = (Interface("lo", "127.0.0.1", 8, mtu=65536),)
        self.gateway = ""
        self.tables: Tables = EMPTY_TABLES
        self.tables6: Tables = EMPTY_TABLES
        self.decisions = Decisions(EMPTY_TABLES)
        self.hits: Mapping[Passed, int] = {}
        self.sysctl: Mapping[str, str] = {}
        self.names: Mapping[str, str] = {}
        self.hosts: Mapping[str, RemoteHost] = {}
        self.dns: tuple[str, ...] = ()

    def fork(self) -> Network:
        other = Network.__new__(Network)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def decide(self, chain: str, packet: Packet) -> tuple[str, tuple[Passed, ...]]:
        """What the filter table says of a packet, and what it matched on its way, to be counted."""
        if self.decisions.tables is not self.tables:
            self.decisions = Decisions(self.tables)
        return self.decisions.of(chain, packet)

    def interface(self, address: str) -> Interface | None:
        """The local interface that owns an address; all of 127.0.0.0/8 is lo's."""
        if address.startswith("127.") or address == "::1":
            return self.interfaces[0]
        for interface in self.interfaces:
            if interface.address == address:
                return interface
        return None
