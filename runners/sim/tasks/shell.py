"""shell: run a line in the machine's own shell."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.command import execute
from runners.sim.tasks.result import TaskResult


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    text = arguments.require("cmd")
    return execute(machine, arguments, (arguments.path("executable") or "/bin/sh", "-c", text), text)
