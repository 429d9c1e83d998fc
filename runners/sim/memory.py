"""Memory: what processes hold, what is left, and the kernel's last resort."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from runners.sim.lifecycle import exit_process
from runners.sim.machine import Machine
from runners.sim.processes import Process
from runners.sim.systemd.journal import kernel
from runners.sim.systemd.units import processes_of, unit_file
from runners.system import SystemSpec, size

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
    return _installed(machine.spec)


@lru_cache(maxsize=64)
def _installed(spec: SystemSpec) -> int:
    total = size(spec.section("memory").get("total", 8 << 30))
    return total - total // 43


@lru_cache(maxsize=64)
def _described(spec: SystemSpec) -> tuple[int, int]:
    """The swap that the system has, and the page cache that it would like."""
    settings = spec.section("memory")
    return size(settings.get("swap", 0)), size(settings.get("cached", _installed(spec) * 2 // 5))


def memory(machine: Machine) -> Memory:
    """The state now. The page cache gives way to processes; what does not fit then goes to swap."""
    total = installed(machine)
    swap_total, wanted = _described(machine.spec)
    resident = sum(process.rss for process in machine.processes.by_pid.values())
    ram = total - _KERNEL
    swapped = min(max(resident - ram, 0), swap_total)
    left = max(ram - resident, 0)
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
    victim = max(inside, key=lambda one: (badness(machine, one), one.pid))
    _report(machine, process, victim, f"/system.slice/{process.unit}")
    exit_process(machine, victim.pid, 0, signal_number=9, oom=True)
    return True


def _over_all(machine: Machine, process: Process) -> bool:
    settings = machine.spec.section("memory")
    room = installed(machine) - _KERNEL + size(settings.get("swap", 0))
    if sum(one.rss for one in machine.processes.by_pid.values()) <= room:
        return False
    candidates = [
        one for one in machine.processes if one.pid != 1 and one.exe and score_adjustment(machine, one) > -1000
    ]
    if not candidates:
        return False
    victim = max(candidates, key=lambda one: (badness(machine, one), one.pid))
    _report(machine, process, victim, "")
    exit_process(machine, victim.pid, 0, signal_number=9, oom=True)
    return True


def score_adjustment(machine: Machine, process: Process) -> int:
    """What oom_score_adj says: the unit's OOMScoreAdjust, -1000 for sshd's listener, which protects itself."""
    if process.name == "sshd" and process.unit is not None and not process.unit.endswith(".scope"):
        return -1000
    if process.unit is None or process.unit.endswith((".scope", ".slice")):
        return 0
    given = unit_file(machine, process.unit).get("Service", "OOMScoreAdjust")
    try:
        return max(min(int(given), 1000), -1000) if given else 0
    except ValueError:
        return 0


def badness(machine: Machine, process: Process) -> int:
    """The kernel's points: pages held, and a thousandth of all memory for each point of adjustment."""
    return (process.rss >> 12) + score_adjustment(machine, process) * (installed(machine) >> 12) // 1000


def _report(machine: Machine, culprit: Process, victim: Process, cgroup: str) -> None:
    """The block that the kernel prints when it kills for memory: who asked, what there was, whom it took."""
    mask = "0xcc0(GFP_KERNEL)" if cgroup else "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)"
    release = machine.view().text("/proc/sys/kernel/osrelease").strip()
    now = memory(machine)
    anonymous = now.processes >> 12
    lines = [
        f"{culprit.name} invoked oom-killer: gfp_mask={mask}, order=0, "
        f"oom_score_adj={score_adjustment(machine, culprit)}",
        f"CPU: 0 PID: {culprit.pid} Comm: {culprit.name} Not tainted {release} #1  Debian 6.1.76-1",
        "Call Trace:",
        " <TASK>",
        " dump_stack_lvl+0x44/0x5c",
        " dump_header+0x4a/0x211",
        " oom_kill_process.cold+0xb/0x10",
        " out_of_memory+0x1fd/0x4c0",
        " </TASK>",
        "Mem-Info:",
        f"active_anon:{anonymous // 9} inactive_anon:{anonymous - anonymous // 9} isolated_anon:0",
        f" slab_reclaimable:{now.slab >> 13} slab_unreclaimable:{now.slab >> 13}",
        f" free:{max(now.free, 44 << 20) >> 12} free_pcp:0 free_cma:0",
        f"Free swap  = {now.swap_free >> 10}kB",
        f"Total swap = {now.swap_total >> 10}kB",
        f"{now.total >> 12} pages RAM",
        "Tasks state (memory values in pages):",
        "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
    ]
    inside = processes_of(machine, culprit.unit) if cgroup and culprit.unit else machine.processes
    for one in inside:
        if one.exe:
            lines.append(
                f"[{one.pid:7}] {one.cred.uid:5} {one.pid:5} {one.vsz >> 12:8} {one.rss >> 12:8} "
                f"{max(one.rss >> 9, 49152) // 4096 * 4096:8} {0:8} {score_adjustment(machine, one):13} {one.name[:15]}"
            )
    for line in lines:
        kernel(machine, line, priority=4)
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
        f"pgtables:{max(victim.rss >> 19, 48)}kB oom_score_adj:{score_adjustment(machine, victim)}",
        priority=3,
    )
