"""The columns of ps: what `-o` accepts, each with its header, width, text and sort key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from runners.formats.accounts import Accounts
from runners.sim.machine import Machine
from runners.sim.process_info import (
    command_line,
    control_group,
    cpu_percent,
    elapsed,
    foreground,
    is_kernel_thread,
    meminfo,
    pid_width,
    session,
    state_flags,
)
from runners.sim.processes import Process
from runners.sim.users import accounts

Key = float | str


class Listing:
    """One snapshot: the processes and what the columns look up about them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.processes = list(machine.processes)
        self.accounts: Accounts = accounts(machine)
        self.total_memory = max(meminfo(machine).get("MemTotal", 1), 1)
        self.pid_width = pid_width(machine)
        self.width: int | None = None

    def add(self, process: Process) -> None:
        """Put in a process, in place of one with its pid."""
        self.processes = sorted(
            [*(other for other in self.processes if other.pid != process.pid), process], key=lambda one: one.pid
        )

    def uid(self, name: str) -> int | None:
        user = self.accounts.user(name)
        return user.uid if user is not None else None

    def gid(self, name: str) -> int | None:
        group = self.accounts.group(name)
        return group.gid if group is not None else None

    def user_name(self, uid: int) -> str:
        user = self.accounts.user(uid)
        return user.name if user is not None else str(uid)

    def group_name(self, gid: int) -> str:
        group = self.accounts.group(gid)
        return group.name if group is not None else str(gid)

    def session(self, process: Process) -> int:
        return session(self.machine, process)

    def column_width(self, column: Column) -> int:
        return self.pid_width if column.width == 0 else column.width


Text = Callable[[Listing, Process], str]


class Column(NamedTuple):
    """`width` 0 is that of a pid. `key` sorts. `cut`: text is cut at the width, save in the last column."""

    header: str
    width: int
    text: Text
    key: Callable[[Listing, Process], Key]
    right: bool = True
    cut: bool = False
    is_command: bool = False


def _number(header: str, width: int, value: Callable[[Listing, Process], int]) -> Column:
    return Column(header, width, lambda listing, process: str(value(listing, process)), value)


def _left(header: str, width: int, text: Text, *, cut: bool = True, command: bool = False) -> Column:
    return Column(header, width, text, text, right=False, cut=cut, is_command=command)


def _name_of(name: str, width: int) -> str:
    """A user's name in a column: a longer one ends in `+`."""
    return name if len(name) <= width else name[: width - 1] + "+"


def _user(header: str, width: int = 8) -> Column:
    return _left(header, width, lambda listing, process: _name_of(listing.user_name(process.cred.uid), width))


def _group(header: str) -> Column:
    return _left(header, 8, lambda listing, process: _name_of(listing.group_name(process.cred.gid), 8))


def _other_groups(listing: Listing, process: Process, *, named: bool) -> str:
    """The groups beside the primary one; `-` where there are none."""
    groups = sorted(process.cred.groups - {process.cred.gid})
    return ",".join(listing.group_name(gid) if named else str(gid) for gid in groups) or "-"


def clock_time(seconds: float) -> str:
    """Used CPU time as `TIME` shows it: `[D-]HH:MM:SS`."""
    days, rest = divmod(int(seconds), 86400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def _used(listing: Listing, process: Process) -> float:
    return process.cpu_used(listing.machine.clock.now)


def _bsd_time(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def elapsed_time(seconds: float) -> str:
    """`[[D-]HH:]MM:SS`."""
    days, rest = divmod(int(seconds), 86400)
    hours = rest // 3600
    text = f"{rest // 60 % 60:02d}:{rest % 60:02d}"
    if days:
        return f"{days}-{hours:02d}:{text}"
    return f"{hours:02d}:{text}" if hours else text


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _start_time(listing: Listing, process: Process) -> str:
    """HH:MM when started within the last day, else month and day, else the year."""
    now = listing.machine.clock.time()
    began = listing.machine.clock.time(process.started)
    if now.year != began.year:
        return began.strftime("%Y")
    if now.timetuple().tm_yday != began.timetuple().tm_yday:
        return f"{_MONTHS[began.month - 1]}{began.day:02d}"
    return f"{began.hour:02d}:{began.minute:02d}"


def _start(listing: Listing, process: Process) -> str:
    began = listing.machine.clock.time(process.started)
    recent = listing.machine.clock.now - process.started < 86400
    return began.strftime("%H:%M:%S") if recent else began.strftime("  %b %d")


def _lstart(listing: Listing, process: Process) -> str:
    began = listing.machine.clock.time(process.started)
    return f"{began.strftime('%a %b')} {began.day:2d} {began.strftime('%H:%M:%S %Y')}"


def _percent_memory(listing: Listing, process: Process) -> float:
    return min(process.rss / 1024 * 100 / listing.total_memory, 99.9)


def _utilisation(listing: Listing, process: Process) -> int:
    return min(int(cpu_percent(listing.machine, process)), 99)


def _policy(listing: Listing, process: Process) -> str:
    del listing
    return "TS" if process.program != "migration" else "FF"


def _cgroup(listing: Listing, process: Process) -> str:
    del listing
    return f"0::/{control_group(process)}"


def _unit(listing: Listing, process: Process) -> str:
    del listing
    if is_kernel_thread(process):
        return "-"
    return "init.scope" if process.pid == 1 else process.unit or "session-1.scope"


def _priority(process: Process) -> int:
    return 20 + process.nice


def _flags(listing: Listing, process: Process) -> int:
    del listing
    return 1 if is_kernel_thread(process) and process.pid != 2 else 4 if process.cred.uid == 0 else 5


_COMMAND = _left("COMMAND", 27, lambda _, process: command_line(process), cut=True, command=True)
_COMM = _left(
    "COMMAND", 15, lambda _, process: process.name + (" <defunct>" if process.state == "Z" else ""), command=True
)
_CPU = Column(
    "%CPU", 4, lambda listing, process: f"{cpu_percent(listing.machine, process):.1f}",
    lambda listing, process: cpu_percent(listing.machine, process),
)  # fmt: skip
_MEM = Column(
    "%MEM", 4, lambda listing, process: f"{int(_percent_memory(listing, process) * 10) / 10:.1f}", _percent_memory
)
_RSS = _number("RSS", 5, lambda _, process: process.rss // 1024)
_VSZ = _number("VSZ", 6, lambda _, process: process.vsz // 1024)
_TIME = Column(
    "TIME",
    8,
    lambda listing, process: clock_time(_used(listing, process)),
    lambda listing, process: _used(listing, process),
)
_SESSION = _number("SID", 0, lambda listing, process: session(listing.machine, process))
_GROUP_ID = _number("PGID", 0, lambda listing, process: session(listing.machine, process))
_TTY = _left("TTY", 8, lambda _, process: process.tty)
_PRIORITY = _number("PRI", 3, lambda _, process: 19 - process.nice)
_NICE = _number("NI", 3, lambda _, process: process.nice)
_THREADS = _number("NLWP", 4, lambda _, process: process.threads)
_STATE = _left("S", 1, lambda _, process: process.state)
_PID = _number("PID", 0, lambda _, process: process.pid)
_PPID = _number("PPID", 0, lambda _, process: process.ppid)
_UID = _number("UID", 5, lambda _, process: process.cred.uid)
_GID = _number("GID", 5, lambda _, process: process.cred.gid)
_UTILISATION = _number("C", 2, _utilisation)
_SIZE = _number("SZ", 5, lambda _, process: process.vsz // 4096)
_LSTART = Column("STARTED", 24, _lstart, lambda _, process: process.started)
_START_TIME = Column("START", 5, _start_time, lambda _, process: process.started, right=False)


COLUMNS: dict[str, Column] = {
    "pid": _PID,
    "tgid": _PID._replace(header="TGID"),
    "lwp": _PID._replace(header="LWP"),
    "tid": _PID._replace(header="TID"),
    "spid": _PID._replace(header="SPID"),
    "ppid": _PPID,
    "pgid": _GROUP_ID,
    "pgrp": _GROUP_ID._replace(header="PGRP"),
    "sid": _SESSION,
    "sess": _SESSION._replace(header="SESS"),
    "session": _SESSION._replace(header="SESS"),
    "tpgid": _number("TPGID", 0, lambda listing, process: foreground(listing.machine, process)),
    "user": _user("USER"),
    "uname": _user("USER"),
    "euser": _user("EUSER"),
    "ruser": _user("RUSER"),
    "uid_name": _user("UID"),
    "group": _group("GROUP"),
    "egroup": _group("EGROUP"),
    "rgroup": _group("RGROUP"),
    "supgid": _left("SUPGID", 20, partial(_other_groups, named=False)),
    "supgrp": _left("SUPGRP", 40, partial(_other_groups, named=True)),
    "uid": _UID,
    "euid": _UID._replace(header="EUID"),
    "ruid": _UID._replace(header="RUID"),
    "gid": _GID,
    "egid": _GID._replace(header="EGID"),
    "rgid": _GID._replace(header="RGID"),
    "%cpu": _CPU,
    "pcpu": _CPU,
    "%mem": _MEM,
    "pmem": _MEM,
    "c": _UTILISATION,
    "rss": _RSS,
    "rssize": _RSS._replace(header="RSS"),
    "rsz": _RSS._replace(header="RSZ"),
    "vsz": _VSZ,
    "vsize": _VSZ,
    "sz": _SIZE,
    "size": _number("SIZE", 5, lambda _, process: process.vsz // 2048),
    "drs": _number("DRS", 5, lambda _, process: max(process.vsz // 1024 - 900, 0)),
    "trs": _number("TRS", 4, lambda _, process: min(900, process.vsz // 1024)),
    "maj_flt": _number("MAJFL", 6, lambda _, process: process.rss >> 22),
    "majflt": _number("MAJFLT", 6, lambda _, process: process.rss >> 22),
    "min_flt": _number("MINFL", 6, lambda _, process: process.rss >> 12),
    "minflt": _number("MINFLT", 6, lambda _, process: process.rss >> 12),
    "time": _TIME,
    "cputime": _TIME,
    "times": _number("TIME", 8, lambda listing, process: int(_used(listing, process))),
    "cputimes": _number("TIME", 8, lambda listing, process: int(_used(listing, process))),
    "bsdtime": Column("TIME", 6, lambda listing, process: _bsd_time(_used(listing, process)), _used),
    "etime": Column(
        "ELAPSED", 11, lambda listing, process: elapsed_time(elapsed(listing.machine, process)),
        lambda listing, process: elapsed(listing.machine, process),
    ),
    "etimes": _number("ELAPSED", 7, lambda listing, process: int(elapsed(listing.machine, process))),
    "stime": _START_TIME._replace(header="STIME"),
    "start_time": _START_TIME,
    "bsdstart": Column("START", 6, _start_time, lambda _, process: process.started),
    "start": Column("STARTED", 8, _start, lambda _, process: process.started),
    "lstart": _LSTART,
    "tname": _TTY,
    "tty": _TTY._replace(header="TT"),
    "tt": _TTY._replace(header="TT"),
    "s": _STATE,
    "state": _STATE,
    "stat": _left("STAT", 4, lambda listing, process: state_flags(listing.machine, process), cut=False),
    "pri": _PRIORITY,
    "opri": _number("PRI", 3, lambda _, process: 80 + process.nice),
    "pri_bsd": _number("PRI", 3, lambda _, process: _priority(process)),
    "priority": _number("PRI", 3, lambda _, process: _priority(process)),
    "ni": _NICE,
    "nice": _NICE,
    "nlwp": _THREADS,
    "thcount": _THREADS._replace(header="THCNT", width=5),
    "psr": _number("PSR", 3, lambda listing, process: process.pid % max(cpu_count(listing.machine), 1)),
    "wchan": _left("WCHAN", 6, lambda _, process: "kthrea" if process.pid == 2 else "-"),
    "f": _number("F", 1, _flags),
    "flags": _number("F", 1, _flags),
    "addr": Column("ADDR", 4, lambda *_: "-", lambda *_: 0),
    "cls": _left("CLS", 3, _policy),
    "class": _left("CLS", 3, _policy),
    "policy": _left("POL", 3, _policy),
    "rtprio": Column("RTPRIO", 6, lambda *_: "-", lambda *_: 0),
    "cgroup": _left("CGROUP", 27, _cgroup),
    "cgroupns": Column("CGROUPNS", 10, lambda *_: "4026531835", lambda *_: 0),
    "unit": _left("UNIT", 31, _unit),
    "label": _left("LABEL", 31, lambda *_: "unconfined"),
    "comm": _COMM,
    "ucomm": _COMM,
    "ucmd": _COMM._replace(header="CMD"),
    "fname": _COMM._replace(width=8),
    "exe": _left("EXE", 27, lambda _, process: process.exe or "-"),
    "args": _COMMAND,
    "command": _COMMAND,
    "cmd": _COMMAND._replace(header="CMD"),
}  # fmt: skip


def cpu_count(machine: Machine) -> int:
    cpus = machine.spec.settings.get("cpus", 1)
    return cpus if isinstance(cpus, int) else 1
