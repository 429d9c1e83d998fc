"""What a host lacks of all that worlds with sched_ext need there. Piped into the host's own Python, as root.

Standard output: one line of JSON, `{"kernel": …, "missing": [[name, remedy], …]}`.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import pwd
import shutil
import sys

USERS = ("operator", "service", "batch")
PATHS = ("/usr/lib/sched", "/usr/bin/load", "/usr/bin/schedctl", "/run/sched", "/run/load")
STATE, OPS, GROUPS = "/sys/kernel/sched_ext/state", "/sys/kernel/sched_ext/root/ops", "/sys/fs/cgroup"
CALL = "scx_bpf_dsq_insert"
OPTIONS = {"cpu": "CONFIG_FAIR_GROUP_SCHED", "memory": "CONFIG_MEMCG", "pids": "CONFIG_CGROUP_PIDS"}


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def missing() -> list[tuple[str, str]]:
    """(what is missing, how to get it), in the order in which one would get it."""
    return [*_of_the_kernel(), *_of_programs(), *_of_room()]


def _of_the_kernel() -> list[tuple[str, str]]:
    found = []
    kernel = f"this is Linux {platform.release()}"
    if platform.machine() != "x86_64":
        found.append(("an x86-64 processor", f"programs are made for x86-64, this is {platform.machine()}"))
    if not os.path.exists(STATE):
        found.append(("CONFIG_SCHED_CLASS_EXT", f"boot a kernel that has it, 6.12 or later; {kernel}"))
    elif CALL not in read("/proc/kallsyms"):
        found.append((f"the kernel's function {CALL}", f"boot a kernel that has it, 6.13 or later; {kernel}"))
    elif read(STATE) != "disabled":
        found.append(("the default scheduler", f"unload the one that is loaded: {read(OPS) or read(STATE)}"))
    if not os.path.exists("/proc/sysrq-trigger"):
        found.append(("CONFIG_MAGIC_SYSRQ", f"boot a kernel that has it; {kernel}"))
    for kind in ("net", "ipc", "mnt"):
        if not os.path.exists(f"/proc/self/ns/{kind}"):
            found.append((f"CONFIG_{kind.upper()}_NS", f"boot a kernel that has it; {kernel}"))
    controllers = read(f"{GROUPS}/cgroup.controllers").split()
    if not os.path.exists(f"{GROUPS}/cgroup.controllers"):
        found.append((f"control groups of version 2 at {GROUPS}", "boot with systemd.unified_cgroup_hierarchy=1"))
    else:
        for name in sorted(set(OPTIONS) - set(controllers)):
            found.append((f"the controller {name} ({OPTIONS[name]})", "enable it where the kernel is booted"))
    return found


def _of_programs() -> list[tuple[str, str]]:
    found = []
    if os.geteuid() != 0:
        found.append(("root's rights", "log in as root, or set ansible_become=true with a sudo that asks for nothing"))
    if sys.version_info < (3, 9):  # noqa: UP036 (it is the host's Python, not ours)
        found.append(("Python 3.9 or later", f"/usr/bin/python3 is {platform.python_version()}"))
    for program, package in (("useradd", "passwd"), ("userdel", "passwd"), ("tar", "tar")):
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            found.append((f"the program {program}", f"apt-get install {package}"))
    try:
        ctypes.CDLL("libbpf.so.1")
    except OSError:
        found.append(("the library libbpf.so.1", "apt-get install libbpf1"))
    return found


def _of_room() -> list[tuple[str, str]]:
    """What we put there must not be there already: it is removed afterwards."""
    there = {entry.pw_name for entry in pwd.getpwall()} & set(USERS)
    found = [(f"room for a user {name}", "there is one; take a host that has none") for name in sorted(there)]
    paths = (*PATHS, "/home/operator")
    return found + [(f"room for {path}", "it is there; what an interrupted run left, `breakfix clean` removes")
                    for path in paths if os.path.exists(path)]  # fmt: skip


if __name__ == "__main__":
    print(json.dumps({"kernel": platform.release(), "missing": missing()}))  # noqa: T201 (that is how it answers)
