"""A job of the house: holds memory, keeps processors busy, or shows its progress on a port, until it is ended.

`report-export --rows N` holds N rows of a kibibyte each, `--workers N` keeps N cores busy, `--progress PORT` listens.
"""

from __future__ import annotations

from runners.sim.lifecycle import BUSY
from runners.sim.machine import Machine, Program, Say
from runners.sim.memory import set_resident
from runners.sim.network.http import HttpRequest, HttpResponse
from runners.sim.processes import Process
from runners.sim.programs.descriptors import bind, hold
from runners.text import is_digits

_ROW = 1024
_OWN = 14 << 20
"""Bytes that it needs without any rows."""
_FILLED = 1.4e9
"""Bytes of rows that a processor reads in a second."""
_SORTING = 0.12
"""The share of a processor that it takes to keep rows in order while more of them come."""
_NAMES = ("--rows", "--workers", "--progress")


class Workload(Program):
    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        given: dict[str, int] = {}
        words = iter(process.argv[1:])
        for word in words:
            name, equals, value = word.partition("=")
            value = value if equals else next(words, "")
            if name not in _NAMES or not is_digits(value):
                say(f"usage: {process.name} [--rows N] [--workers N] [--progress PORT]")
                return 2
            given[name] = int(value)
        port = given.get("--progress")
        if port is not None:
            problem = bind(machine, process, "0.0.0.0", port)  # noqa: S104
            if problem is not None:
                say(f"{process.name}: cannot listen on port {port}: {problem.strerror}")
                return 1
        workers, size = given.get("--workers", 0), given.get("--rows", 0) * _ROW
        held = hold(machine, process, None, rss=_OWN, share=workers + (_SORTING if size else 0.0))
        state = "R" if held.cpu_share >= BUSY else "S"
        machine.processes.put(held._replace(threads=1 + workers, state=state, cpu=size / _FILLED))
        set_resident(machine, process, _OWN + size)
        return None

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        del machine, process, connection
        if not isinstance(request, HttpRequest) or request.scheme != "http":
            return None
        body = b"report: 0 of 12 parts done\n"
        return HttpResponse(200, (("Content-Type", "text/plain"), ("Content-Length", str(len(body)))), body)


PROGRAMS = {"workload": Workload()}
