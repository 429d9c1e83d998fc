"""Asking DNS servers as dig, host and nslookup do: the servers in turn, with their time-outs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runners.sim.machine import Machine
from runners.sim.network.names import DnsAnswer, query, resolv_conf

TTL = 300


class Query(NamedTuple):
    """What came back. `status` "" when no server answered: then `failures` lists every attempt's server and why."""

    server: str
    status: str
    records: tuple[tuple[str, str, str], ...]
    seconds: float
    failures: tuple[str, ...] = ()
    reason: str = "timed out"


def configured_servers(machine: Machine) -> list[str]:
    return list(resolv_conf(_resolv(machine)).servers)


def search_domains(machine: Machine) -> list[str]:
    return list(resolv_conf(_resolv(machine)).search)


def _resolv(machine: Machine) -> str:
    try:
        return machine.view().text("/etc/resolv.conf")
    except OSError:
        return ""


def ask(
    machine: Machine,
    name: str,
    kind: str,
    servers: Sequence[str],
    *,
    port: int = 53,
    timeout: float = 5.0,
    tries: int = 3,
) -> Query:
    """Ask the servers one after the other, up to `tries` rounds. Spends no time: `seconds` says how long it took."""
    failures: list[str] = []
    seconds = 0.0
    reason = "timed out"
    for server in list(servers) * tries:
        answer = query(machine, name, server, kind) if port == 53 else DnsAnswer(server, "", seconds=0.0)
        if answer.status:
            return Query(server, answer.status, answer.records, seconds + answer.seconds, tuple(failures))
        failures.append(server)
        refused = answer.seconds == 0.0
        reason = "connection refused" if refused else "timed out"
        seconds += 0.0 if refused else timeout
    return Query(servers[-1] if servers else "", "", (), seconds, tuple(failures), reason)
