"""/sys/fs/cgroup: control groups of the second version, as systemd makes them on Debian 12."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from runners.sim.kernelfs.load import pressure
from runners.sim.kernelfs.nodes import File, Folder, Node
from runners.sim.machine import Machine
from runners.sim.process_info import control_groups
from runners.sim.processes import Process
from runners.sim.systemctl import facts
from runners.sim.systemd.journal import entries
from runners.sim.systemd.units import unit_file

_SERVICES = "system.slice/"


class _Group(NamedTuple):
    """path: empty for the root; own: its processes; all_: with those of the groups in it."""

    path: str
    own: Sequence[Process]
    all_: Sequence[Process]

    @property
    def unit(self) -> str:
        """The service's name, where it is one's."""
        name = self.path.removeprefix(_SERVICES)
        return name if self.path.startswith(_SERVICES) and name.endswith(".service") else ""


def node(machine: Machine, parts: Sequence[str]) -> Node | None:
    """What is at a path below /sys/fs/cgroup."""
    inside = control_groups(machine)
    groups = {"", "init.scope", "system.slice", "user.slice"}
    for path in inside:
        steps = path.split("/")
        groups.update("/".join(steps[:count]) for count in range(1, len(steps) + 1))
    path = "/".join(parts)
    if path in groups:
        prefix = f"{path}/" if path else ""
        below = {one[len(prefix) :].partition("/")[0] for one in groups if one.startswith(prefix) and one != path}
        return Folder((*sorted(below), *_files(path)))
    where, _, name = path.rpartition("/")
    if where not in groups or name not in _files(where):
        return None
    prefix = f"{where}/" if where else ""
    all_ = [process for group in inside if f"{group}/".startswith(prefix) for process in inside[group]]
    group = _Group(where, inside.get(where, ()), all_)
    return File(_files(where)[name](machine, group), 0o644 if name in _SET else 0o444)


_Maker = Callable[[Machine, _Group], str]


def _files(path: str) -> Mapping[str, _Maker]:
    return _EVERYWHERE if not path else {**_EVERYWHERE, **_BELOW_THE_ROOT}


def _said(text: str) -> _Maker:
    return lambda _machine, _group: text


def _procs(_machine: Machine, group: _Group) -> str:
    return "".join(f"{process.pid}\n" for process in sorted(group.own, key=lambda process: process.pid))


def _events(_machine: Machine, group: _Group) -> str:
    return f"populated {int(bool(group.all_))}\nfrozen 0\n"


def _controllers(_machine: Machine, group: _Group) -> str:
    return "cpuset cpu io memory hugetlb pids rdma misc\n" if not group.path else "memory pids\n"


def _cpu(machine: Machine, group: _Group) -> str:
    if group.unit:
        used = facts.cpu_seconds(machine, machine.systemd.get(group.unit))
    else:
        used = sum(process.cpu_used(machine.clock.now) for process in group.all_)
    micros = int(used * 1e6)
    return f"usage_usec {micros}\nuser_usec {micros - micros // 3}\nsystem_usec {micros // 3}\n"


def _memory(_machine: Machine, group: _Group) -> str:
    return f"{facts.memory(group.all_)}\n"


def _memory_stat(_machine: Machine, group: _Group) -> str:
    anon = sum(process.rss for process in group.all_)
    stack = 16384 * sum(process.threads for process in group.all_)
    rows = {"anon": anon, "file": 0, "kernel": stack + anon // 512, "kernel_stack": stack, "pagetables": anon // 512,
            "sock": 0, "shmem": 0, "file_mapped": 0, "file_dirty": 0, "swapcached": 0, "inactive_anon": anon,
            "active_anon": 0}  # fmt: skip
    return "".join(f"{name} {value}\n" for name, value in rows.items())


def _memory_events(machine: Machine, group: _Group) -> str:
    """How often its limit was reached, since it was made: that is, since the service was started last."""
    killed = 0
    if group.unit:
        state = machine.systemd.get(group.unit)
        said = entries(machine, unit=group.unit, since=state.active_since)
        killed = sum("killed by the OOM killer" in entry.message for entry in said)
    return f"low 0\nhigh 0\nmax {killed}\noom {killed}\noom_kill {killed}\noom_group_kill 0\n"


def _limit(key: str) -> _Maker:
    def made(machine: Machine, group: _Group) -> str:
        size = unit_file(machine, group.unit).size("Service", key) if group.unit else None
        return "max\n" if size is None else f"{size}\n"

    return made


def _tasks(_machine: Machine, group: _Group) -> str:
    return f"{facts.tasks(group.all_)}\n"


def _tasks_limit(machine: Machine, group: _Group) -> str:
    return f"{facts.tasks_limit(machine, unit_file(machine, group.unit))}\n" if group.unit else "max\n"


def _pressure(resource: str) -> _Maker:
    return lambda machine, _group: pressure(machine, resource)


_EVERYWHERE: Mapping[str, _Maker] = {
    "cgroup.controllers": _controllers, "cgroup.max.depth": _said("max\n"), "cgroup.max.descendants": _said("max\n"),
    "cgroup.procs": _procs, "cgroup.subtree_control": _said("memory pids\n"), "cgroup.threads": _procs,
    "cpu.pressure": _pressure("cpu"), "cpu.stat": _cpu, "io.pressure": _pressure("io"),
    "memory.pressure": _pressure("memory"), "memory.stat": _memory_stat,
}  # fmt: skip
_BELOW_THE_ROOT: Mapping[str, _Maker] = {
    "cgroup.events": _events, "cgroup.freeze": _said("0\n"), "cgroup.type": _said("domain\n"),
    "cgroup.subtree_control": lambda _machine, group: "memory pids\n" if group.path.endswith(".slice") else "\n",
    "memory.current": _memory, "memory.events": _memory_events, "memory.high": _limit("MemoryHigh"),
    "memory.low": _said("0\n"), "memory.max": _limit("MemoryMax"), "memory.min": _said("0\n"),
    "memory.oom.group": _said("0\n"), "memory.swap.current": _said("0\n"), "memory.swap.max": _limit("MemorySwapMax"),
    "pids.current": _tasks, "pids.events": _said("max 0\n"), "pids.max": _tasks_limit,
}  # fmt: skip
_SET = frozenset(
    {"cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "cgroup.max.depth", "cgroup.max.descendants",
     "cgroup.freeze", "cgroup.type", "memory.high", "memory.low", "memory.max", "memory.min", "memory.oom.group",
     "memory.swap.max", "pids.max"}
)  # fmt: skip
