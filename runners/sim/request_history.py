"""What the system's clients, and strangers who look for holes, asked for before a world opens.

Right before the opening they ask as often as they will live, and less before. What each path gets is what the running
services say to it, tried on a fork of the machine, so that yesterday's lines and today's tell of the same server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from runners.sim import traffic
from runners.sim.lifecycle import exit_process
from runners.sim.machine import Machine, mix
from runners.sim.network.http import request
from runners.sim.processes import Process
from runners.system import text

DAY = 86400.0
_NOBODY = "192.0.2.1"
_SCANS = 1500.0
_SCANNED = (
    "/wp-login.php",
    "/.env",
    "/phpmyadmin/index.php",
    "/robots.txt",
    "/favicon.ico",
    "/static/apple-touch-icon.png",
    "/.git/config",
)
SCANNER = "Mozilla/5.0 zgrab/0.x"
_ACCESS = re.compile(r'" (\d{3}) (\d+) "')
_ERROR = re.compile(r"\[(\w+)\] \d+#\d+: \*\d+ (.*)")
_APPLICATION = re.compile(r"^\S+ \S+ (\w+) \[\d+\] (.*)")


class Answer(NamedTuple):
    """What a request gets, and how the logs tell it: nginx's error line (level, text) and the application's."""

    status: str
    size: str
    error: tuple[str, str] | None = None
    application: tuple[tuple[str, str], ...] = ()


class Asked(NamedTuple):
    """One request of the past. `connection`: nginx's number for it."""

    at: float
    connection: int
    source: str
    agent: str
    path: str
    answer: Answer


class Deployment(NamedTuple):
    """The application's unit was stopped and started again."""

    unit: str
    stopped: float
    started: float


def application(machine: Machine) -> Process | None:
    """The process of the web application, if the system has one."""
    return next((process for process in machine.processes if process.program == "shop-server"), None)


def deployment(machine: Machine) -> Deployment | None:
    """The evening before the opening the application was away for three minutes."""
    process = application(machine)
    evening = machine.spec.start_time - machine.spec.start_time % DAY - 3 * 3600
    if process is None or process.unit is None or evening < machine.clock.boot + DAY:
        return None
    return Deployment(process.unit, evening, evening + 180)


def stranger(number: int) -> str:
    """An address from somewhere on the Internet."""
    bits = mix(f"stranger {number}")
    return f"{45 + bits % 150}.{(bits >> 16) % 250}.{(bits >> 32) % 250}.{1 + (bits >> 48) % 250}"


def dice(seed: str) -> Iterator[float]:
    """Numbers in [0, 1) that follow from the text (a linear congruential generator, its upper bits)."""
    state = mix(seed)
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        yield (state >> 11) / 2**53


def quiet(before: float, at: float) -> float:
    """How many times less was asked than is now, so many seconds before the opening: it gets busier towards it, and
    nights are half as busy as days."""
    return (1.0 + min(before / 1800, 2.0)) * (2.0 if at % DAY < 6 * 3600 else 1.0)


def requests(machine: Machine, hours: float) -> list[Asked]:
    """Every request of the last `hours`, oldest first, numbered on from those since the boot."""
    opening = machine.spec.start_time
    since = max(opening - hours * 3600, machine.clock.boot + 60)
    away = deployment(machine)

    @cache
    def answer(url: str, path: str, broken: bool) -> Answer | None:
        return _try(machine, url.rstrip("/") + path, broken=broken)

    found: list[tuple[float, str, str, str, Answer]] = []
    callers = [client for client in traffic.clients(machine) if client.kind == "http"]
    for client in callers:
        rolls = dice(f"requests of {client.name}")
        paths = [path for path, weight in client.paths for _ in range(weight)]
        at = since + client.every * next(rolls)
        while at < opening - 1:
            path = paths[int(next(rolls) * len(paths))]
            got = answer(client.url, path, away is not None and away.stopped <= at < away.started)
            source = client.sources[int(next(rolls) * len(client.sources))]
            agent = client.agents[int(next(rolls) * len(client.agents))]
            if got is not None:
                found.append((at, source, agent, path or "/", got))
            at += client.every * quiet(opening - at, at) * (0.7 + 0.6 * next(rolls))
    rolls = dice("scans")
    at = since + _SCANS * next(rolls)
    while callers and at < opening - 1:
        path = _SCANNED[int(next(rolls) * len(_SCANNED))]
        got = answer(callers[0].url, path, False)
        if got is not None and (away is None or not away.stopped <= at < away.started):
            found.append((at, stranger(len(found) + 1000), SCANNER, path, got))
        at += _SCANS * (0.2 + 1.6 * next(rolls))
    found.sort(key=lambda one: one[0])
    rate = sum(1 / client.every for client in callers) + 1 / _SCANS
    first = int((since - machine.clock.boot) * rate)
    return [
        Asked(at, first + number, source, agent, path, got)
        for number, (at, source, agent, path, got) in enumerate(found, start=1)
    ]


def _try(machine: Machine, url: str, *, broken: bool) -> Answer | None:
    """Ask on a fork (whose application has gone, if `broken`) and read what the logs say. None: they say nothing."""
    world = machine.fork()
    process = application(world)
    if broken and process is not None:
        exit_process(world, process.pid, 0, signal_number=9)
    before = {kind: _log(world, kind) for kind in ("access", "error", "app")}
    request(world, "GET", url, source=_NOBODY, timeout=10.0)
    said = {kind: _log(world, kind)[len(old) :] for kind, old in before.items()}
    access, error = _ACCESS.search(said["access"]), _ERROR.search(said["error"])
    if access is None:
        return None
    lines = (_APPLICATION.match(line) for line in said["app"].splitlines())
    return Answer(
        access[1], access[2], (error[1], error[2]) if error is not None else None,
        tuple((line[1], line[2]) for line in lines if line is not None),
    )  # fmt: skip


def _log(machine: Machine, kind: str) -> str:
    view = machine.view()
    paths = [text(entry, "path") for entry in machine.spec.entries("logs") if text(entry, "kind") == kind]
    return "".join(view.text(path) for path in paths if view.exists(path))


def error_text(one: Asked) -> tuple[str, str] | None:
    """The error log's level and line for a request, about its own client."""
    if one.answer.error is None:
        return None
    level, line = one.answer.error
    return level, f"*{one.connection} " + line.replace(f"client: {_NOBODY},", f"client: {one.source},")
