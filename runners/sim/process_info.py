"""What tools derive from a process and its machine: sessions, states, shares and command lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.sim.machine import Machine
from runners.sim.memory import memory
from runners.sim.processes import Process
from runners.text import is_digits

KTHREADD = 2
DEFAULT_PID_WIDTH = 7


def meminfo(machine: Machine) -> Mapping[str, int]:
    """Figures in KiB by their names in /proc/meminfo."""
    state = memory(machine)
    figures = {
        "MemTotal": state.total,
        "MemFree": state.free,
        "MemAvailable": state.available,
        "Buffers": state.buffers,
        "Cached": state.cached,
        "Shmem": state.shared,
        "SReclaimable": state.slab * 7 // 10,
        "SwapTotal": state.swap_total,
        "SwapFree": state.swap_free,
        "Active": state.cached // 2 + state.processes // 3,
        "Inactive": state.cached // 3 + state.processes // 2,
        "CommitLimit": state.total // 2 + state.swap_total,
        "Committed_AS": state.processes * 5 // 4,
    }
    return {name: size // 1024 for name, size in figures.items()}


def is_kernel_thread(process: Process) -> bool:
    return process.pid == KTHREADD or process.ppid == KTHREADD


def control_group(process: Process) -> str:
    """Its control group, without the slash at its begin; empty for the kernel's own."""
    if is_kernel_thread(process):
        return ""
    if process.pid == 1:
        return "init.scope"
    if process.unit is None:
        return "user.slice/user-0.slice/session-1.scope"
    if process.unit.startswith("session-"):
        return f"user.slice/user-{process.cred.uid}.slice/{process.unit}"
    return f"system.slice/{process.unit}"


def control_groups(machine: Machine) -> Mapping[str, Sequence[Process]]:
    """Control group -> the processes that are in itself."""
    found: dict[str, list[Process]] = {}
    for process in machine.processes:
        found.setdefault(control_group(process), []).append(process)
    return found


def command_line(process: Process) -> str:
    """The arguments as ps shows them; a kernel thread or a zombie has none and is named in brackets."""
    if process.state == "Z":
        return f"[{process.name}] <defunct>"
    if is_kernel_thread(process):
        return f"[{process.argv[0].strip('[]') if process.argv else process.name}]"
    return " ".join(process.argv) or f"[{process.name}]"


def session(machine: Machine, process: Process) -> int:
    """The session id: that of the ancestor which init (or a getty or sshd, for a terminal) started."""
    if is_kernel_thread(process):
        return 0
    leader = process
    while leader.ppid not in (0, 1):
        parent = machine.processes.get(leader.ppid)
        if parent is None or parent.tty != leader.tty:
            break
        leader = parent
    return leader.pid


def foreground(machine: Machine, process: Process) -> int:
    """The foreground process group of its terminal, or -1 without one: the youngest process on that terminal."""
    if process.tty == "?":
        return -1
    return max(other.pid for other in machine.processes if other.tty == process.tty)


def state_flags(machine: Machine, process: Process) -> str:
    """The STAT column: the state and BSD's modifiers."""
    flags = process.state
    if process.nice < 0:
        flags += "<"
    elif process.nice > 0:
        flags += "N"
    if session(machine, process) == process.pid:
        flags += "s"
    if process.threads > 1:
        flags += "l"
    if foreground(machine, process) == process.pid:
        flags += "+"
    return flags


def elapsed(machine: Machine, process: Process) -> float:
    return max(machine.clock.now - process.started, 0.0)


def cpu_percent(machine: Machine, process: Process) -> float:
    """CPU time over lifetime, in percent of one core, as ps computes it."""
    lived = elapsed(machine, process)
    return min(process.cpu_used(machine.clock.now) * 100 / lived, 999.0) if lived >= 1 else 0.0


def pid_width(machine: Machine) -> int:
    """How wide pids are printed: as many digits as the largest pid can have."""
    text = machine.network.sysctl.get("kernel.pid_max", "")
    limit = int(text) if is_digits(text) else 10**DEFAULT_PID_WIDTH
    return max(len(str(limit - 1)), 5)
