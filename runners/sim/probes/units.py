"""unit and limit: what systemd keeps, and what the kernel keeps of a unit's main process."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from runners.probes.arguments import Arguments
from runners.probes.units import LimitLook, Main, UnitLook, judge_limit, judge_unit
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.systemd.install import is_enabled
from runners.sim.systemd.jobs import UnitError
from runners.sim.systemd.manager import state_of
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
    name = full_name(arguments.require("name"))
    state = state_of(machine, name)
    known = baseline.mains.get(state.name)
    main = None if known is None else machine.processes.get(state.main_pid)
    look = UnitLook(
        name=name,
        active=state.active,
        has_main=known is not None,
        main=None if main is None else Main(main.name, main.state, main.program == known),
        file=_file_state(machine, name) if "enabled" in arguments else "",
        masked="masked" in arguments and read_unit(machine.view(), name).load_state == "masked",
        restarts=state.restarts,
    )
    return judge_unit(look, arguments)


def limit(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """The soft limit that the manager's loaded unit gives its processes."""
    name = full_name(arguments.require("unit"))
    if machine.processes.get(state_of(machine, name).main_pid) is None:
        return judge_limit(None, name, arguments)
    setting, default = _LIMITS[arguments.require("name")]
    value = unit_file(machine, name).get("Service", setting, default).partition(":")[0]
    return judge_limit(LimitLook(value, inf if value == "infinity" else byte_size(value)), name, arguments)


def _file_state(machine: Machine, name: str) -> str:
    try:
        return is_enabled(machine, name)
    except UnitError:
        return "not there"
