"""/proc/NAME: what the kernel tells of the whole machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from runners.sim.kernelfs.load import load_averages, pressure
from runners.sim.lifecycle import TICKS_OF_THE_DEAD
from runners.sim.machine import Machine
from runners.sim.memory import memory, swap_area
from runners.sim.systemd.journal import buffered


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


def _loadavg(machine: Machine) -> str:
    one, five, fifteen = load_averages(machine)
    count = len(machine.processes.by_pid)
    return f"{one:.2f} {five:.2f} {fifteen:.2f} 1/{count + 31} {machine.processes.next_pid - 1}\n"


def _uptime(machine: Machine) -> str:
    up = machine.clock.now - machine.clock.boot
    cpus = machine.spec.settings.get("cpus", 1)
    return f"{up:.2f} {up * (cpus if isinstance(cpus, int) else 1) * 0.96:.2f}\n"


def mounts(machine: Machine) -> str:
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


def _vmstat(machine: Machine) -> str:
    now = memory(machine)
    killed = sum("Killed process" in entry.message for entry in buffered(machine))
    pages = {"nr_free_pages": now.free, "nr_anon_pages": now.processes, "nr_mapped": now.processes // 3,
             "nr_file_pages": now.cached + now.buffers, "nr_shmem": now.shared}  # fmt: skip
    rows = {name: value >> 12 for name, value in pages.items()} | {"pswpin": 0, "pswpout": 0, "oom_kill": killed}
    return "".join(f"{name} {value}\n" for name, value in rows.items())


MACHINE_FILES: Mapping[str, Callable[[Machine], str]] = {
    "cmdline": _boot_line,
    "cpuinfo": _cpuinfo, "filesystems": _filesystems, "loadavg": _loadavg, "meminfo": _meminfo, "mounts": mounts,
    "stat": _stat, "swaps": _swaps, "uptime": _uptime, "version": _version, "vmstat": _vmstat,
    **{f"pressure/{resource}": partial(pressure, resource=resource) for resource in ("cpu", "io", "memory")},
}  # fmt: skip
