"""Name resolution the way glibc does it: nsswitch.conf, /etc/hosts, then the servers of resolv.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.machine import Machine
from runners.sim.network.firewall import Packet

_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+")


class ResolveFailure(NamedTuple):
    """kind: not-found (the servers say so, or nobody knows) or try-again (no server answered). seconds: waited."""

    name: str
    kind: str
    seconds: float = 0.0

    @property
    def message(self) -> str:
        """getaddrinfo's words."""
        if self.kind == "try-again":
            return "Temporary failure in name resolution"
        return "Name or service not known"


class DnsAnswer(NamedTuple):
    """One server's answer. status: NOERROR, NXDOMAIN or "" when there was none; records: (name, type, value)."""

    server: str
    status: str
    records: tuple[tuple[str, str, str], ...] = ()
    seconds: float = 0.001


def resolve(machine: Machine, name: str) -> str | ResolveFailure:
    """The first IPv4 (or only) address of a name, as getaddrinfo gives it. Addresses resolve to themselves."""
    if _ADDRESS.fullmatch(name):
        return name
    if not name or len(name) > 253 or "/" in name or " " in name:
        return ResolveFailure(name, "not-found")
    failure = ResolveFailure(name, "not-found")
    for source in _sources(_text(machine, "/etc/nsswitch.conf")):
        if source == "files":
            address = hosts(_text(machine, "/etc/hosts")).get(name.rstrip(".").lower())
            if address is not None:
                return address
        elif source == "dns":
            answer = _by_dns(machine, name)
            if isinstance(answer, str):
                return answer
            failure = answer
        elif source == "myhostname" and name in (machine.spec.hostname, "localhost"):
            return "127.0.0.1" if name == "localhost" else "127.0.1.1"
    return failure


def resolve_all(machine: Machine, name: str) -> tuple[str, ...] | ResolveFailure:
    """All addresses of a name in the order that getaddrinfo gives them: the host's own IPv6 one before IPv4."""
    first = resolve(machine, name)
    if isinstance(first, ResolveFailure) or first == name:
        return first if isinstance(first, ResolveFailure) else (first,)
    six = hosts_six(_text(machine, "/etc/hosts")).get(name.rstrip(".").lower())
    off = machine.network.sysctl.get("net.ipv6.conf.all.disable_ipv6", "0") == "1"
    return (first,) if six is None or six == first or off else (six, first)


def canonical(machine: Machine, name: str) -> str:
    """The name under which the servers know it: with the domain of the search list that led to an answer."""
    if name.rstrip(".").lower() in hosts(_text(machine, "/etc/hosts")):
        return name
    config = resolv_conf(_text(machine, "/etc/resolv.conf"))
    for candidate in _candidates(name, config):
        for server in config.servers:
            answer = query(machine, candidate, server)
            if answer.records:
                return candidate
            if answer.status:
                break
    return name


@lru_cache(maxsize=256)
def hosts_six(text: str) -> Mapping[str, str]:
    """Names of /etc/hosts with their IPv6 address."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and ":" in words[0]:
            for name in words[1:]:
                found.setdefault(name.lower(), words[0])
    return found


def _text(machine: Machine, path: str) -> str:
    try:
        return _decoded(machine.view().read(path))
    except OSError:
        return ""


@lru_cache(maxsize=64)
def _decoded(data: bytes) -> str:
    """The same text for the same bytes, so that what is kept by a text is found by it at once."""
    return data.decode("utf-8", "surrogateescape")


@lru_cache(maxsize=256)
def _sources(text: str) -> tuple[str, ...]:
    for line in text.splitlines():
        key, colon, value = line.split("#", 1)[0].partition(":")
        if colon and key.strip() == "hosts":
            return tuple(word for word in value.split() if not word.startswith("["))
    return ("dns", "files")


@lru_cache(maxsize=256)
def hosts(text: str) -> Mapping[str, str]:
    """Names of /etc/hosts with their first address; IPv4 lines win over IPv6 ones."""
    found: dict[str, str] = {}
    six: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and _ADDRESS.fullmatch(words[0]):
            table = six if ":" in words[0] else found
            for name in words[1:]:
                table.setdefault(name.lower(), words[0])
    return {**six, **found}


class ResolvConf(NamedTuple):
    servers: tuple[str, ...]
    search: tuple[str, ...]
    timeout: float
    attempts: int
    ndots: int


_DIGITS = re.compile(r"[0-9]{1,9}")


@lru_cache(maxsize=256)
def resolv_conf(text: str) -> ResolvConf:
    """/etc/resolv.conf; without a nameserver line it is the local host's."""
    servers: list[str] = []
    search: tuple[str, ...] = ()
    options: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 2 or line.startswith(("#", ";")):
            continue
        if words[0] == "nameserver" and _ADDRESS.fullmatch(words[1]):
            servers.append(words[1])
        elif words[0] in ("search", "domain"):
            search = tuple(words[1:])
        elif words[0] == "options":
            options |= dict(word.partition(":")[::2] for word in words[1:])
    return ResolvConf(
        tuple(servers[:3]) or ("127.0.0.1",),
        search,
        float(_atoi(options.get("timeout", "5"), most=30)),
        _atoi(options.get("attempts", "2"), most=5),
        _atoi(options.get("ndots", "1"), most=15),
    )


def _atoi(text: str, *, most: int) -> int:
    """As the resolver reads its options: the digits in front count, and no number is above what it allows."""
    digits = _DIGITS.match(text)
    return min(int(digits[0]), most) if digits is not None else 0


def _by_dns(machine: Machine, name: str) -> str | ResolveFailure:
    config = resolv_conf(_text(machine, "/etc/resolv.conf"))
    waited = 0.0
    answered = False
    for candidate in _candidates(name, config):
        for server in config.servers:
            answer = query(machine, candidate, server)
            if not answer.status:
                waited += config.timeout if answer.seconds >= 1 else answer.seconds
                continue
            answered = True
            address = next((value for _, kind, value in answer.records if kind == "A"), None)
            if address is not None:
                return address
            break
    if answered:
        return ResolveFailure(name, "not-found", waited)
    return ResolveFailure(name, "try-again", waited * config.attempts)


def _candidates(name: str, config: ResolvConf) -> Iterator[str]:
    plain = name.rstrip(".")
    if name.endswith(".") or not config.search:
        yield plain
        return
    expanded = [f"{plain}.{domain}" for domain in config.search]
    if plain.count(".") >= config.ndots:
        yield from (plain, *expanded)
    else:
        yield from (*expanded, plain)


def query(machine: Machine, name: str, server: str, kind: str = "A") -> DnsAnswer:
    """Ask one server. No answer (status "") when it is not a DNS server, cannot be reached, or a firewall drops it."""
    network = machine.network
    if server not in network.dns:
        local = network.interface(server) is not None
        return DnsAnswer(server, "", seconds=0.0 if local else 5.0)
    way = network.way(server)
    if way is None:
        return DnsAnswer(server, "")
    if way.gateway not in ("", network.router):
        return DnsAnswer(server, "", seconds=5.0)
    packet = Packet(way.source, server, "udp", 53, 40000, "", way.interface.name)
    if network.decide("OUTPUT", packet)[0] != "ACCEPT":
        return DnsAnswer(server, "", seconds=5.0)
    back = Packet(server, packet.source, "udp", 40000, 53, packet.out_interface, "", "ESTABLISHED")
    if network.decide("INPUT", back)[0] != "ACCEPT":
        return DnsAnswer(server, "", seconds=5.0)
    wanted = name.rstrip(".").lower()
    if kind == "PTR":
        found = next((host for host, address in network.names.items() if reverse(address) == wanted), None)
        records = ((wanted, "PTR", f"{found}."),) if found else ()
        return DnsAnswer(server, "NOERROR" if found else "NXDOMAIN", records)
    address = network.names.get(wanted)
    if address is None:
        return DnsAnswer(server, "NXDOMAIN")
    return DnsAnswer(server, "NOERROR", ((wanted, "A", address),) if kind in ("A", "ANY") else ())


def reverse(address: str) -> str:
    """The name that a PTR query for an IPv4 address asks for."""
    return ".".join(reversed(address.split("."))) + ".in-addr.arpa"
