"""unit and limit: what systemd keeps, and what the kernel keeps of a unit's main process."""

from __future__ import annotations

from collections.abc import Callable

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.systemd.install import is_enabled
from runners.sim.systemd.jobs import UnitError
from runners.sim.systemd.manager import state_of
from runners.sim.systemd.state import UnitState
from runners.sim.systemd.unitfile import UnitFile, byte_size
from runners.sim.systemd.units import full_name, read_unit, unit_file
from runners.worlds import Observation

_LIMITS = {
    "nofile": ("LimitNOFILE", "1024"),
    "nproc": ("LimitNPROC", "31480"),
    "memory": ("MemoryMax", "infinity"),
    "core": ("LimitCORE", "infinity"),
    "fsize": ("LimitFSIZE", "infinity"),
    "stack": ("LimitSTACK", "8388608"),
    "as": ("LimitAS", "infinity"),
}
"""Each limit's setting of a unit, and what holds where the unit says nothing."""


def unit_reads(arguments: Arguments) -> Callable[[Machine], tuple[object, ...]]:
    """The unit as loaded, its state, its main process; the files too where they say what is asked for."""
    name, asks_files = full_name(arguments.require("name")), "enabled" in arguments or "masked" in arguments

    def parts(machine: Machine) -> tuple[object, ...]:
        loaded = machine.systemd.loaded.get(name)
        state = machine.systemd.units.get(loaded.name) if isinstance(loaded, UnitFile) else None
        main = machine.processes.by_pid.get(state.main_pid) if state is not None else None
        return loaded, state, main, machine.files.inodes if asks_files or loaded is None else None

    return parts


def limit_reads(_: Arguments) -> Callable[[Machine], tuple[object, ...]]:
    return lambda machine: (
        machine.files.inodes, machine.systemd.loaded, machine.processes.by_pid, machine.systemd.units,
    )  # fmt: skip


def unit(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """`state: active` of a service wants a living main process that is the program it is on the healthy machine: a unit
    whose ExecStart became `sleep infinity` is active for systemd, and not for us."""
    seen, name = Seen(), full_name(arguments.require("name"))
    state = state_of(machine, name)
    wanted = arguments.text("state")
    if wanted == "active":
        problem = _pretended(machine, state, baseline)
        seen.expect(state.active == "active" and not problem, f"{name} is {state.active}{problem}")
    elif wanted is not None:
        seen.expect(state.active == wanted, f"{name} is {state.active}")
    enabled, masked = arguments.flag("enabled"), arguments.flag("masked")
    if enabled is not None:
        word = _file_state(machine, name)
        seen.expect((word in ("enabled", "enabled-runtime", "alias")) is enabled, f"{name} is {word}")
    if masked is not None:
        now = read_unit(machine.view(), name).load_state == "masked"
        seen.expect(now is masked, f"{name} is {'masked' if now else 'not masked'}")
    most = arguments.integer("restarts_at_most")
    if most is not None:
        seen.expect(state.restarts <= most, f"{name} was restarted {state.restarts} times")
    return seen.observation()


def limit(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """The soft limit that the manager's loaded unit gives its processes, of a unit that has a main process."""
    seen, name = Seen(), full_name(arguments.require("unit"))
    which, least = arguments.require("name"), arguments.integer("at_least") or 0
    if machine.processes.get(state_of(machine, name).main_pid) is None:
        seen.expect(False, f"{name} has no main process")
        return seen.observation()
    setting, default = _LIMITS[which]
    value = unit_file(machine, name).get("Service", setting, default).partition(":")[0]
    size = None if value == "infinity" else byte_size(value)
    seen.expect(value == "infinity" or (size is not None and size >= least), f"{which} of {name} is {value}")
    return seen.observation()


def _pretended(machine: Machine, state: UnitState, baseline: Baseline) -> str:
    """Why an active unit is not the real thing; "" when it is."""
    known = baseline.mains.get(state.name)
    if known is None:
        return ""
    main = machine.processes.get(state.main_pid)
    if main is None or main.state == "Z":
        return " without a main process"
    if main.state == "T":
        return ", its main process is stopped"
    return "" if main.program == known else f", its main process is {main.name}"


def _file_state(machine: Machine, name: str) -> str:
    try:
        return is_enabled(machine, name)
    except UnitError:
        return "not there"
