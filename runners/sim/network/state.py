"""The network's own state: what is neither in files nor in processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.network.decisions import Decisions
from runners.sim.network.firewall import EMPTY_TABLES, Packet, Passed, Tables
from runners.text import is_digits


def number(address: str) -> int:
    """An IPv4 address as a number; -1 for what is none."""
    parts = address.split(".")
    if len(parts) != 4 or not all(is_digits(part) and len(part) < 4 for part in parts):
        return -1
    one, two, three, four = (int(part) for part in parts)
    return one << 24 | two << 16 | three << 8 | four if max(one, two, three, four) < 256 else -1


def dotted(address: int) -> str:
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


class Address(NamedTuple):
    """One IPv4 address of an interface. `label`: what ifconfig calls it, "" for the interface's own name."""

    text: str
    prefix: int
    broadcast: str = ""
    label: str = ""

    @property
    def subnet(self) -> tuple[int, int]:
        """(network, prefix): what the kernel makes a route of."""
        return number(self.text) & mask(self.prefix), self.prefix

    @property
    def scope(self) -> str:
        return "host" if self.text.startswith("127.") else "global"


def mask(prefix: int) -> int:
    return 0xFFFFFFFF << (32 - prefix) & 0xFFFFFFFF


class Interface(NamedTuple):
    """One interface with its IPv4 addresses, the primary ones first; `up` is its administrative state."""

    name: str
    addresses: tuple[Address, ...] = ()
    mac: str = "00:00:00:00:00:00"
    up: bool = True
    mtu: int = 1500
    queue: int = 1000

    @property
    def address(self) -> str:
        """What packets come from that leave here; "" without any."""
        return self.addresses[0].text if self.addresses else ""

    def secondary(self, address: Address) -> bool:
        """Whether an earlier address has the same subnet: the later one makes no route and goes with the earlier."""
        return next(one for one in self.addresses if one.subnet == address.subnet) != address


class Route(NamedTuple):
    """One route of the main table. kind: unicast, or what it does to packets (blackhole, unreachable, prohibit).

    `source`: the kernel's own, of an interface's address.
    """

    network: int
    prefix: int
    gateway: str = ""
    device: str = ""
    kind: str = "unicast"
    metric: int = 0
    source: str = ""

    @property
    def destination(self) -> str:
        if not self.prefix:
            return "default"
        return dotted(self.network) + (f"/{self.prefix}" if self.prefix < 32 else "")

    def leads_to(self, address: int) -> bool:
        return not (address ^ self.network) >> (32 - self.prefix)


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


class Way(NamedTuple):
    """The interface that packets leave through, the address they come from, and the machine next on their way."""

    interface: Interface
    source: str
    gateway: str


class Network:
    """Interfaces, routes, firewall tables, kernel settings, and the world outside. Everything in it is immutable.

    `router`: the machine that passes packets on, whatever the routes say;
    `names`: host -> address as the DNS servers at `dns` answer; `hosts`: other machines by address;
    `hits`: packets counted by the rules of the filter table.
    """

    __slots__ = (
        "decisions", "dns", "hits", "hosts", "interfaces", "names", "router", "routes", "sysctl", "tables", "tables6",
    )  # fmt: skip

    def __init__(self) -> None:
        self.interfaces: tuple[Interface, ...] = (Interface("lo", (Address("127.0.0.1", 8),), mtu=65536),)
        self.routes: tuple[Route, ...] = ()
        self.router = ""
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
            for one in interface.addresses:
                if one.text == address:
                    return interface
        return None

    def route(self, address: int) -> Route | None:
        """The most specific route to an address; of equal ones that of the lowest metric."""
        best: Route | None = None
        for route in self.routes:
            if route.leads_to(address) and (
                best is None or (route.prefix, -route.metric) > (best.prefix, -best.metric)
            ):
                best = route
        return best

    def way(self, address: str) -> Way | None:
        """How packets to another machine leave this one, or None where the network is unreachable."""
        route = self.route(number(address)) if ":" not in address else None
        if route is None or route.kind != "unicast":
            return None
        for interface in self.interfaces:
            if interface.name == route.device:
                return Way(interface, route.source or self._source(interface, route.gateway or address), route.gateway)
        return None

    @staticmethod
    def _source(interface: Interface, peer: str) -> str:
        """An address of the interface in its peer's subnet, or else its first one."""
        there = number(peer)
        near = (one.text for one in interface.addresses if not (number(one.text) ^ there) >> (32 - one.prefix))
        return next(near, interface.address)
