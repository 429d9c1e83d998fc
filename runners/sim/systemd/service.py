"""One service's life: its conditions, its environment, its processes, and what the end of the main one means."""

from __future__ import annotations

from runners.sim.files.inode import ROOT
from runners.sim.lifecycle import KILL, Exit, deliver, describe_exit
from runners.sim.machine import Machine, mix
from runners.sim.processes import Process
from runners.sim.systemd import execute
from runners.sim.systemd.control import ended_well, remember, result_of, run_control, say, starter_left
from runners.sim.systemd.jobs import JobOutcome
from runners.sim.systemd.state import UnitState
from runners.sim.systemd.unitfile import ExecLine, UnitFile
from runners.sim.systemd.units import processes_of

START_TIMEOUT = "start-timeout"
"""The event of that: a service has not become ready in time; its argument is the unit and the invocation."""
_NEVER = 1e12


def notify(machine: Machine, process: Process, text: str) -> None:
    """sd_notify's STATUS=: what a service of Type=notify says about itself."""
    if process.unit is not None:
        machine.systemd.put(machine.systemd.get(process.unit)._replace(status_text=text))


# -- starting


def start(machine: Machine, unit: UnitFile) -> JobOutcome:
    """Start a service that is not running. The dependencies are the manager's business."""
    state = machine.systemd.get(unit.name)
    if not _within_limit(machine, unit, state):
        return JobOutcome(unit.name, "failed", machine.systemd.get(unit.name).result)
    condition = execute.unmet_condition(machine, unit)
    if condition:
        say(machine, unit, f"{unit.label} was skipped because of an unmet condition check ({condition}).")
        machine.systemd.put(machine.systemd.get(unit.name)._replace(condition_failed=condition))
        return JobOutcome(unit.name, "skipped")
    now = machine.clock.now
    invocation = f"{mix(f'{unit.name}:{now}:{machine.seed}'):016x}{mix(f'{now}{unit.name}'):016x}"
    state = machine.systemd.put(
        machine.systemd.get(unit.name)._replace(
            active="activating", sub="start-pre", result="success", main_pid=0, exec_pid=0, exit_code="",
            exit_status=0, ran=(), changed=now, invocation=invocation, condition_failed="",
            cpu=0.0, status_text="", generation=machine.systemd.generation,
        )
    )  # fmt: skip
    quick = unit.type in ("simple", "idle", "exec") and not unit.commands("ExecStartPre")
    if not quick:
        say(machine, unit, f"Starting {unit.label}...")
    machine.moment(0.004)
    problem = execute.prepare(machine, unit)
    if problem:
        say(machine, unit, f"{unit.name}: {problem}", priority=4)
        say(machine, unit, f"{unit.name}: Failed to run 'start' task: {problem.rsplit(': ', 1)[-1]}", priority=4)
        return _failed_start(machine, unit, "resources")
    for line in unit.commands("ExecStartPre"):
        if not run_control(machine, unit, "ExecStartPre", line):
            return _failed_start(machine, unit, machine.systemd.get(unit.name).result)
    return _start_main(machine, unit)


def _within_limit(machine: Machine, unit: UnitFile, state: UnitState) -> bool:
    interval = unit.seconds("Unit", "StartLimitIntervalSec", unit.seconds("Service", "StartLimitInterval", 10.0))
    burst = unit.number("Unit", "StartLimitBurst", unit.number("Service", "StartLimitBurst", 5))
    now = machine.clock.now
    recent = tuple(at for at in state.starts if at > now - interval)
    if interval > 0 and burst > 0 and len(recent) >= burst:
        say(machine, unit, f"{unit.name}: Start request repeated too quickly.", priority=4)
        result = state.result if state.result != "success" else "start-limit-hit"
        _dead(machine, unit, state._replace(starts=recent, main_pid=0), result)
        say(machine, unit, f"Failed to start {unit.label}.", priority=3)
        return False
    machine.systemd.put(state._replace(starts=(*recent, now)))
    return True


def _start_main(machine: Machine, unit: UnitFile) -> JobOutcome:
    kind = unit.type
    lines = unit.commands("ExecStart")
    if kind == "oneshot":
        return _oneshot(machine, unit, lines)
    pid = machine.processes.allocate()
    now = machine.clock.now
    machine.systemd.put(
        machine.systemd.get(unit.name)._replace(
            sub="start", main_pid=pid, exec_pid=pid, exec_started=now, exec_ended=0.0
        )
    )
    # A simple service has started as soon as it is forked; what it says of itself comes after.
    at_once = kind in ("simple", "idle")
    since = machine.clock.now
    if at_once:
        say(machine, unit, f"Started {unit.label}.")
        machine.moment(0.003)
    ended = execute.run(machine, unit, lines[0], pid)
    machine.moment(0.018)
    if at_once or kind == "exec":
        if ended is not None and kind == "exec" and ended.status >= 200:
            return _main_failed(machine, unit, ended, control=False)
        _running(machine, unit, announced_at=since if at_once else None)
        if ended is not None:
            main_ended(machine, unit, ended)
        return JobOutcome(unit.name)
    if ended is not None:
        if ended.status == 0 and not ended.signal and kind == "forking":
            return _protocol(machine, unit)
        if ended.status == 0 and not ended.signal:
            return _failed_start(machine, unit, "protocol")
        return _main_failed(machine, unit, ended, control=kind == "forking")
    if kind in ("notify", "notify-reload") and not _notifies(machine, pid):
        timeout = _start_timeout(unit)
        invocation = machine.systemd.get(unit.name).invocation
        machine.schedule(timeout if 0 < timeout < _NEVER else _NEVER, START_TIMEOUT, (unit.name, invocation))
        return JobOutcome(unit.name, "waiting")
    if kind == "forking":
        if not _pid_file_agrees(machine, unit, pid):
            return _protocol(machine, unit)
        starter_left(machine, unit, lines[0], pid)
    for line in unit.commands("ExecStartPost"):
        if not run_control(machine, unit, "ExecStartPost", line):
            _end_processes(machine, unit)
            return _failed_start(machine, unit, machine.systemd.get(unit.name).result)
    _running(machine, unit)
    return JobOutcome(unit.name)


def _running(machine: Machine, unit: UnitFile, *, announced_at: float | None = None) -> None:
    now = machine.clock.now if announced_at is None else announced_at
    machine.systemd.put(
        machine.systemd.get(unit.name)._replace(active="active", sub="running", active_since=now, changed=now)
    )
    if announced_at is None:
        say(machine, unit, f"Started {unit.label}.")


def _pid_file_agrees(machine: Machine, unit: UnitFile, pid: int) -> bool:
    path = unit.get("Service", "PIDFile")
    if not path:
        return True
    try:
        text = machine.view().text(execute.run_path(path)).strip()
    except OSError:
        say(machine, unit, f"{unit.name}: Can't open PID file {path} (yet?) after start: No such file or directory")
        return False
    return text == str(pid)


def _protocol(machine: Machine, unit: UnitFile) -> JobOutcome:
    """A forking service that never told its main process: systemd waits in vain, then gives it up."""
    machine.moment(min(_start_timeout(unit), 90.0))
    return timed_out(machine, unit)


def _start_timeout(unit: UnitFile) -> float:
    return unit.seconds("Service", "TimeoutStartSec", unit.seconds("Service", "TimeoutSec", 90.0))


def _notifies(machine: Machine, pid: int) -> bool:
    """Will the process say that it is ready? Those that do it at all have done so by the end of their start."""
    process = machine.processes.get(pid)
    program = machine.programs.get(process.program) if process is not None else None
    return program is not None and program.notifies


def waits(machine: Machine, name: str) -> bool:
    """Has a service been started that has not said yet that it is ready?"""
    state = machine.systemd.get(name)
    return state.sub == "start" and any(
        event.kind == START_TIMEOUT and event.argument == (name, state.invocation) for event in machine.events
    )


def timed_out(machine: Machine, unit: UnitFile) -> JobOutcome:
    """The time in which a service was to become ready is over."""
    say(machine, unit, f"{unit.name}: start operation timed out. Terminating.", priority=4)
    _end_processes(machine, unit)
    return _failed_start(machine, unit, "timeout")


def ended_unready(machine: Machine, unit: UnitFile, ended: Exit) -> None:
    """The main process of a service that was to say that it is ready has ended without it."""
    if ended_well(unit, ended):
        record_exit(machine, unit, ended)
        _failed_start(machine, unit, "protocol")
    else:
        _main_failed(machine, unit, ended, control=False)


def _oneshot(machine: Machine, unit: UnitFile, lines: tuple[ExecLine, ...]) -> JobOutcome:
    for line in lines:
        pid = machine.processes.allocate()
        machine.systemd.put(
            machine.systemd.get(unit.name)._replace(
                sub="start", main_pid=pid, exec_pid=pid, exec_started=machine.clock.now, exec_ended=0.0
            )
        )
        ended = execute.run(machine, unit, line, pid)
        machine.moment(0.006)
        if ended is not None and not ended_well(unit, ended) and not line.failure_ignored:
            return _main_failed(machine, unit, ended, control=False)
    now = machine.clock.now
    state = machine.systemd.get(unit.name)._replace(main_pid=0, changed=now)
    if unit.get("Service", "RemainAfterExit").lower() in ("yes", "true", "1", "on"):
        machine.systemd.put(state._replace(active="active", sub="exited", active_since=now))
    else:
        say(machine, unit, f"{unit.name}: Deactivated successfully.")
        machine.systemd.put(state._replace(active="inactive", sub="dead", inactive_since=now))
    say(machine, unit, f"Finished {unit.label}.")
    return JobOutcome(unit.name)


def _main_failed(machine: Machine, unit: UnitFile, ended: Exit, *, control: bool) -> JobOutcome:
    who = "Control" if control else "Main"
    described = describe_exit(ended.status, ended.signal)
    say(machine, unit, f"{unit.name}: {who} process exited, {described}", priority=4 if ended.signal else 5)
    if control:
        machine.systemd.put(machine.systemd.get(unit.name)._replace(exit_code="", exit_status=0))
        remember(machine, unit, "ExecStart", unit.commands("ExecStart")[0], ended.process.pid, described)
    else:
        record_exit(machine, unit, ended)
    return _failed_start(machine, unit, result_of(ended))


def _failed_start(machine: Machine, unit: UnitFile, result: str) -> JobOutcome:
    _end_processes(machine, unit)
    ended = machine.systemd.get(unit.name)
    _dead(machine, unit, ended, result, try_restart=True)
    say(machine, unit, f"Failed to start {unit.label}.", priority=3)
    return JobOutcome(unit.name, "failed", result)


# -- ending


def main_ended(machine: Machine, unit: UnitFile, ended: Exit) -> None:
    """The main process of a running service is gone by itself, or by somebody's signal."""
    record_exit(machine, unit, ended)
    if ended.oom:
        say(machine, unit, f"{unit.name}: A process of this unit has been killed by the OOM killer.", priority=4)
    clean = ended_well(unit, ended)
    if not clean:
        described = describe_exit(ended.status, ended.signal)
        say(machine, unit, f"{unit.name}: Main process exited, {described}", priority=4 if ended.signal else 5)
    _end_processes(machine, unit, loud=True)
    result = "success" if clean else ("oom-kill" if ended.oom else result_of(ended))
    _dead(machine, unit, machine.systemd.get(unit.name), result, try_restart=True)


def killed_by_oom(machine: Machine, unit: UnitFile) -> None:
    """The kernel killed a process other than the main one: OOMPolicy=stop ends the whole service."""
    say(machine, unit, f"{unit.name}: A process of this unit has been killed by the OOM killer.", priority=4)
    if unit.get("Service", "OOMPolicy", "stop") != "stop":
        return
    machine.systemd.put(machine.systemd.get(unit.name)._replace(active="deactivating", sub="stop-sigterm"))
    _end_processes(machine, unit)
    _dead(machine, unit, machine.systemd.get(unit.name), "oom-kill", try_restart=True)


def record_exit(machine: Machine, unit: UnitFile, ended: Exit) -> None:
    """Remember how the main process ended."""
    code = "exited" if not ended.signal else ("dumped" if ended.core_dumped else "killed")
    machine.systemd.put(
        machine.systemd.get(unit.name)._replace(
            exit_code=code, exit_status=ended.signal or ended.status, exec_ended=machine.clock.now
        )
    )


def _dead(machine: Machine, unit: UnitFile, state: UnitState, result: str, *, try_restart: bool = False) -> None:
    """The unit is inactive or failed, or waits for its automatic restart."""
    now = machine.clock.now
    if result == "success":
        say(machine, unit, f"{unit.name}: Deactivated successfully.")
    else:
        say(machine, unit, f"{unit.name}: Failed with result '{result}'.", priority=4)
    if state.cpu > 1:
        say(machine, unit, f"{unit.name}: Consumed {execute.cpu_text(state.cpu)} CPU time.")
    active, sub = ("inactive", "dead") if result == "success" else ("failed", "failed")
    state = state._replace(active=active, sub=sub, result=result, main_pid=0, inactive_since=now, changed=now)
    if try_restart and _wants_restart(unit, state):
        order = machine.next_order
        machine.systemd.put(state._replace(active="activating", sub="auto-restart", restart_order=order))
        machine.schedule(unit.seconds("Service", "RestartSec", 0.1), "unit-restart", (unit.name, order))
    else:
        machine.systemd.put(state._replace(restart_order=-1))
    execute.clean_up(machine, unit)


def _wants_restart(unit: UnitFile, state: UnitState) -> bool:
    policy = unit.get("Service", "Restart", "no")
    forbidden = unit.words("Service", "RestartPreventExitStatus")
    if state.exit_code == "exited" and str(state.exit_status) in forbidden:
        return False
    good = state.result == "success"
    signalled = state.result in ("signal", "core-dump", "oom-kill")
    return {
        "always": True,
        "on-success": good,
        "on-failure": not good,
        "on-abnormal": signalled or state.result in ("timeout", "watchdog"),
        "on-abort": signalled,
        "on-watchdog": state.result == "watchdog",
    }.get(policy, False)


def _end_processes(machine: Machine, unit: UnitFile, *, loud: bool = False) -> None:
    """After the main process, the rest of the cgroup goes, unless KillMode says otherwise."""
    mode = unit.get("Service", "KillMode", "control-group")
    if mode in ("process", "none"):
        return
    for process in processes_of(machine, unit.name):
        _end_one(machine, unit, process, hard=mode == "mixed", loud=loud)


def _end_one(machine: Machine, unit: UnitFile, process: Process, *, hard: bool, loud: bool) -> None:
    if machine.processes.get(process.pid) is None:
        return
    if not hard:
        deliver(machine, process, unit.kill_signal)
    left = machine.processes.get(process.pid)
    if left is not None:
        if loud:
            message = f"{unit.name}: Killing process {process.pid} ({process.name}) with signal SIGKILL."
            say(machine, unit, message, priority=5)
        deliver(machine, left, KILL)


def stop(machine: Machine, unit: UnitFile) -> JobOutcome:
    """Stop a service, whatever state it is in."""
    state = machine.systemd.get(unit.name)
    if state.sub == "auto-restart":
        machine.systemd.put(
            state._replace(active="inactive", sub="dead", result="success", restart_order=-1, changed=machine.clock.now)
        )
        say(machine, unit, f"Stopped {unit.label}.")
        return JobOutcome(unit.name)
    if state.active not in ("active", "activating"):
        return JobOutcome(unit.name)
    say(machine, unit, f"Stopping {unit.label}...")
    machine.systemd.put(state._replace(active="deactivating", sub="stop-sigterm", changed=machine.clock.now))
    machine.moment(0.012)
    for line in unit.commands("ExecStop"):
        run_control(machine, unit, "ExecStop", line)
    result = "success"
    main = machine.processes.get(state.main_pid) if state.main_pid else None
    if main is not None:
        deliver(machine, main, unit.kill_signal)
        stuck = machine.processes.get(main.pid)
        if stuck is not None:
            result = _kill_stuck(machine, unit, stuck)
    machine.moment(0.015)
    _end_processes(machine, unit)
    after = machine.systemd.get(unit.name)
    if result == "success" and after.exit_code:
        ended = _last_exit(after)
        if after.exec_ended >= state.active_since and not ended_well(unit, ended):
            say(
                machine,
                unit,
                f"{unit.name}: Main process exited, {describe_exit(ended.status, ended.signal)}",
                priority=4 if ended.signal else 5,
            )
            result = result_of(ended)
    _dead(machine, unit, after, result)
    say(machine, unit, f"Stopped {unit.label}.")
    return JobOutcome(unit.name)


def _last_exit(state: UnitState) -> Exit:
    nobody = Process(0, 0, ROOT, (), "", "", "/", 0.0)
    if state.exit_code == "exited":
        return Exit(nobody, state.exit_status, 0)
    return Exit(nobody, 0, state.exit_status)


def _kill_stuck(machine: Machine, unit: UnitFile, process: Process) -> str:
    """The stop signal had no effect (a stopped process, say): after TimeoutStopSec it is SIGKILL."""
    timeout = unit.seconds("Service", "TimeoutStopSec", unit.seconds("Service", "TimeoutSec", 90.0))
    machine.moment(min(timeout, 90.0))
    say(machine, unit, f"{unit.name}: State 'stop-sigterm' timed out. Killing.", priority=4)
    message = f"{unit.name}: Killing process {process.pid} ({process.name}) with signal SIGKILL."
    say(machine, unit, message, priority=5)
    deliver(machine, process, KILL)
    say(machine, unit, f"{unit.name}: Main process exited, code=killed, status=9/KILL", priority=4)
    return "timeout"
