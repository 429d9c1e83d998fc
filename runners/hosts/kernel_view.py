"""A world's processes as this host's kernel knows them: nothing in the world can lie about them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_LARGEST_PROGRAM = 256 << 20
_SCRIPTS = ("python", "perl", "bash", "sh", "dash", "awk")
OpenFile: TypeAlias = Callable[[str], int | None]
"""Opens a path of the world; None where it cannot."""
Digests: TypeAlias = dict[tuple[int, int, int], str]
"""(inode, bytes, nanoseconds of its last change) -> digest, of files that nobody has had a hand in yet: what worlds of
one image share has the same three in all of them. No call sets the time of the last change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process. pid: on this host; inner: its number in the world; started: in ticks since this host's boot."""

    pid: int
    inner: int
    name: str
    argv: tuple[str, ...]
    state: str
    uid: int
    rss: int
    started: str

    @property
    def line(self) -> str:
        return " ".join(self.argv) if self.argv else self.name


def children(pid: int) -> frozenset[int]:
    """The children of all threads of a process; none where it is gone."""
    found: set[int] = set()
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found.update(map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split()))
    except (OSError, ValueError):
        pass
    return frozenset(found)


def command_line(pid: int) -> tuple[str, ...]:
    """The words that a process was begun with; none where it is gone."""
    try:
        words = _kernels(f"/proc/{pid}/cmdline").rstrip(b"\0")
    except OSError:
        return ()
    return tuple(words.decode("utf-8", "replace").split("\0"))


def descendants(pid: int, but: frozenset[int]) -> frozenset[int]:
    """What a process and its children have begun and is still theirs; without those children and what is below them."""
    found: set[int] = set()
    stack = [child for child in children(pid) if child not in but]
    while stack:
        one = stack.pop()
        if one not in found:
            found.add(one)
            stack += children(one)
    return frozenset(found)


def control_group(pid: int, controller: str = "pids") -> Path:
    """The folder, on this host, of the control group that the engine put a container into."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            where = next((m[1] for m in mounts if m[2] == "cgroup" and controller in m[3].split(",")), None)
            if where is not None:
                return Path(where) / path.lstrip("/")
    where = next(m[1] for m in mounts if m[2] == "cgroup2")
    path = next(line.split("::", 1)[1] for line in lines if line.startswith("0::"))
    # systemd has moved itself into a group of its own below the container's.
    return Path(where) / path.lstrip("/").removesuffix("/init.scope")


def worked(pid: int) -> float:
    """Seconds of processor time that the control group of a container has used so far, its ended processes' too."""
    group = control_group(pid, "cpuacct")
    if (counted := group / "cpuacct.usage").exists():
        return int(counted.read_text()) / 1e9
    used = next(line for line in (group / "cpu.stat").read_text().splitlines() if line.startswith("usage_usec "))
    return int(used.split()[1]) / 1e6


def processes(group: Path, uids: int) -> tuple[Process, ...]:
    """All processes of a control group and the groups below it; `uids`: where the world's user ids begin."""
    found = []
    for folder, _, _ in os.walk(group):
        try:
            pids = (Path(folder) / "cgroup.procs").read_text().split()
        except OSError:
            continue
        found += [one for pid in pids if (one := _process(int(pid), uids)) is not None]
    return tuple(sorted(found, key=lambda one: one.pid))


def program_of(process: Process, open_file: OpenFile, known: Digests | None = None) -> str:
    """What a process really runs: a digest of its program, and of its script where that is an interpreter's.

    known: taken from there, and added to.
    """
    known = {} if known is None else known
    try:
        handle = os.open(f"/proc/{process.pid}/exe", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    digest = _digest(handle, known)
    name = os.path.basename(process.argv[0]) if process.argv else process.name
    if len(process.argv) > 1 and name.rstrip("0123456789.") in _SCRIPTS and process.argv[1].startswith("/"):
        script = open_file(process.argv[1])
        return f"{digest}+{_digest(script, known)}" if script is not None else digest
    return digest


def _process(pid: int, uids: int) -> Process | None:
    try:
        about, argv, stat = (_kernels(f"/proc/{pid}/{name}") for name in ("status", "cmdline", "stat"))
    except OSError:
        return None
    status = {line[: line.find(b":")]: line[line.find(b":") + 1 :].split() for line in about.splitlines()}
    fields = stat.rpartition(b")")[2].split()
    argv = argv.rstrip(b"\0")
    return Process(
        pid=pid,
        inner=int(status.get(b"NSpid", [b"0"])[-1]),
        name=about[len(b"Name:\t") : about.find(b"\n")].decode("utf-8", "replace"),
        argv=tuple(argv.decode("utf-8", "replace").split("\0")) if argv else (),
        state=fields[0].decode(),
        uid=int(status[b"Uid"][1]) - uids,
        rss=int(status.get(b"VmRSS", [b"0"])[0]) * 1024,
        started=fields[19].decode(),
    )


def _kernels(path: str) -> bytes:
    """A file that the kernel makes up, read as cheaply as can be: there are hundreds at each look."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(handle, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _digest(handle: int, known: Digests) -> str:
    """The digest of an open file, which is closed."""
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        # What is named may be anything, a device that never ends too.
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_PROGRAM:
            return f"no program:{about.st_size}"
        key = (about.st_ino, about.st_size, about.st_ctime_ns)
        if key not in known:
            known[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return known[key]
