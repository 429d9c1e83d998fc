"""One command line on the web server, as its administrator types it."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.entering import enter
from runners.sim.machine import Machine
from runners.sim.shell.running import run_line
from runners.sim.shell.session import Session
from tests.runners.sim.servers import server


class Result(NamedTuple):
    out: str
    err: str
    status: int

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Terminal:
    """A session on a fresh world; what one line changes the next one sees."""

    def __init__(self) -> None:
        self.machine: Machine = server()
        self.session: Session = enter(self.machine)

    def __call__(self, line: str) -> Result:
        result = run_line(self.machine, self.session, line)
        return Result(
            result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace"), result.exit_code
        )
