"""systemd: a unit is started, stopped, enabled or masked; also what `service` shares with it."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.systemd import manager
from runners.sim.systemd.install import disable, enable, is_enabled, mask, unmask
from runners.sim.systemd.jobs import JobOutcome, UnitError
from runners.sim.systemd.units import daemon_reload, full_name, read_unit
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value

STATES = ("reloaded", "restarted", "started", "stopped")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    given = [word for word in ("state", "enabled", "masked", "daemon_reload") if word in arguments]
    if not given:
        raise ModuleFailure("one of the following is required: state, enabled, masked, daemon_reload")
    if arguments.flag("daemon_reload"):
        daemon_reload(machine)
    name = arguments.text("name")
    if name is None:
        if given != ["daemon_reload"]:
            raise ModuleFailure(f"missing parameter(s) required by '{given[0]}': name")
        return TaskResult()
    return change(machine, name, arguments)


def change(machine: Machine, name: str, arguments: Arguments) -> TaskResult:
    """Bring one unit into the state asked for: first masked, then enabled, then running, as the real module does."""
    state = arguments.choice("state", STATES)
    masked, enabled = arguments.maybe_flag("masked"), arguments.maybe_flag("enabled")
    # Units are looked at before anything is changed, as `systemctl show` is asked once.
    found = read_unit(machine.view(), full_name(name)).load_state != "not-found"
    active = manager.state_of(machine, name).active
    values: dict[str, Value] = {"name": name}
    changed = False
    try:
        if masked is not None and masked != (_file_state(machine, name) == "masked"):
            mask(machine, name) if masked else unmask(machine, name)
            changed = True
        if enabled is not None:
            _must_exist(name, found)
            # A linked or indirect unit counts as not enabled: systemd is asked to see to it.
            now = _file_state(machine, name) in ("enabled", "static", "generated")
            if now != enabled:
                enable(machine, name) if enabled else disable(machine, name)
                changed = True
            values["enabled"] = enabled
    except UnitError as error:
        raise ModuleFailure(f"Failed to change the service ({name}): {error.text}", {"changed": changed}) from error
    if state is not None:
        _must_exist(name, found)
        values["state"] = "started" if state in ("reloaded", "restarted") else state
        action = _action(state, active)
        if action is not None:
            _do(machine, name, action)
            changed = True
    return TaskResult(changed=changed, values=values)


def _action(state: str, active: str) -> str | None:
    running = active in ("active", "activating")
    if state == "started":
        return None if running else "start"
    if state == "stopped":
        return "stop" if running or active == "deactivating" else None
    if not running:
        return "start"
    return "restart" if state == "restarted" else "reload"


def _do(machine: Machine, name: str, action: str) -> None:
    work = {"start": manager.start, "stop": manager.stop, "restart": manager.restart, "reload": manager.reload}[action]
    try:
        outcome: JobOutcome = manager.wait(machine, work(machine, name), machine.advance)
    except UnitError as error:
        raise ModuleFailure(
            f"Unable to {action} service {name}: Failed to {action} {full_name(name)}: {error.text}"
        ) from error
    if not outcome.ok:
        raise ModuleFailure(f"Unable to {action} service {name}: {outcome.message}")


def _file_state(machine: Machine, name: str) -> str:
    try:
        return is_enabled(machine, name)
    except UnitError:
        return ""


def _must_exist(name: str, found: bool) -> None:
    if not found:
        raise ModuleFailure(f"Could not find the requested service {name}: host")
