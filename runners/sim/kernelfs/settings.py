"""/proc/sys: the kernel's settings, which sysctl names with dots."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence

from runners.sim.files.tree import fail
from runners.sim.kernelfs.nodes import File, Folder, Node
from runners.sim.machine import Machine
from runners.text import is_digits

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


def node(machine: Machine, parts: Sequence[str]) -> Node | None:
    table = machine.network.sysctl
    key = ".".join(parts)
    if key in table:
        return File(table[key] + "\n", 0o444 if key in _READ_ONLY else 0o644)
    prefix = key + "." if key else ""
    below = dict.fromkeys(name[len(prefix) :].split(".")[0] for name in table if name.startswith(prefix))
    return Folder(tuple(below)) if below else None


def store(machine: Machine, parts: Sequence[str], data: bytes) -> None:
    """Set the kernel's value, as written to its file."""
    value = data.decode("utf-8", "replace").strip()
    key = ".".join(parts)
    if key not in machine.network.sysctl:
        raise fail(errno.EINVAL)
    if value:
        set_sysctl(machine, key, value)


def set_sysctl(machine: Machine, key: str, value: str) -> None:
    """Set a kernel value that is known; OSError EACCES when it cannot be written, EINVAL for nonsense."""
    if key in _READ_ONLY:
        raise fail(errno.EACCES)
    old = machine.network.sysctl[key]
    if is_digits(old.lstrip("-")) and not is_digits(value.lstrip("-")):
        raise fail(errno.EINVAL)
    if key == "net.ipv4.ip_local_port_range":
        value = "\t".join(value.split())
    machine.network.sysctl = {**machine.network.sysctl, key: value}
