"""PostgreSQL's log, and what its other parts share: the version and the postmaster's memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.clock import to_microseconds
from runners.sim.machine import Machine, Say
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.descriptors import current, write_line

VERSION = (
    "PostgreSQL 15.6 (Debian 15.6-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit"
)


class Held(NamedTuple):
    """What the postmaster keeps: its settings, its rules of admission, the names of its files."""

    settings: Mapping[str, str]
    hba: tuple[config.HbaLine, ...]
    data: str
    log: str
    config_file: str


class ServerLog:
    """Where the server writes: its collector's file when it has one, otherwise its standard error."""

    def __init__(self, machine: Machine, process: Process, say: Say | None, path: str = "", *, pid: int = 0) -> None:
        self.machine = machine
        self.process = process
        self.say: Say = say if say is not None else (lambda _line: None)
        self.path = path
        self.pid = pid or process.pid

    def write(self, severity: str, text: str, who: str = "") -> None:
        clock = self.machine.clock
        millis = to_microseconds(clock.now)[1] // 1000
        line = f"{clock.written('%Y-%m-%d %H:%M:%S')}.{millis:03d} UTC [{self.pid}] {who}{severity}:  {text}"
        if self.path:
            write_line(self.machine, current(self.machine, self.process), self.path, line)
        else:
            self.say(line)
