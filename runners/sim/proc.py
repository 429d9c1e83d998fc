"""/proc and /sys: files made up from the machine's state when somebody looks."""

from __future__ import annotations

import errno
import math
import stat
import weakref
from collections.abc import Callable, Mapping

from runners.sim.files.content import EMPTY, Content
from runners.sim.files.inode import Inode
from runners.sim.files.tree import fail
from runners.sim.lifecycle import TICKS_OF_THE_DEAD
from runners.sim.machine import Busy, Machine
from runners.sim.memory import memory, swap_area
from runners.sim.network.state import dotted, mask
from runners.sim.process_files import PROCESS_FILES, name_now
from runners.sim.processes import Process
from runners.sim.socket_table import inodes, rows

DEFAULT_SYSCTL: Mapping[str, str] = {
    "fs.file-max": "9223372036854775807", "fs.file-nr": "2016\t0\t9223372036854775807",
    "fs.inotify.max_user_watches": "65536", "fs.nr_open": "1048576",
    "kernel.core_pattern": "core", "kernel.core_uses_pid": "0", "kernel.hostname": "",
    "kernel.osrelease": "6.1.0-18-amd64", "kernel.ostype": "Linux", "kernel.panic": "0",
    "kernel.pid_max": "4194304", "kernel.randomize_va_space": "2", "kernel.shmmax": "18446744073692774399",
    "kernel.threads-max": "63704", "net.core.netdev_max_backlog": "1000", "net.core.rmem_max": "212992",
    "net.core.somaxconn": "4096", "net.core.wmem_max": "212992", "net.ipv4.ip_forward": "0",
    "net.ipv4.ip_local_port_range": "32768\t60999", "net.ipv4.ip_unprivileged_port_start": "1024",
    "net.ipv4.tcp_fin_timeout": "60", "net.ipv4.tcp_keepalive_time": "7200", "net.ipv4.tcp_max_syn_backlog": "512",
    "net.ipv4.tcp_syncookies": "1", "net.ipv4.tcp_tw_reuse": "2", "net.ipv6.conf.all.disable_ipv6": "0",
    "net.netfilter.nf_conntrack_count": "38", "net.netfilter.nf_conntrack_max": "65536",
    "vm.drop_caches": "0", "vm.dirty_background_ratio": "10",
    "vm.dirty_ratio": "20", "vm.max_map_count": "65530", "vm.min_free_kbytes": "67584", "vm.overcommit_memory": "0",
    "vm.overcommit_ratio": "50", "vm.panic_on_oom": "0", "vm.swappiness": "60", "vm.vfs_cache_pressure": "100",
}  # fmt: skip
"""Kernel settings as a Debian 12 machine has them, by sysctl's names."""

_READ_ONLY = frozenset({"fs.file-nr", "kernel.osrelease", "kernel.ostype", "net.netfilter.nf_conntrack_count"})


class Proc:
    """One mount of proc or sysfs for one machine. Numbers of its inodes are negative and stay with their paths."""

    __slots__ = ("_machine", "dev", "kind", "numbers", "paths", "top")

    def __init__(self, machine: Machine, dev: int, kind: str) -> None:
        # The machine holds its file systems. Held back, each of its thousands of forks would have to wait for the
        # collector to be found dead.
        self._machine = weakref.ref(machine)
        self.dev = dev
        self.kind = kind
        self.numbers: dict[str, int] = {}
        self.paths: dict[int, str] = {}
        # /proc itself, as long as the processes and the time are the same: every path below begins with it.
        self.top: tuple[object, float, Inode] | None = None

    def bound(self, machine: object) -> Proc:
        assert isinstance(machine, Machine)
        return Proc(machine, self.dev, self.kind)

    @property
    def machine(self) -> Machine:
        machine = self._machine()
        assert machine is not None
        return machine

    def lookup(self, path: str) -> Inode | None:
        parts = path.split("/") if path else []
        if self.kind == "sys":
            return self._sysfs(path)
        if not parts:
            return self._top()
        first = parts[0]
        if first == "self":
            return self._process(path, parts, max(self.machine.processes.by_pid, default=1))
        if first.isdigit():
            return self._process(path, parts, int(first))
        if first == "sys":
            return self._settings(path, parts[1:])
        if first == "net":
            return self._net(path, parts[1:])
        make = _FILES.get(path)
        return self._file(path, make(self.machine)) if make is not None else None

    def _top(self) -> Inode:
        table, now = self.machine.processes.by_pid, self.machine.clock.now
        if self.top is None or self.top[0] is not table or self.top[1] != now:
            names = [*_FILES, "sys", "net", "self", *(str(process.pid) for process in self.machine.processes)]
            self.top = (table, now, self._folder("", names))
        return self.top[2]

    def store(self, number: int, data: bytes) -> None:
        """Writing to /proc/sys sets the kernel's value; other files refuse."""
        path = self.paths.get(number)
        if path is None:
            return
        key = path.removeprefix("sys/").replace("/", ".")
        if not path.startswith("sys/") or key not in self.machine.network.sysctl:
            raise fail(errno.EINVAL)
        value = data.decode("utf-8", "replace").strip()
        if value:
            set_sysctl(self.machine, key, value)

    def _number(self, path: str) -> int:
        number = self.numbers.get(path)
        if number is None:
            number = self.numbers[path] = -(len(self.numbers) + 1 + self.dev * 1_000_000)
            self.paths[number] = path
        return number

    def _folder(self, path: str, names: list[str], *, uid: int = 0, gid: int = 0) -> Inode:
        now = self.machine.clock.now
        entries = dict.fromkeys(names, 0)
        return Inode(self._number(path), self.dev, stat.S_IFDIR | 0o555, uid, gid, 2, now, now, EMPTY, entries)

    def _file(self, path: str, text: str, *, mode: int = 0o444, uid: int = 0, gid: int = 0) -> Inode:
        now = self.machine.clock.now
        content = Content.of(text.encode("utf-8", "surrogateescape"))
        return Inode(self._number(path), self.dev, stat.S_IFREG | mode, uid, gid, 1, now, now, content)

    def _link(self, path: str, target: str, process: Process) -> Inode:
        now = self.machine.clock.now
        return Inode(
            self._number(path), self.dev, stat.S_IFLNK | 0o777, process.cred.uid, process.cred.gid, 1, now, now,
            target=target,
        )  # fmt: skip

    def _process(self, path: str, parts: list[str], pid: int) -> Inode | None:
        process = self.machine.processes.get(pid)
        if process is None:
            return None
        uid, gid = process.cred.uid, process.cred.gid
        if len(parts) == 1:
            return self._folder(path, [*PROCESS_FILES, "cwd", "exe", "fd", "root"], uid=uid, gid=gid)
        if parts[1] == "fd":
            return self._descriptors(path, parts, process)
        if len(parts) > 2:
            return None
        if parts[1] in ("cwd", "exe", "root"):
            target = {"cwd": process.cwd, "exe": process.exe, "root": "/"}[parts[1]]
            return self._link(path, target, process)
        make = PROCESS_FILES.get(parts[1])
        if make is None:
            return None
        private = parts[1] in ("environ", "io")
        return self._file(path, make(self.machine, process), mode=0o400 if private else 0o444, uid=uid, gid=gid)

    def _descriptors(self, path: str, parts: list[str], process: Process) -> Inode | None:
        targets = descriptors(self.machine, process)
        if len(parts) == 2:
            return self._folder(path, [str(fd) for fd in targets], uid=process.cred.uid)
        target = targets.get(int(parts[2])) if parts[2].isdigit() and len(parts) == 3 else None
        return self._link(path, target, process) if target is not None else None

    def _settings(self, path: str, parts: list[str]) -> Inode | None:
        table = self.machine.network.sysctl
        key = ".".join(parts)
        if key in table:
            return self._file(path, table[key] + "\n", mode=0o444 if key in _READ_ONLY else 0o644)
        prefix = key + "." if key else ""
        below = dict.fromkeys(name[len(prefix) :].split(".")[0] for name in table if name.startswith(prefix))
        return self._folder(path, list(below)) if below else None

    def _net(self, path: str, parts: list[str]) -> Inode | None:
        if not parts:
            return self._folder(path, ["dev", "tcp", "route"])
        if parts == ["tcp"]:
            return self._file(path, _tcp(self.machine))
        if parts == ["route"]:
            return self._file(path, _routes(self.machine))
        if parts == ["dev"]:
            lines = ["Inter-|   Receive                                                |  Transmit",
                     " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
                     "fifo colls carrier compressed"]  # fmt: skip
            for interface in self.machine.network.interfaces:
                count = 184_220 if interface.name == "lo" else 9_120_344
                name = interface.name
                lines.append(f"{name:>6}: {count * 210:8d} {count:7d}    0    0    0     0          0         0"
                             f" {count * 180:8d} {count:7d}    0    0    0     0       0          0")  # fmt: skip
            return self._file(path, "\n".join(lines) + "\n")
        return None

    def _sysfs(self, path: str) -> Inode | None:
        tree = {"": ["class", "kernel"], "class": ["net"], "kernel": [],
                "class/net": [interface.name for interface in self.machine.network.interfaces]}  # fmt: skip
        if path in tree:
            return self._folder(path, tree[path])
        for interface in self.machine.network.interfaces:
            files = {"address": interface.mac, "mtu": str(interface.mtu), "operstate": "up" if interface.up else "down"}
            base = f"class/net/{interface.name}"
            if path == base:
                return self._folder(path, list(files))
            name = path.removeprefix(base + "/")
            if path.startswith(base + "/") and name in files:
                return self._file(path, files[name] + "\n")
        return None


def set_sysctl(machine: Machine, key: str, value: str) -> None:
    """Set a kernel value that is known; OSError EACCES when it cannot be written, EINVAL for nonsense."""
    if key in _READ_ONLY:
        raise fail(errno.EACCES)
    old = machine.network.sysctl[key]
    if old.lstrip("-").isdigit() and not value.lstrip("-").isdigit():
        raise fail(errno.EINVAL)
    if key == "net.ipv4.ip_local_port_range":
        value = "\t".join(value.split())
    machine.network.sysctl = {**machine.network.sysctl, key: value}


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


# -- /proc/NAME


def _meminfo(machine: Machine) -> str:
    now = memory(machine)
    rows = {
        "MemTotal": now.total, "MemFree": now.free, "MemAvailable": now.available, "Buffers": now.buffers,
        "Cached": now.cached, "SwapCached": 0, "Active": now.processes // 2 + now.cached // 3,
        "Inactive": now.processes // 2 + now.cached * 2 // 3, "SwapTotal": now.swap_total, "SwapFree": now.swap_free,
        "Dirty": 172 << 10, "Writeback": 0, "AnonPages": now.processes, "Mapped": now.processes // 3,
        "Shmem": now.shared, "KReclaimable": now.slab * 2 // 3, "Slab": now.slab, "SReclaimable": now.slab * 2 // 3,
        "SUnreclaim": now.slab // 3, "KernelStack": 4 << 20, "PageTables": 9 << 20,
        "CommitLimit": now.total // 2 + now.swap_total, "Committed_AS": now.processes * 2,
        "VmallocTotal": 34359738367 << 10,
    }  # fmt: skip
    return "".join(f"{name + ':':<16}{value >> 10:8d} kB\n" for name, value in rows.items())


def _cpuinfo(machine: Machine) -> str:
    settings = machine.spec.settings
    cpus = settings.get("cpus", 1)
    model = settings.get("cpu_model", "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz")
    block = (
        "processor\t: {}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: {}\nstepping\t: 7\n"
        "cpu MHz\t\t: 2095.076\ncache size\t: 16384 KB\nphysical id\t: {}\nsiblings\t: 1\n"
        "core id\t\t: 0\ncpu cores\t: 1\n"
        "flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ss ht "
        "syscall nx rdtscp lm constant_tsc rep_good nopl xtopology cpuid pni ssse3 fma cx16 sse4_1 sse4_2 avx avx2\n"
        "bogomips\t: 4190.15\n\n"
    )
    return "".join(block.format(number, model, number) for number in range(cpus if isinstance(cpus, int) else 1))


_QUIET = 0.04
"""The load of a machine that has next to nothing to do."""


def load_average(machine: Machine) -> tuple[float, float, float]:
    """The three figures of uptime: what the processes take of the processors, averaged as the kernel does."""
    now = machine.clock.now
    busy = [
        Busy(process.cpu_share, process.started, now)
        for process in machine.processes.by_pid.values()
        if process.cpu_share and process.state != "T"
    ]
    busy += machine.past_load
    one, five, fifteen = (
        _QUIET
        + sum(
            share * (1 - math.exp(-(ended - began) / span)) * math.exp(-(now - ended) / span)
            for share, began, ended in busy
        )
        for span in (60, 300, 900)
    )
    return one, five, fifteen


def _loadavg(machine: Machine) -> str:
    one, five, fifteen = load_average(machine)
    count = len(machine.processes.by_pid)
    return f"{one:.2f} {five:.2f} {fifteen:.2f} 1/{count + 31} {machine.processes.next_pid - 1}\n"


def _uptime(machine: Machine) -> str:
    up = machine.clock.now - machine.clock.boot
    cpus = machine.spec.settings.get("cpus", 1)
    return f"{up:.2f} {up * (cpus if isinstance(cpus, int) else 1) * 0.96:.2f}\n"


def _mounts(machine: Machine) -> str:
    return "".join(
        f"{mount.source} {mount.path} {mount.fstype} {','.join(mount.options)} 0 0\n" for mount in machine.files.mounts
    )


def _version(_machine: Machine) -> str:
    return (
        "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU "
        "Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)\n"
    )


def _stat(machine: Machine) -> str:
    up = machine.clock.now - machine.clock.boot
    cpus = machine.spec.settings.get("cpus", 1)
    count = cpus if isinstance(cpus, int) else 1
    used = sum(process.cpu_used(machine.clock.now) for process in machine.processes.by_pid.values())
    ticks = int(used * 100) + machine.counters.get(TICKS_OF_THE_DEAD, 0)
    user, system = int(up * 1.4) + ticks * 5 // 6 // count, int(up * 0.8) + ticks // 6 // count
    idle = max(int(up * 100) - user - system, 0)
    running = sum(1 for process in machine.processes.by_pid.values() if process.state == "R")
    lines = [f"cpu  {user * count} 812 {system * count} {idle * count} 5120 0 233 0 0 0"]
    lines += [f"cpu{number} {user} 406 {system} {idle} 2560 0 116 0 0 0" for number in range(count)]
    lines += [
        f"btime {int(machine.clock.boot)}",
        f"processes {machine.processes.next_pid}",
        f"procs_running {max(running, 1)}",
        "procs_blocked 0",
    ]
    return "\n".join(lines) + "\n"


def _filesystems(_machine: Machine) -> str:
    return "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdevtmpfs\n\text4\n"


def _swaps(machine: Machine) -> str:
    now = memory(machine)
    head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    if not now.swap_total:
        return head
    used = now.swap_total - now.swap_free
    area = swap_area(machine)
    kind = "partition" if area.startswith("/dev/") else "file"
    return head + f"{area:<39} {kind}\t\t{now.swap_total >> 10}\t\t{used >> 10}\t\t-2\n"


def _boot_line(machine: Machine) -> str:
    return f"BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root={machine.files.mounts[0].source} ro quiet\n"


_FILES: Mapping[str, Callable[[Machine], str]] = {
    "cmdline": _boot_line,
    "cpuinfo": _cpuinfo, "filesystems": _filesystems, "loadavg": _loadavg, "meminfo": _meminfo, "mounts": _mounts,
    "stat": _stat, "swaps": _swaps, "uptime": _uptime, "version": _version,
}  # fmt: skip


def _tcp(machine: Machine) -> str:
    lines = ["  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"]
    for row in rows(machine):
        socket = row.socket
        if socket.protocol != "tcp" or ":" in socket.address:
            continue
        state = "0A" if socket.state == "LISTEN" else "01"
        lines.append(
            f"{len(lines) - 1:4d}: {_hex(socket.address)}:{socket.port:04X} "
            f"{_hex(socket.peer)}:{socket.peer_port:04X} {state} 00000000:00000000 00:00000000 00000000 "
            f"{row.owners[0][0].cred.uid:5d}        0 {row.inode} 1 0000000000000000 100 0 0 10 0"
        )
    return "\n".join(lines) + "\n"


def _routes(machine: Machine) -> str:
    """The main table as route(8) reads it."""
    lines = ["Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"]
    for route in machine.network.routes:
        flags = 0x1 | 0x2 * bool(route.gateway) | 0x4 * (route.prefix == 32) | 0x200 * (route.kind != "unicast")
        to, through, reach = (_hex(text) for text in (dotted(route.network), route.gateway, dotted(mask(route.prefix))))
        words = (route.device or "*", to, through, f"{flags:04X}", "0", "0", str(route.metric), reach, "0", "0", "0")
        lines.append("\t".join(words))
    return "".join(f"{line:<127}\n" for line in lines)


def _hex(address: str) -> str:
    parts = address.split(".")
    return "".join(f"{int(part):02X}" for part in reversed(parts)) if len(parts) == 4 else "00000000"
