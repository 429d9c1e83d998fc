"""http, dns, firewall and client: asked over the network by code of our own, which stands outside the world or,
for what the machine offers to itself alone, in its network and nowhere else of it."""

from __future__ import annotations

import http.client
import socket
import ssl
import struct
import time
from contextlib import closing
from typing import NamedTuple
from urllib.parse import urlsplit

from runners.hosts.kernel import in_network
from runners.hosts.outside import LOCAL, Outside
from runners.hosts.probes.tracing import HEADER, Trace
from runners.hosts.wiring import firewall_rules
from runners.probes.arguments import Arguments
from runners.probes.http import Answer, judge, patience
from runners.probes.network import judge_client, judge_dns, judge_firewall
from runners.probes.seen import Seen, nothing_held
from runners.worlds import Observation

_PATIENCE = 20.0
_AGENT = "Blackbox-Exporter/0.24.0"
"""A request of ours looks like one more of the system's own monitor."""
_LARGEST = 4 << 20


def ask_http(outside: Outside, arguments: Arguments) -> Observation:
    """From outside, through the firewall, to the machine's own address, even for `http://localhost/…`; only a port that
    the healthy machine offers to itself alone is asked from inside. The answer counts when what listens there is what
    listens there on the healthy machine."""
    seen, url = Seen(), arguments.require("url")
    where = reach(outside, url)
    if where.stranger is not None:
        return nothing_held(where.stranger)
    try:
        answer, way = _exchange(outside, where, arguments)
    except (OSError, http.client.HTTPException) as error:
        return nothing_held(f"{url}: {error or type(error).__name__}")
    judge(answer, arguments, seen)
    _judge_way(outside, (arguments.text("method") or "GET", url, arguments.text("host") or ""), way, seen)
    return seen.observation()


def _exchange(outside: Outside, where: Reach, arguments: Arguments) -> tuple[Answer, frozenset[int]]:
    """An answer and its way, the ports inside that it came through. Raises OSError, HTTPException."""
    parts, longest = urlsplit(arguments.require("url")), patience(arguments, _PATIENCE)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    begun = time.monotonic()
    with closing(Trace(outside.box.inside)) as trace:
        headers = {"User-Agent": _AGENT, "Host": arguments.text("host") or parts.netloc, HEADER: trace.mark}
        with closing(http.client.HTTPConnection(where.host, where.port, timeout=longest)) as asked:
            link = where.connected(outside, longest)
            asked.sock = secured(link, where.host) if parts.scheme == "https" else link
            asked.request(arguments.text("method") or "GET", path, headers=headers)
            got = asked.getresponse()
            body = got.read(_LARGEST)
        answer = Answer(got.status, body, got.getheader, time.monotonic() - begun)
        return answer, trace.way(body)


def _judge_way(outside: Outside, question: tuple[str, str, str], way: frozenset[int], seen: Seen) -> None:
    """While the machine is healthy its way is noted; later one that leaves out a program of it is no answer. Programs
    may have moved to other ports: who asks gets the same from the same."""
    if not outside.in_trouble:
        if seen.observation().holds:
            outside.ways[question] = way
        return
    usual = outside.ways.get(question, frozenset())
    passed = programs_on(outside, way) if usual else frozenset()
    for port in sorted(usual):
        belonging = outside.baseline.listeners.get(("tcp", port), frozenset())
        if not any(programs <= belonging for programs in passed):
            seen.expect(False, f"{question[1]} was not answered by the program that was on port {port}")


def programs_on(outside: Outside, ports: frozenset[int]) -> frozenset[frozenset[str]]:
    """Of each of these ports that somebody listens on, the programs of all who hold it: who shares one may have
    answered in another's place."""
    running = outside.processes()
    by_pid = {one.pid: one for one in running}
    held: dict[int, set[str]] = {}
    for listener in outside.listeners(running):
        if listener.protocol == "tcp" and listener.port in ports:
            found = held.setdefault(listener.port, set())
            # The first process opens sockets for services and hands them out.
            found.update(outside.program(by_pid[pid]) for pid in listener.pids if pid in by_pid and pid != outside.pid)
    return frozenset(frozenset(programs) for programs in held.values() if programs)


def stranger_on(outside: Outside, port: int) -> str | None:
    """Who listens on the port and does not belong there; None where nobody does or it is the right one."""
    if ("tcp", port) not in outside.baseline.listeners:
        return None
    running = outside.processes()
    by_pid = {one.pid: one for one in running}
    holders = [
        by_pid[pid]
        for listener in outside.listeners(running)
        if listener.protocol == "tcp" and listener.port == port
        for pid in listener.pids
        if pid in by_pid
    ]
    if not holders or any(outside.genuine_listener("tcp", port, one) for one in holders):
        return None
    return holders[0].name


class Reach(NamedTuple):
    """Where an address leads: from inside the world's network or from outside it, and who listens there without
    belonging there, in words."""

    host: str
    address: str
    port: int
    inside: bool
    stranger: str | None

    def connected(self, outside: Outside, seconds: float = _PATIENCE) -> socket.socket:
        """Raises OSError."""
        return connected(outside, self.address, self.port, inside=self.inside, seconds=seconds)


def reach(outside: Outside, url: str) -> Reach:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    known = {number for _, number in outside.baseline.listeners}
    inside = host in LOCAL and port in known and port not in outside.baseline.outside
    address = "127.0.0.1" if inside else outside.address_of(host)
    name = stranger_on(outside, port) if address in ("127.0.0.1", outside.box.plan.own) else None
    stranger = None if name is None else f"{name} answers on port {port}, which is not what belongs there"
    return Reach(host, address, port, inside, stranger)


def secured(link: socket.socket, host: str) -> ssl.SSLSocket:
    """TLS over a connection, whatever the certificate. Raises OSError."""
    return _unverified().wrap_socket(link, server_hostname=host)


def connected(outside: Outside, address: str, port: int, *, inside: bool, seconds: float = _PATIENCE) -> socket.socket:
    """A TCP connection from inside the world's network or from outside it. Raises OSError."""
    with in_network(outside.box.inside if inside else outside.box.outside):
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    link.settimeout(seconds)
    try:
        if not inside:
            link.bind((outside.client_source(), 0))
        link.connect((address, port))
    except OSError:
        link.close()
        raise
    return link


def _unverified() -> ssl.SSLContext:
    """As a monitor that looks whether anybody answers; the certificate has a probe of its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def firewall(outside: Outside, arguments: Arguments) -> Observation:
    name, rules, table = arguments.require("chain"), [], ""
    for line in firewall_rules(outside.box.inside):
        table = line[1:] if line.startswith("*") else table
        if table == "filter" and line.startswith(f":{name} "):
            rules.append(f"-P {name} {line.split()[1]}")
        elif table == "filter" and line.startswith(f"-A {name} "):
            rules.append(line)
    return judge_firewall(rules, arguments)


def client(outside: Outside, arguments: Arguments) -> Observation:
    """What the system's own clients got, as they tell it. Without `within`, since the world was opened."""
    name, within = arguments.text("name"), arguments.number("within")
    got = outside.clients.samples(name, within) if outside.clients is not None else []
    return judge_client(len(got), [sample.detail for sample in got if not sample.ok], arguments)


def dns(outside: Outside, arguments: Arguments) -> Observation:
    """By nsswitch.conf, /etc/hosts and the servers of resolv.conf, asked from the machine's network."""
    return judge_dns(_resolve(outside, arguments.require("name")), "it does not resolve", arguments)


def _resolve(outside: Outside, name: str) -> str | None:
    sources = next(
        (
            line.split()[1:]
            for line in outside.files.text("/etc/nsswitch.conf").splitlines()
            if line.startswith("hosts:")
        ),
        ["files", "dns"],
    )
    for source in sources:
        found_ = None
        if source == "files":
            found_ = _in_hosts(outside.files.text("/etc/hosts"), name)
        elif source == "dns":
            found_ = _asked(outside, name)
        if found_ is not None:
            return found_
    return None


def _in_hosts(text: str, name: str) -> str | None:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if name.lower() in [word.lower() for word in words[1:]] and "." in words[0]:
            return words[0]
    return None


def _asked(outside: Outside, name: str) -> str | None:
    lines = [line.split() for line in outside.files.text("/etc/resolv.conf").splitlines() if line.split()]
    servers = [words[1] for words in lines if words[0] == "nameserver" and len(words) > 1][:3]
    search = [word for words in lines if words[0] in ("search", "domain") for word in words[1:]]
    names = [name.rstrip(".")] if "." in name else [*(f"{name}.{domain}" for domain in search), name]
    for full in names:
        for server in servers:
            answer = _query(outside, full, server)
            if answer is not None:
                if answer:
                    return answer
                break
    return None


def _query(outside: Outside, name: str, server: str) -> str | None:
    """One server's first address for a name: "" where it says that there is none, None where it does not answer."""
    labels = b"".join(bytes([len(part)]) + part for part in name.encode().split(b".") if 0 < len(part) < 64)
    question = struct.pack(">HHHHHH", 0x2A17, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1)
    with in_network(outside.box.inside):
        link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with link:
        link.settimeout(2.0)
        try:
            link.sendto(question, (server, 53))
            answer = link.recv(1500)
        except OSError:
            return None
    return first_address(answer, len(question))


def first_address(answer: bytes, at: int) -> str | None:
    """The first address of a server's answer whose records begin there: "" for none, None where it is no answer.

    Whoever may name the server may have it answer anything.
    """
    try:
        for _ in range(int.from_bytes(answer[6:8], "big")):
            while 0 < answer[at] < 0xC0:
                at += 1 + answer[at]
            at += 2 if answer[at] else 1
            kind, _, _, size = struct.unpack_from(">HHIH", answer, at)
            at += 10 + size
            if kind == 1 and size == 4:
                return ".".join(str(answer[at - each]) for each in (4, 3, 2, 1))
    except (IndexError, struct.error):
        return None
    return ""
