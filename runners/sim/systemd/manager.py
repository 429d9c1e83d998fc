"""The manager: jobs on units with what they depend on, and what follows when a process of a unit ends."""

from __future__ import annotations

from collections.abc import Callable

from runners.sim.lifecycle import Exit, deliver
from runners.sim.machine import Machine
from runners.sim.systemd import control, service
from runners.sim.systemd.install import Change, disable, enable, is_enabled, mask, revert, unmask
from runners.sim.systemd.jobs import JobOutcome, UnitError
from runners.sim.systemd.state import UnitState
from runners.sim.systemd.unitfile import UnitFile
from runners.sim.systemd.units import (
    daemon_reload,
    dependents,
    full_name,
    known,
    needs_reload,
    processes_of,
    require,
    unit_file,
)

__all__ = [
    "Change",
    "JobOutcome",
    "UnitError",
    "daemon_reload",
    "disable",
    "enable",
    "full_name",
    "is_enabled",
    "kill",
    "known",
    "mask",
    "needs_reload",
    "process_exited",
    "processes_of",
    "reload",
    "report_refusal",
    "reset_failed",
    "restart",
    "revert",
    "start",
    "start_timeout",
    "state_of",
    "stop",
    "unit_file",
    "unit_restart",
    "unmask",
    "wait",
]

_RESTING = {"target": "active", "timer": "waiting", "socket": "listening", "path": "waiting", "mount": "mounted",
            "swap": "active", "slice": "active", "scope": "running", "device": "plugged",
            "automount": "waiting"}  # fmt: skip

_BETWEEN = 2e-6
"""Seconds from the end of one run to the next, so that what is logged at either side can be told apart."""


def state_of(machine: Machine, name: str) -> UnitState:
    """The run-time state, by any name of the unit."""
    return machine.systemd.get(unit_file(machine, full_name(name)).name)


def start(machine: Machine, name: str) -> JobOutcome:
    """Start a unit and what it requires and wants. UnitError when it cannot be loaded; running already is done."""
    unit = require(machine, full_name(name))
    _require_all(machine, unit, (unit.name,))
    state = machine.systemd.get(unit.name)
    if state.active != "active":
        machine.systemd.put(state._replace(restarts=0))
    return _start(machine, unit, ())


def _require_all(machine: Machine, unit: UnitFile, above: tuple[str, ...]) -> None:
    """UnitError when a service that the unit requires, near or far, cannot be loaded: the job is not even queued."""
    for other in unit.words("Unit", "Requires") + unit.words("Unit", "BindsTo"):
        if other.endswith(".service") and other not in above:
            _require_all(machine, require(machine, other), (*above, other))


def _start(machine: Machine, unit: UnitFile, above: tuple[str, ...]) -> JobOutcome:
    state = machine.systemd.get(unit.name)
    if state.active == "active":
        return JobOutcome(unit.name)
    if state.sub == "auto-restart":
        machine.systemd.put(state._replace(active="inactive", sub="dead", restart_order=-1))
    path = (*above, unit.name)
    for other in unit.words("Unit", "Requires") + unit.words("Unit", "BindsTo"):
        if other not in path and not _require_started(machine, other, path):
            return _dependency_failed(machine, unit)
    for other in unit.words("Unit", "Requisite"):
        if state_of(machine, other).active != "active":
            return _dependency_failed(machine, unit)
    for other in unit.words("Unit", "Wants"):
        if other not in path:
            _require_started(machine, other, path)
    for other in (*unit.words("Unit", "Conflicts"), *dependents(machine, unit.name, "Conflicts")):
        if state_of(machine, other).active == "active" and other not in ("shutdown.target", unit.name):
            stop(machine, other)
    if unit.kind == "service":
        return service.start(machine, unit)
    now = machine.clock.now
    sub = _RESTING.get(unit.kind, "active")
    control.say(machine, unit, _reached(unit))
    machine.systemd.put(
        machine.systemd.get(unit.name)._replace(
            active="active", sub=sub, result="success", active_since=now, changed=now
        )
    )
    if unit.kind == "timer":
        machine.handlers["timer-armed"](machine, unit.name)
    return JobOutcome(unit.name)


def _reached(unit: UnitFile) -> str:
    verb = {"target": "Reached target", "socket": "Listening on", "mount": "Mounted"}.get(unit.kind, "Started")
    return f"{verb} {unit.label}."


def _require_started(machine: Machine, name: str, path: tuple[str, ...]) -> bool:
    unit = unit_file(machine, name)
    if unit.kind == "socket" and unit.load_state == "loaded":
        return _start(machine, unit, path).ok
    if unit.kind != "service":
        # Targets, mounts and the like of a booted system are there; their absence stops nothing here.
        return unit.load_state in ("loaded", "not-found")
    if unit.load_state != "loaded":
        return False
    return _start(machine, unit, path).ok


def _dependency_failed(machine: Machine, unit: UnitFile) -> JobOutcome:
    control.say(machine, unit, f"Dependency failed for {unit.label}.", priority=4)
    control.say(machine, unit, f"{unit.name}: Job {unit.name}/start failed with result 'dependency'.", priority=5)
    return JobOutcome(unit.name, "dependency")


def stop(machine: Machine, name: str) -> JobOutcome:
    """Stop a unit, and first those that cannot be without it. UnitError when it is not loaded at all."""
    unit = unit_file(machine, full_name(name))
    state = machine.systemd.get(unit.name)
    if unit.load_state == "not-found" and state.active in ("inactive", "failed"):
        raise UnitError(unit.name, f"Unit {unit.name} not loaded.", 5)
    if state.active in ("active", "activating"):
        for other in list(dependents(machine, unit.name, "Requires", "BindsTo", "PartOf")):
            stop(machine, other)
    return _stop_alone(machine, unit)


def _stop_alone(machine: Machine, unit: UnitFile) -> JobOutcome:
    if unit.kind == "service":
        return service.stop(machine, unit)
    state = machine.systemd.get(unit.name)
    if state.active == "active":
        now = machine.clock.now
        machine.systemd.put(state._replace(active="inactive", sub="dead", inactive_since=now, changed=now))
        verb = {"target": "Stopped target", "socket": "Closed"}.get(unit.kind, "Stopped")
        control.say(machine, unit, f"{verb} {unit.label}.")
    return JobOutcome(unit.name)


def restart(machine: Machine, name: str, *, only_active: bool = False) -> JobOutcome:
    """Stop and start, together with the running units that require it. `only_active`: try-restart."""
    unit = require(machine, full_name(name))
    _require_all(machine, unit, (unit.name,))
    state = machine.systemd.get(unit.name)
    if only_active and state.active not in ("active", "activating"):
        return JobOutcome(unit.name)
    others = list(dependents(machine, unit.name, "Requires", "BindsTo", "PartOf"))
    for other in others:
        stop(machine, other)
    _stop_alone(machine, unit)
    machine.moment(_BETWEEN)
    outcome = _start(machine, unit, ())
    for other in others:
        _start(machine, unit_file(machine, other), ())
    return outcome


def reload(machine: Machine, name: str) -> JobOutcome:
    """Run ExecReload=. UnitError when the unit is not active or has none."""
    unit = require(machine, full_name(name))
    if not unit.commands("ExecReload"):
        raise UnitError(unit.name, f"Job type reload is not applicable for unit {unit.name}.")
    if machine.systemd.get(unit.name).active != "active":
        raise UnitError(unit.name, f"{unit.name} is not active, cannot reload.")
    return control.reload(machine, unit)


def kill(machine: Machine, name: str, number: int = 15, who: str = "all") -> None:
    """Send a signal to the processes of a unit. `who`: main, control or all."""
    unit = unit_file(machine, full_name(name))
    state = machine.systemd.get(unit.name)
    if unit.load_state == "not-found" and state.active == "inactive":
        raise UnitError(unit.name, f"Unit {unit.name} not loaded.")
    main = machine.processes.get(state.main_pid) if state.main_pid else None
    if who == "main":
        if main is None:
            raise UnitError(unit.name, "No main process to kill")
        deliver(machine, main, number)
        return
    if who == "control":
        raise UnitError(unit.name, "No control process to kill")
    targets = processes_of(machine, unit.name)
    if not targets:
        raise UnitError(unit.name, "No processes to kill")
    for process in targets:
        left = machine.processes.get(process.pid)
        if left is not None:
            deliver(machine, left, number)


def reset_failed(machine: Machine, name: str | None = None) -> None:
    """Forget failures and counted starts, of one unit or of all."""
    names = known(machine) if name is None else [unit_file(machine, full_name(name)).name]
    if name is not None and names[0] not in machine.systemd.units:
        raise UnitError(names[0], f"Unit {names[0]} not loaded.")
    for one in names:
        state = machine.systemd.get(one)._replace(starts=())
        if state.active == "failed":
            state = state._replace(active="inactive", sub="dead", result="success", restarts=0)
        machine.systemd.put(state)


def report_refusal(machine: Machine, unit: UnitFile, error: UnitError) -> None:
    """A job that systemd wanted itself (for a timer) could not be queued: it says so in the journal."""
    control.say(machine, unit, f"{unit.name}: Failed to queue unit startup job: {error.text}", priority=4)


# -- events


def process_exited(machine: Machine, argument: object) -> None:
    """Handler: a process ended. What it means depends on what its unit is doing just now."""
    assert isinstance(argument, Exit)
    ended = argument
    machine.systemd.last_exit = ended
    name = ended.process.unit
    if name is None:
        return
    state = machine.systemd.get(name)
    state = machine.systemd.put(state._replace(cpu=state.cpu + ended.process.cpu_used(machine.clock.now)))
    unit = unit_file(machine, name)
    if ended.process.pid == state.main_pid:
        if state.active == "active":
            service.main_ended(machine, unit, ended)
        elif service.waits(machine, name):
            service.ended_unready(machine, unit, ended)
        else:
            service.record_exit(machine, unit, ended)
    elif ended.oom and state.active == "active":
        service.killed_by_oom(machine, unit)
    elif state.active == "active" and not processes_of(machine, name) and not state.main_pid and state.sub == "running":
        service.main_ended(machine, unit, ended)


def unit_restart(machine: Machine, argument: object) -> None:
    """Handler: the pause before an automatic restart is over."""
    assert isinstance(argument, tuple)
    name, order = argument
    state = machine.systemd.get(name)
    if state.sub != "auto-restart" or state.restart_order != order:
        return
    unit = unit_file(machine, name)
    count = state.restarts + 1
    control.say(machine, unit, f"{name}: Scheduled restart job, restart counter is at {count}.")
    control.say(machine, unit, f"Stopped {unit.label}.")
    machine.systemd.put(state._replace(active="inactive", sub="dead", restarts=count, restart_order=-1))
    if unit.load_state == "loaded":
        machine.moment(_BETWEEN)
        _start(machine, unit, ())


def start_timeout(machine: Machine, argument: object) -> None:
    """Handler: a service that was to say that it is ready has not done so in time."""
    assert isinstance(argument, tuple)
    name, invocation = argument
    state = machine.systemd.get(name)
    if (state.sub, state.invocation) == ("start", invocation):
        service.timed_out(machine, unit_file(machine, name))


def wait(machine: Machine, outcome: JobOutcome, sleep: Callable[[float], None]) -> JobOutcome:
    """Let time pass by `sleep` until a job that waits is over, and say how it went."""
    if outcome.result != "waiting":
        return outcome
    while service.waits(machine, outcome.unit):
        sleep(0.1)
    state = machine.systemd.get(outcome.unit)
    return JobOutcome(outcome.unit) if state.active == "active" else JobOutcome(outcome.unit, "failed", state.result)
