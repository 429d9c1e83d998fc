"""service: the part of `systemd` that every init system has."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.tasks.systemd import change


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    if "state" not in arguments and "enabled" not in arguments:
        raise ModuleFailure("one of the following is required: state, enabled")
    return change(machine, arguments.require("name"), arguments)
