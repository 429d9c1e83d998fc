"""Everything that happens by itself, by the name of its event."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.lifecycle import exit_process
from runners.sim.machine import Handler, Machine
from runners.sim.power import power_event
from runners.sim.systemd import manager, sockets, timers
from runners.sim.traffic import client_tick

_SEGV = 11


def program_wakes(machine: Machine, argument: object) -> None:
    """What a process had planned is due, if it still lives: `(pid, what)`. A stopped process gets it later."""
    assert isinstance(argument, tuple)
    pid, what = argument
    process = machine.processes.get(pid)
    if process is None:
        return
    if process.state == "T":
        machine.schedule(1.0, "program", argument)
        return
    program = machine.programs.get(process.program)
    if program is not None:
        program.wake(machine, process, what)


def process_ends(machine: Machine, argument: object) -> None:
    """A process that was to run for so long (sleep) ends: `(pid, status)`."""
    assert isinstance(argument, tuple)
    pid, status = argument
    exit_process(machine, pid, status)


def process_crashes(machine: Machine, argument: object) -> None:
    """A process that could not bear what it was given is killed by SIGSEGV."""
    assert isinstance(argument, int)
    exit_process(machine, argument, 0, signal_number=_SEGV)


HANDLERS: Mapping[str, Handler] = {
    "client": client_tick,
    "power": power_event,
    "process-crashes": process_crashes,
    "process-ends": process_ends,
    "process-exited": manager.process_exited,
    "program": program_wakes,
    "start-timeout": manager.start_timeout,
    "timer": timers.elapsed,
    "timer-armed": timers.arm,
    "socket-arrived": sockets.arrived,
    "unit-restart": manager.unit_restart,
}
