"""Opening a TCP connection: names, firewall, listeners here and ports on other machines."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.files.inode import ROOT, Cred
from runners.sim.machine import Machine
from runners.sim.network.firewall import Packet, redirected
from runners.sim.network.names import ResolveFailure, resolve
from runners.sim.network.state import Network, RemoteHost, RemotePort, number
from runners.sim.processes import Process

TIMEOUT = 130.0
"""How long the kernel tries (tcp_syn_retries = 6) before ETIMEDOUT."""


class Connection(NamedTuple):
    """An accepted connection. `process` listens on this machine; or `remote` is a port of another one (`host`)."""

    source: str
    source_port: int
    address: str
    port: int
    process: Process | None = None
    host: RemoteHost | None = None
    remote: RemotePort | None = None
    seconds: float = 0.0002
    cred: Cred = ROOT


class ConnectFailure(NamedTuple):
    """kind: refused, timeout, unreachable, or no-such-host (then `message` is the resolver's)."""

    kind: str
    seconds: float
    message: str
    address: str = ""
    port: int = 0


_MESSAGES = {
    "refused": "Connection refused",
    "timeout": "Connection timed out",
    "unreachable": "No route to host",
    "network": "Network is unreachable",
    "blackhole": "Invalid argument",
    "prohibit": "Permission denied",
}


def connect(
    machine: Machine,
    host: str,
    port: int,
    *,
    source: str = "127.0.0.1",
    cred: Cred = ROOT,
    timeout: float = TIMEOUT,
) -> Connection | ConnectFailure:
    """Connect as a process of this machine (`source` a local address) or, from an outside address, to this machine.

    Spends no time: `seconds` says how long it took.
    """
    address = resolve(machine, host)
    if isinstance(address, ResolveFailure):
        return ConnectFailure("no-such-host", address.seconds, address.message, "", port)
    network = machine.network
    inside = network.interface(source) is not None
    own = network.interface(address) if address != "0.0.0.0" else network.interfaces[0]  # noqa: S104
    address = "127.0.0.1" if address == "0.0.0.0" else address  # noqa: S104
    source_port = 32768 + machine.count("connections") % 28232
    if own is not None:
        return _to_self(machine, address, port, source, source_port, inside, cred, timeout)
    return _to_other(machine, address, port, source_port, cred, timeout)


def accepted(machine: Machine, pid: int) -> int:
    """How many connections a command that listens has taken."""
    return machine.counters.get(f"accepted by {pid}", 0)


def _to_self(
    machine: Machine, address: str, port: int, source: str, source_port: int, inside: bool, cred: Cred, timeout: float
) -> Connection | ConnectFailure:
    network = machine.network
    own = network.interface(address)
    assert own is not None
    if ":" in address:
        # The tables of iptables are IPv4's: nothing stands in the way.
        process = machine.processes.listener("tcp", port, address)
        if process is None:
            return _failed("refused", 0.0002, address, port)
        return Connection(address, source_port, address, port, process, cred=cred)
    if not own.up and not inside:
        return _failed("timeout", timeout, address, port)
    if inside:
        # Traffic to one of the machine's own addresses goes over lo, whatever interface owns the address.
        source = source if address.startswith("127.") else address
        out = Packet(source, address, "tcp", port, source_port, "", "lo")
        address, port = redirected(network.tables, "OUTPUT", out)
        if (address, port) != (out.destination, out.destination_port):
            out = out._replace(destination=address, destination_port=port)
        blocked = _blocked(machine, "OUTPUT", out)
        if blocked:
            return _stopped(blocked, timeout, address, port)
    packet = Packet(source, address, "tcp", port, source_port, "lo" if inside else own.name, "")
    if not inside:
        address, port = redirected(network.tables, "PREROUTING", packet)
        if (address, port) != (packet.destination, packet.destination_port):
            packet = packet._replace(destination=address, destination_port=port)
    blocked = _blocked(machine, "INPUT", packet)
    if blocked:
        return _stopped(blocked, timeout, address, port)
    back = Packet(address, source, "tcp", source_port, port, "", "lo" if inside else own.name, "ESTABLISHED")
    if _decide(machine, "OUTPUT", back, _EXCHANGED) != "ACCEPT":
        return _failed("timeout", timeout, address, port)
    _decide(machine, "INPUT", packet._replace(state="ESTABLISHED"), _EXCHANGED)
    process = machine.processes.listener("tcp", port, address)
    if process is None:
        return _failed("refused", 0.0002, address, port)
    if process.state == "T":
        return _failed("timeout", timeout, address, port)
    if process.program not in machine.programs:
        machine.count(f"accepted by {process.pid}")
    return Connection(source, source_port, address, port, process, cred=cred)


def _to_other(
    machine: Machine, address: str, port: int, source_port: int, cred: Cred, timeout: float
) -> Connection | ConnectFailure:
    network = machine.network
    way = network.way(address)
    if way is None:
        return _unrouted(network, address, port)
    out = Packet(way.source, address, "tcp", port, source_port, "", way.interface.name)
    blocked = _blocked(machine, "OUTPUT", out)
    if blocked:
        return _stopped(blocked, timeout, address, port)
    back = Packet(address, way.source, "tcp", source_port, port, way.interface.name, "", "ESTABLISHED")
    if _decide(machine, "INPUT", back, _EXCHANGED) != "ACCEPT":
        return _failed("timeout", timeout, address, port)
    if way.gateway not in ("", network.router):
        # Nobody there passes packets on, or answers when asked for its hardware address.
        return _failed("unreachable", 3.1, address, port)
    host = network.hosts.get(address)
    if host is None:
        return _failed("timeout", timeout, address, port)
    if not host.up:
        return _failed("unreachable", 3.1, address, port)
    for remote in host.ports:
        if remote.port == port:
            return Connection(
                way.source, source_port, address, port, host=host, remote=remote, seconds=0.0012, cred=cred
            )
    return _failed("refused", 0.0011, address, port)


def _unrouted(network: Network, address: str, port: int) -> ConnectFailure:
    """Without a route, or by one that says no: what the kernel says differs by the kind of route."""
    route = network.route(number(address)) if ":" not in address else None
    message = _MESSAGES["network"] if route is None else _MESSAGES.get(route.kind, _MESSAGES["network"])
    return ConnectFailure("unreachable", 0.0, message, address, port)


_EXCHANGED = 5
"""Packets in each direction of a connection after its first one."""


def _decide(machine: Machine, chain: str, packet: Packet, packets: int = 1) -> str:
    """What the rules say of packets like this one; they count them."""
    network = machine.network
    decision, passed = network.decide(chain, packet)
    network.hits = {**network.hits, **{one: network.hits.get(one, 0) + packets for one in passed}}
    return decision


def _blocked(machine: Machine, chain: str, packet: Packet) -> str:
    decision = _decide(machine, chain, packet)
    return {"DROP": "timeout", "REJECT": "refused"}.get(decision, "")


def _stopped(kind: str, timeout: float, address: str, port: int) -> ConnectFailure:
    """By a firewall: one that rejects says so at once, one that drops lets the caller wait."""
    return _failed(kind, timeout if kind == "timeout" else 0.0002, address, port)


def _failed(kind: str, seconds: float, address: str, port: int) -> ConnectFailure:
    return ConnectFailure(kind, seconds, _MESSAGES[kind], address, port)
