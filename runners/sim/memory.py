"""Memory: what processes hold, what is left, and the kernel's last resort."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from runners.sim.lifecycle import exit_process
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.system import SystemSpec, size
from runners.sim.systemd.journal import kernel
from runners.sim.systemd.units import processes_of, unit_file

_KERNEL = 236 << 20
"""What the kernel itself, its slabs and page tables take."""


class Memory(NamedTuple):
    """All in bytes; the names are those of /proc/meminfo. `processes` is the sum of resident sets."""

    total: int
    free: int
    available: int
    buffers: int
    cached: int
    shared: int
    slab: int
    swap_total: int
    swap_free: int
    processes: int


def installed(machine: Machine) -> int:
    """What the kernel has to give: the machine's memory without what firmware and the kernel's image take of it."""
    total = size(machine.spec.section("memory").get("total", 8 << 30))
    return total - total // 43


def memory(machine: Machine) -> Memory:
    """The state now. The page cache gives way to processes; what does not fit then goes to swap."""
    settings = machine.spec.section("memory")
    total = installed(machine)
    swap_total = size(settings.get("swap", 0))
    resident = sum(process.rss for process in machine.processes.by_pid.values())
    ram = total - _KERNEL
    swapped = min(max(resident - ram, 0), swap_total)
    left = max(ram - resident, 0)
    wanted = size(settings.get("cached", total * 2 // 5))
    cache = min(wanted, max(left - (48 << 20), 0))
    buffers = cache // 24
    free = left - cache
    return Memory(
        total, free, free + cache * 19 // 20, buffers, cache - buffers, 34 << 20, 118 << 20, swap_total,
        swap_total - swapped, resident,
    )  # fmt: skip


def swap_area(machine: Machine) -> str:
    """The file or partition that the machine swaps to: the one that the fstab it booted with names."""
    return _swap_area(machine.spec)


@lru_cache(maxsize=64)
def _swap_area(spec: SystemSpec) -> str:
    tables = (file.content or "" for file in spec.files if file.path == "/etc/fstab")
    entries = (line.split() for table in tables for line in table.splitlines() if not line.lstrip().startswith("#"))
    return next((fields[0] for fields in entries if fields[2:3] == ["swap"]), "/swapfile")


def set_resident(machine: Machine, process: Process, rss: int) -> bool:
    """A process's resident set grows or shrinks. False when it was killed for it, or another one in its place."""
    current = machine.processes.get(process.pid)
    if current is None:
        return False
    machine.processes.put(current._replace(rss=rss, vsz=max(current.vsz, rss)))
    return not _over_unit_limit(machine, current) and not _over_all(machine, current)


def _over_unit_limit(machine: Machine, process: Process) -> bool:
    if process.unit is None:
        return False
    limit = unit_file(machine, process.unit).size("Service", "MemoryMax")
    inside = processes_of(machine, process.unit)
    if limit is None or sum(one.rss for one in inside) <= limit:
        return False
    victim = max(inside, key=lambda one: (one.rss, one.pid))
    _report(machine, process, victim, f"/system.slice/{process.unit}")
    exit_process(machine, victim.pid, 0, signal_number=9, oom=True)
    return True


def _over_all(machine: Machine, process: Process) -> bool:
    settings = machine.spec.section("memory")
    room = installed(machine) - _KERNEL + size(settings.get("swap", 0))
    if sum(one.rss for one in machine.processes.by_pid.values()) <= room:
        return False
    candidates = [one for one in machine.processes if one.pid != 1 and one.exe and one.name != "sshd"]
    if not candidates:
        return False
    victim = max(candidates, key=lambda one: (one.rss, one.pid))
    _report(machine, process, victim, "")
    exit_process(machine, victim.pid, 0, signal_number=9, oom=True)
    return True


def _report(machine: Machine, culprit: Process, victim: Process, cgroup: str) -> None:
    """The lines that the kernel prints when it kills for memory."""
    kernel(
        machine,
        f"{culprit.name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        priority=4,
    )
    where = (
        f"constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={cgroup},"
        if cgroup
        else ("constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,")
    )
    task = f"/system.slice/{victim.unit}" if victim.unit else "/user.slice"
    kernel(machine, f"oom-kill:{where}task_memcg={task},task={victim.name},pid={victim.pid},uid={victim.cred.uid}")
    kind = "Memory cgroup out of memory" if cgroup else "Out of memory"
    kernel(
        machine,
        f"{kind}: Killed process {victim.pid} ({victim.name}) total-vm:{victim.vsz >> 10}kB, "
        f"anon-rss:{victim.rss >> 10}kB, file-rss:0kB, shmem-rss:0kB, UID:{victim.cred.uid} "
        f"pgtables:{max(victim.rss >> 19, 48)}kB oom_score_adj:0",
        priority=3,
    )
