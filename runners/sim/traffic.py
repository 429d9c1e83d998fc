"""The clients of the system: what they ask for, how often, and what they have lately got."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.machine import Machine, Sample
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.http import HttpResponse, request
from runners.system import SystemSpec, integer, mappings, seconds, text, texts
from scenario_dsl.values import Value


class Client(NamedTuple):
    """kind: http, tcp or transaction. `paths` with their weights; a request takes one of `sources` and `agents`."""

    name: str
    kind: str
    url: str
    every: float
    sources: tuple[str, ...]
    paths: tuple[tuple[str, int], ...]
    agents: tuple[str, ...]
    statement: str = ""
    database: str = ""
    user: str = ""


class Transaction(NamedTuple):
    """The unit of a database client's work: statements in one transaction on a connection of its own."""

    database: str
    user: str
    statements: tuple[str, ...]
    password: str = ""


class Broken(NamedTuple):
    """A transaction that did not commit, and the server's or the network's words."""

    message: str


_KEPT = 720


def clients(machine: Machine) -> tuple[Client, ...]:
    """The clients that the system describes, in its order."""
    return _clients(machine.spec)


@lru_cache(maxsize=64)
def _clients(spec: SystemSpec) -> tuple[Client, ...]:
    return tuple(_client(entry) for entry in spec.entries("clients"))


def _client(entry: Mapping[str, Value]) -> Client:
    paths = tuple((text(one, "path", "/"), integer(one, "weight", 1)) for one in mappings(entry.get("paths")))
    return Client(
        text(entry, "name"),
        text(entry, "kind", "http"),
        text(entry, "url") or text(entry, "target"),
        seconds(entry.get("every", 10)) or 10.0,
        texts(entry.get("sources")) or ("127.0.0.1",),
        paths or (("", 1),),
        texts(entry.get("agents")) or ("Mozilla/5.0",),
        text(entry, "query"),
        text(entry, "database"),
        text(entry, "user"),
    )


def plan(machine: Machine) -> None:
    """Have every client make its first request, spread over its interval."""
    for index, client in enumerate(clients(machine)):
        machine.schedule(client.every * (index + 1) / (len(clients(machine)) + 1), "client", index)


def count_past(machine: Machine) -> None:
    """Let the firewall have counted the packets of what the clients have asked for since the boot."""
    hits = dict(machine.network.hits)
    for client in clients(machine):
        world = machine.fork()
        world.network.hits = {}
        _act(world, client)
        times = int((machine.clock.now - machine.clock.boot) / client.every)
        for passed, packets in world.network.hits.items():
            hits[passed] = hits.get(passed, 0) + packets * times
    machine.network.hits = hits


def client_tick(machine: Machine, argument: object) -> None:
    """Handler: one client makes one request, and plans its next."""
    assert isinstance(argument, int)
    client = clients(machine)[argument]
    pause = client.every * (0.7 + 0.6 * machine.random("traffic"))
    machine.schedule(pause, "client", argument)
    ok, detail = _act(machine, client)
    machine.traffic = (*machine.traffic[-_KEPT:], Sample(machine.clock.now, client.name, ok, detail))
    if not ok:
        machine.count("transactions_broken" if client.kind == "transaction" else "requests_failed")


def _act(machine: Machine, client: Client) -> tuple[bool, str]:
    source = client.sources[int(machine.random("traffic") * len(client.sources))]
    if client.kind == "http":
        path = _choose(machine, client.paths)
        agent = client.agents[int(machine.random("traffic") * len(client.agents))]
        answer = request(
            machine, "GET", client.url.rstrip("/") + path, source=source, headers=(("User-Agent", agent),), timeout=10.0
        )
        if isinstance(answer, HttpResponse):
            return answer.status < 500 and answer.status not in (401, 403), str(answer.status)
        return False, answer.message
    host, _, port = client.url.rpartition(":")
    connection = connect(machine, host, int(port), source=source, timeout=10.0)
    if isinstance(connection, ConnectFailure):
        return False, connection.message
    if client.kind == "tcp" or connection.process is None:
        return True, "connected"
    work = Transaction(client.database, client.user, ("BEGIN", client.statement, "COMMIT"))
    program = machine.programs.get(connection.process.program)
    if program is None:
        # A command that listens there takes the connection and says nothing.
        return False, "timeout expired"
    answer_ = program.serve(machine, connection.process, work, connection)
    return (False, answer_.message) if isinstance(answer_, Broken) else (True, "committed")


def _choose(machine: Machine, paths: tuple[tuple[str, int], ...]) -> str:
    total = sum(weight for _, weight in paths)
    at = machine.random("traffic") * total
    for path, weight in paths:
        at -= weight
        if at < 0:
            return path
    return paths[-1][0]


def samples(machine: Machine, *, name: str | None = None, within: float = 60.0) -> list[Sample]:
    """The requests of the last `within` seconds, of one client or of all."""
    since = machine.clock.now - within
    return [one for one in machine.traffic if one.at >= since and name in (None, one.client)]
