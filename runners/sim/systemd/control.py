"""The commands around a service's main process (ExecStartPre=, ExecReload=, ExecStop=), and what an end counts as."""

from __future__ import annotations

from runners.sim.lifecycle import Exit, describe_exit
from runners.sim.machine import Machine
from runners.sim.systemd import execute
from runners.sim.systemd.jobs import JobOutcome
from runners.sim.systemd.journal import log
from runners.sim.systemd.state import Ran
from runners.sim.systemd.unitfile import ExecLine, UnitFile

_CLEAN_SIGNALS = frozenset({1, 2, 13, 15})


def say(machine: Machine, unit: UnitFile, message: str, *, priority: int = 6) -> None:
    """A line that systemd itself logs about a unit."""
    log(machine, "systemd", message, pid=1, unit=unit.name, priority=priority, transport="journal")


def run_control(machine: Machine, unit: UnitFile, key: str, line: ExecLine) -> bool:
    """Run an ExecStartPre=, ExecReload= or ExecStop= command to its end; False when that counts as a failure."""
    pid = machine.processes.allocate()
    ended = execute.run(machine, unit, line, pid, control=True)
    machine.moment(0.008)
    if ended is None:
        return True
    described = describe_exit(ended.status, ended.signal)
    remember(machine, unit, key, line, pid, described)
    if ended_well(unit, ended) or line.failure_ignored:
        return True
    say(machine, unit, f"{unit.name}: Control process exited, {described}", priority=5)
    machine.systemd.put(machine.systemd.get(unit.name)._replace(result=result_of(ended)))
    return False


def remember(machine: Machine, unit: UnitFile, key: str, line: ExecLine, pid: int, described: str) -> None:
    """Keep how a command ended, in place of its last run."""
    state = machine.systemd.get(unit.name)
    command = " ".join(line.argv)
    others = tuple(one for one in state.ran if (one.key, one.command) != (key, command))
    machine.systemd.put(state._replace(ran=(*others, Ran(key, command, pid, described))))


def starter_left(machine: Machine, unit: UnitFile, line: ExecLine, pid: int) -> None:
    """A forking service's first process has ended: its pid is the one before its child's, as those before it are."""
    state = machine.systemd.get(unit.name)
    machine.systemd.put(state._replace(ran=tuple(one._replace(pid=max(one.pid - 1, 2)) for one in state.ran)))
    remember(machine, unit, "ExecStart", line, max(pid - 1, 2), describe_exit(0, 0))


def result_of(ended: Exit) -> str:
    if not ended.signal:
        return "exit-code"
    return "core-dump" if ended.core_dumped else "signal"


def ended_well(unit: UnitFile, ended: Exit) -> bool:
    if ended.signal:
        return ended.signal in _CLEAN_SIGNALS
    return ended.status == 0 or str(ended.status) in unit.words("Service", "SuccessExitStatus")


def reload(machine: Machine, unit: UnitFile) -> JobOutcome:
    say(machine, unit, f"Reloading {unit.label}...")
    machine.moment(0.01)
    for line in unit.commands("ExecReload"):
        if not run_control(machine, unit, "ExecReload", line):
            reason = machine.systemd.get(unit.name).result
            machine.systemd.put(machine.systemd.get(unit.name)._replace(result="success"))
            say(machine, unit, f"Reload failed for {unit.label}.", priority=3)
            return JobOutcome(unit.name, "failed", reason)
    say(machine, unit, f"Reloaded {unit.label}.")
    return JobOutcome(unit.name)
