"""/proc/PID: what the kernel tells of one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from runners.sim.kernelfs.machine_files import mounts
from runners.sim.kernelfs.nodes import File, Folder, Link, Node
from runners.sim.machine import Machine
from runners.sim.memory import badness, memory, score_adjustment
from runners.sim.process_info import control_group
from runners.sim.processes import OpenFile, Process
from runners.sim.socket_table import inodes
from runners.text import is_digits


def node(machine: Machine, process: Process, parts: Sequence[str]) -> Node | None:
    """What is at a path below the process's folder."""
    uid, gid = process.cred.uid, process.cred.gid
    if not parts:
        return Folder((*_FILES, *_LINKS, "fd"), uid, gid)
    if parts[0] == "fd":
        targets = descriptors(machine, process)
        if len(parts) == 1:
            return Folder([str(number) for number in targets], uid)
        target = targets.get(int(parts[1])) if is_digits(parts[1]) and len(parts) == 2 else None
        return Link(target, uid, gid) if target is not None else None
    if len(parts) > 1:
        return None
    if parts[0] in _LINKS:
        return Link(_LINKS[parts[0]](process), uid, gid)
    make = _FILES.get(parts[0])
    return (
        File(make(machine, process), 0o400 if parts[0] in _PRIVATE else 0o444, uid, gid) if make is not None else None
    )


def descriptors(machine: Machine, process: Process) -> dict[int, str]:
    """What each descriptor of a process leads to, as the links of /proc/PID/fd say."""
    if not process.exe:
        return {}
    standard = "/dev/null" if process.tty == "?" else f"/dev/{process.tty}"
    found = {0: standard, 1: standard, 2: standard}
    for file in process.files:
        found[file.fd] = name_now(machine, file)
    known = inodes(machine) if process.sockets else {}
    for socket in process.sockets:
        found[socket.fd] = f"socket:[{known[process.pid, socket.fd]}]"
    return dict(sorted(found.items()))


def name_now(machine: Machine, file: OpenFile) -> str:
    """What the kernel calls an open file: its name follows it when it, or a folder above it, is moved."""
    tree = machine.files
    inode = tree.inodes.get(file.inode)
    if inode is None or not inode.is_file:
        return file.path
    last = tree.moved.get(file.inode, file.path)
    for path in (last, file.path):
        with suppress(OSError):
            if machine.view().stat(path, follow=False).number == file.inode:
                return path
    found = _search(machine, file.inode) if inode.nlink else None
    return f"{last} (deleted)" if found is None else found


def _search(machine: Machine, number: int) -> str | None:
    """A name of the inode, whichever folder it is in."""
    tree = machine.files
    machine.budget.spend(len(tree.inodes) >> 2)
    folders = [(mount.path.rstrip("/"), tree.inodes[mount.root]) for mount in tree.mounts if mount.root in tree.inodes]
    while folders:
        path, folder = folders.pop()
        for name, child in (folder.entries or {}).items():
            if child == number:
                return f"{path}/{name}"
            inner = tree.inodes.get(child)
            if inner is not None and inner.is_dir:
                folders.append((f"{path}/{name}", inner))
    return None


def _status(_machine: Machine, process: Process) -> str:
    uid, gid = process.cred.uid, process.cred.gid
    states = {"S": "sleeping", "R": "running", "T": "stopped", "D": "disk sleep", "Z": "zombie", "I": "idle"}
    groups = " ".join(str(group) for group in sorted(process.cred.groups))
    return (
        f"Name:\t{process.name}\nUmask:\t0022\nState:\t{process.state} ({states.get(process.state, 'sleeping')})\n"
        f"Tgid:\t{process.pid}\nNgid:\t0\nPid:\t{process.pid}\nPPid:\t{process.ppid}\nTracerPid:\t0\n"
        f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\nFDSize:\t64\nGroups:\t{groups} \n"
        f"VmPeak:\t{process.vsz >> 10:8d} kB\nVmSize:\t{process.vsz >> 10:8d} kB\nVmHWM:\t{process.rss >> 10:8d} kB\n"
        f"VmRSS:\t{process.rss >> 10:8d} kB\nVmSwap:\t       0 kB\nThreads:\t{process.threads}\n"
        "Cpus_allowed:\t3\nvoluntary_ctxt_switches:\t1822\nnonvoluntary_ctxt_switches:\t94\n"
    )


def _cmdline(_machine: Machine, process: Process) -> str:
    return "".join(f"{word}\0" for word in process.argv) if process.exe else ""


def _environ(_machine: Machine, process: Process) -> str:
    return "".join(f"{name}={value}\0" for name, value in process.environment)


def limits_of(machine: Machine, process: Process) -> Mapping[str, tuple[str, str]]:
    """Soft and hard limits by their kernel names; a unit's Limit…= settings show here."""
    found = {name: values for name, values, _, _ in _LIMITS}
    if process.unit is not None:
        unit = machine.systemd.loaded.get(process.unit)
        for name, _, _, setting in _LIMITS:
            value = unit.get("Service", setting) if unit is not None and setting else ""  # type: ignore[attr-defined]
            if value:
                soft, _, hard = value.partition(":")
                plain = [text if is_digits(text) else "unlimited" for text in (soft, hard or soft)]
                found[name] = (plain[0], plain[1])
    return found


_LIMITS = (
    ("Max cpu time", ("unlimited", "unlimited"), "seconds", "LimitCPU"),
    ("Max file size", ("unlimited", "unlimited"), "bytes", "LimitFSIZE"),
    ("Max data size", ("unlimited", "unlimited"), "bytes", "LimitDATA"),
    ("Max stack size", ("8388608", "unlimited"), "bytes", "LimitSTACK"),
    ("Max core file size", ("0", "unlimited"), "bytes", "LimitCORE"),
    ("Max resident set", ("unlimited", "unlimited"), "bytes", "LimitRSS"),
    ("Max processes", ("31852", "31852"), "processes", "LimitNPROC"),
    ("Max open files", ("1024", "524288"), "files", "LimitNOFILE"),
    ("Max locked memory", ("8388608", "8388608"), "bytes", "LimitMEMLOCK"),
    ("Max address space", ("unlimited", "unlimited"), "bytes", "LimitAS"),
    ("Max file locks", ("unlimited", "unlimited"), "locks", ""),
    ("Max pending signals", ("31852", "31852"), "signals", "LimitSIGPENDING"),
    ("Max msgqueue size", ("819200", "819200"), "bytes", "LimitMSGQUEUE"),
    ("Max nice priority", ("0", "0"), "", "LimitNICE"),
    ("Max realtime priority", ("0", "0"), "", "LimitRTPRIO"),
    ("Max realtime timeout", ("unlimited", "unlimited"), "us", ""),
)


def _limits(machine: Machine, process: Process) -> str:
    values = limits_of(machine, process)
    lines = [f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}{'Units':<10}"]
    lines += [f"{name:<26}{values[name][0]:<21}{values[name][1]:<21}{unit:<10}" for name, _, unit, _ in _LIMITS]
    return "\n".join(lines) + "\n"


def _comm(_machine: Machine, process: Process) -> str:
    return process.name + "\n"


def _cgroup(_machine: Machine, process: Process) -> str:
    return f"0::/{control_group(process)}\n"


def _process_stat(machine: Machine, process: Process) -> str:
    ticks = int(process.cpu_used(machine.clock.now) * 100)
    began = int((process.started - machine.clock.boot) * 100)
    return (
        f"{process.pid} ({process.name}) {process.state} {process.ppid} {process.pid} {process.pid} 0 -1 4194560 "
        f"0 0 0 0 {ticks * 2 // 3} {ticks // 3} 0 0 {20 + process.nice} {process.nice} {process.threads} "
        f"0 {max(began, 0)} {process.vsz} {process.rss // 4096} 18446744073709551615 "
        f"0 0 0 0 0 0 0 4096 81920 0 0 0 17 0 0 0 0 0 0\n"
    )


def _oom_score(machine: Machine, process: Process) -> str:
    now = memory(machine)
    share = 1000 * badness(machine, process) * 4096 // max(now.total + now.swap_total, 1)
    return f"{max((1000 + share) * 2 // 3, 0)}\n"


def _oom_score_adj(machine: Machine, process: Process) -> str:
    return f"{score_adjustment(machine, process)}\n"


def _loginuid(_machine: Machine, _process: Process) -> str:
    return "4294967295"


def _statm(_machine: Machine, process: Process) -> str:
    size, resident = process.vsz >> 12, process.rss >> 12
    return f"{size} {resident} {resident // 4} {size // 64} 0 {size // 3} 0\n"


def _mounts(machine: Machine, _process: Process) -> str:
    return mounts(machine)


_FILES: Mapping[str, Callable[[Machine, Process], str]] = {
    "cgroup": _cgroup, "cmdline": _cmdline, "comm": _comm, "environ": _environ, "limits": _limits,
    "loginuid": _loginuid, "oom_score": _oom_score, "oom_score_adj": _oom_score_adj, "stat": _process_stat,
    "status": _status, "statm": _statm, "mounts": _mounts,
}  # fmt: skip
_LINKS: Mapping[str, Callable[[Process], str]] = {
    "cwd": lambda process: process.cwd, "exe": lambda process: process.exe, "root": lambda _: "/",
}  # fmt: skip
_PRIVATE = frozenset({"environ", "io"})
