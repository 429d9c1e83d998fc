"""How processes begin and end: execve's errors, signals and who may send them, what the end of one sets off."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from runners.sim.files.inode import EXECUTE, ROOT, Cred, Inode, permits
from runners.sim.files.tree import fail
from runners.sim.files.view import FileView
from runners.sim.machine import Busy, Job, Machine
from runners.sim.processes import OpenFile, Process
from runners.sim.systemd.journal import log

SIGNALS = {
    1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1",
    11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT", 17: "CHLD", 18: "CONT", 19: "STOP",
    20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU", 25: "XFSZ", 26: "VTALRM", 27: "PROF", 28: "WINCH",
    29: "POLL", 30: "PWR", 31: "SYS",
}  # fmt: skip
KILL, STOP, CONT, TERM, HUP = 9, 19, 18, 15, 1
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TICKS_OF_THE_DEAD = "ticks of processes that have ended"
"""The machine's counter of hundredths of a second that processes had used when they ended."""
_MOST_LINES = 10_000
"""Lines that journald takes from a unit at a time (RateLimitBurst)."""
BUSY = 0.5
"""The share of a processor from which a process is seen running rather than asleep."""
_IGNORED_BY_DEFAULT = frozenset({17, 18, 23, 28})
_STOPS = frozenset({19, 20, 21, 22})
_DUMPS_CORE = frozenset({3, 4, 5, 6, 7, 8, 11, 24, 25, 31})


class Failure(NamedTuple):
    """A program that could not be executed: the errno of execve, and the path it was about."""

    errno: int
    path: str

    @property
    def message(self) -> str:
        return os.strerror(self.errno)


class Exit(NamedTuple):
    """How a process ended: with a status, or by a signal (0: none). The argument of the `process-exited` handler."""

    process: Process
    status: int
    signal: int
    oom: bool = False

    @property
    def core_dumped(self) -> bool:
        return self.signal in _DUMPS_CORE


class Executable(NamedTuple):
    """What execve would run: the real path, the program's name, and argv with any interpreter put in front.

    `comm`: what the kernel calls the process, where that is a script's name.
    """

    path: str
    program: str
    argv: tuple[str, ...]
    comm: str = ""


def resolve(view: FileView, argv: Sequence[str], search: str = DEFAULT_PATH) -> Executable | Failure:
    """Find the program of `argv` as execvp does, through scripts' interpreters.

    Failure: ENOENT, EACCES (no x bit, a directory), ENOEXEC (neither program nor script).
    """
    name = argv[0]
    candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in search.split(":") if folder]
    problem = errno.ENOENT
    for path in candidates:
        try:
            found = view.find(path)
        except OSError as error:
            problem = error.errno or errno.EIO
            continue
        if found.inode is None:
            continue
        if not found.inode.is_file or not permits(found.inode, view.cred, EXECUTE):
            problem = errno.EACCES
            continue
        if found.inode.content.program is not None:
            return Executable(found.path, found.inode.content.program, tuple(argv))
        return _script(view, found.inode, path, argv)
    return Failure(problem, name)


def interpreter_line(head: bytes) -> tuple[str, ...]:
    """The interpreter that a script's first bytes name, and its one argument if there is one; () where they name none.

    As the kernel reads it: a carriage return belongs to the name.
    """
    if not head.startswith(b"#!"):
        return ()
    line = head[2:].split(b"\n", 1)[0].decode("utf-8", "surrogateescape").replace("\t", " ").strip(" ")
    name, _, argument = line.partition(" ")
    return (name, argument.lstrip(" ")) if argument else (name,) if name else ()


def _script(view: FileView, inode: Inode, path: str, argv: Sequence[str]) -> Executable | Failure:
    words = interpreter_line(inode.content.read(0, 256))
    if not words:
        return Failure(errno.ENOEXEC, path)
    try:
        interpreter = view.find(words[0])
    except OSError as error:
        return Failure(error.errno or errno.EIO, path)
    if interpreter.inode is None:
        return Failure(errno.ENOENT, path)
    if not permits(interpreter.inode, view.cred, EXECUTE):
        return Failure(errno.EACCES, path)
    if interpreter.inode.content.program is None:
        return Failure(errno.ENOEXEC, path)
    return Executable(interpreter.path, interpreter.inode.content.program, (*words, path, *argv[1:]), comm_of(path))


def comm_of(path: str) -> str:
    """What the kernel calls a process that executes the file: the first 15 bytes of its name."""
    return path.rsplit("/", 1)[-1][:15]


def spawn(
    machine: Machine,
    argv: Sequence[str],
    *,
    cred: Cred = ROOT,
    cwd: str = "/",
    environment: Iterable[tuple[str, str]] = (),
    unit: str | None = None,
    ppid: int = 1,
    tty: str = "?",
    pid: int | None = None,
    stderr: list[str] | None = None,
    job_seconds: float = 600.0,
    path: str | None = None,
    stdin: bytes = b"",
) -> Process | Failure:
    """Start a program (the file `path`, if its name is not argv[0]).

    The process that comes back may have ended already: look it up by its pid.

    A daemon goes on; anything else is a command that the shell runs to its end now. Lines that the program says at its
    start go to `stderr` when given, otherwise to the journal.
    """
    variables = tuple(environment)
    view = machine.view(cred, cwd)
    named = argv if path is None else (path, *argv[1:])
    executable = resolve(view, named, dict(variables).get("PATH") or DEFAULT_PATH)
    if isinstance(executable, Failure):
        return executable
    if path is not None and executable.argv[0] == path:
        executable = executable._replace(argv=tuple(argv))
    process = Process(
        pid=machine.processes.allocate() if pid is None else pid,
        ppid=ppid,
        cred=cred,
        argv=executable.argv,
        exe=executable.path,
        program=executable.program,
        cwd=view.real_path(cwd),
        started=machine.clock.now,
        tty=tty,
        unit=unit,
        environment=variables,
        comm=executable.comm,
    )
    machine.processes.put(process)
    program = machine.programs.get(executable.program)
    if program is not None:

        def say(line: str) -> None:
            if stderr is not None:
                stderr.append(line)
            elif unit is not None and line:
                log(machine, process.name, line, pid=process.pid, unit=unit, uid=cred.uid, transport="stdout")

        status = program.start(machine, process, say)
        if status is not None:
            exit_process(machine, process.pid, status)
        return machine.processes.get(process.pid) or process
    result = machine.run_job(
        machine, Job(executable.argv, cred, process.cwd, variables, process.pid, job_seconds, stdin=stdin)
    )
    said = (result.stdout + result.stderr).decode("utf-8", "surrogateescape").splitlines()
    if unit is not None and len(said) > _MOST_LINES:
        suppressed = f"Suppressed {len(said) - _MOST_LINES} messages from {unit}"
        log(machine, "systemd-journald", suppressed, pid=1, priority=4)
        said = said[:_MOST_LINES]
    for line in said:
        if stderr is not None:
            stderr.append(line)
        elif unit is not None:
            log(machine, process.name, line, pid=process.pid, unit=unit, uid=cred.uid, transport="stdout")
    if result.timed_out:
        return machine.processes.get(process.pid) or process
    exit_process(machine, process.pid, result.exit_code)
    return process


def fork(
    machine: Machine,
    parent: Process,
    *,
    argv: Sequence[str] | None = None,
    cred: Cred | None = None,
    held: object = None,
    rss: int | None = None,
    files: bool = True,
    sockets: bool = True,
) -> Process:
    """A child that a daemon makes of itself (a worker, a backend): same program and unit.

    files, sockets: does it keep what it inherits of them open?
    """
    child = parent._replace(
        pid=machine.processes.allocate(),
        ppid=parent.pid,
        argv=parent.argv if argv is None else tuple(argv),
        cred=parent.cred if cred is None else cred,
        started=machine.clock.now,
        cpu=0.0,
        rss=parent.rss if rss is None else rss,
        held=held,
        files=parent.files if files else (),
        sockets=parent.sockets if sockets else (),
    )
    for file in child.files:
        machine.files.open(file.inode)
    return machine.processes.put(child)


def open_file(machine: Machine, process: Process, path: str, mode: str = "a") -> OpenFile:
    """Open a file for a daemon's whole life (a log): it keeps writing to the inode even when the name is gone.

    OSError as open(2) would give for the process's user.
    """
    process = machine.processes.get(process.pid) or process
    view = machine.view(process.cred, process.cwd)
    if mode == "r":
        inode = view.stat(path)
        view.content(path)
    else:
        inode = view.open_for_writing(path, truncate=mode == "w", mode=0o640)
    taken = {file.fd for file in process.files} | {socket.fd for socket in process.sockets}
    fd = next(number for number in range(3, 65536) if number not in taken)
    file = OpenFile(fd, inode.number, path, mode)
    machine.files.open(inode.number)
    machine.processes.put(process._replace(files=(*process.files, file)))
    return file


def may_signal(cred: Cred, target: Process) -> bool:
    return cred.uid in (0, target.cred.uid)


def signal(machine: Machine, pid: int, number: int, sender: Cred = ROOT) -> None:
    """kill(2) on one process. OSError ESRCH or EPERM; number 0 only asks."""
    process = machine.processes.get(pid)
    if process is None:
        raise fail(errno.ESRCH)
    if not may_signal(sender, process):
        raise fail(errno.EPERM)
    if number not in SIGNALS and number != 0 and not 32 <= number <= 64:
        raise fail(errno.EINVAL)
    if number == 0 or pid == 1 or not process.exe:
        return
    deliver(machine, process, number)


def deliver(machine: Machine, process: Process, number: int) -> None:
    """The signal arrives: stop, continue, be caught, or end the process."""
    if number == CONT:
        if process.state == "T":
            machine.processes.put(process._replace(state="R" if process.cpu_share >= BUSY else "S"))
        return
    if number in _STOPS:
        machine.processes.put(process._replace(state="T"))
        return
    if number != KILL:
        program = machine.programs.get(process.program)
        if program is not None:
            if process.state == "T":
                return
            if number in program.ends_on:
                status = program.stop(machine, process, number)
                exit_process(machine, process.pid, status)
                return
            if number == HUP and program.reloads:
                program.reload(machine, process)
                return
            if program.signalled(machine, process, number):
                return
        if number in _IGNORED_BY_DEFAULT:
            return
    exit_process(machine, process.pid, 0, signal_number=number)


def exit_process(machine: Machine, pid: int, status: int, *, signal_number: int = 0, oom: bool = False) -> None:
    """End a process: close what it had open, hand its children to init, tell its parent and systemd."""
    process = machine.processes.remove(pid)
    if process is None:
        return
    used = int(process.cpu_used(machine.clock.now) * 100)
    if used:
        machine.count(TICKS_OF_THE_DEAD, used)
    if process.cpu_share >= BUSY and process.state != "T":
        machine.past_load = (*machine.past_load[-15:], Busy(process.cpu_share, process.started, machine.clock.now))
    for file in process.files:
        machine.files.close(file.inode)
    for child in machine.processes.children(pid):
        machine.processes.put(child._replace(ppid=1))
    program = machine.programs.get(process.program)
    if program is not None and signal_number:
        program.killed(machine, process)
    parent = machine.processes.get(process.ppid)
    if parent is not None:
        above = machine.programs.get(parent.program)
        if above is not None:
            above.child_ended(machine, parent, process, status, signal_number)
    handler = machine.handlers.get("process-exited")
    if handler is not None:
        handler(machine, Exit(process, status, signal_number, oom))


def describe_exit(status: int, number: int) -> str:
    """As systemd writes it: `code=exited, status=1/FAILURE` or `code=killed, status=9/KILL`."""
    if number:
        return f"code={'dumped' if number in _DUMPS_CORE else 'killed'}, status={number}/{SIGNALS.get(number, number)}"
    return f"code=exited, status={status}/{status_name(status)}"


_STATUS_NAMES = {
    0: "SUCCESS", 1: "FAILURE", 2: "INVALIDARGUMENT", 3: "NOTIMPLEMENTED", 4: "NOPERMISSION", 5: "NOTINSTALLED",
    6: "NOTCONFIGURED", 7: "NOTRUNNING", 200: "CHDIR", 201: "NICE", 202: "FDS", 203: "EXEC", 204: "MEMORY",
    205: "LIMITS", 206: "OOM_ADJUST", 208: "STDIN", 209: "STDOUT", 214: "SETSCHEDULER", 216: "GROUP", 217: "USER",
    218: "CAPABILITIES", 226: "NAMESPACE", 233: "RUNTIME_DIRECTORY", 238: "STATE_DIRECTORY", 240: "LOGS_DIRECTORY",
    255: "EXCEPTION",
}  # fmt: skip


def status_name(status: int) -> str:
    """systemd's name of an exit status (sysexits included), `n/a` where it has none."""
    if 64 <= status <= 78:
        return ("USAGE", "DATAERR", "NOINPUT", "NOUSER", "NOHOST", "UNAVAILABLE", "SOFTWARE", "OSERR", "OSFILE",
                "CANTCREAT", "IOERR", "TEMPFAIL", "PROTOCOL", "NOPERM", "CONFIG")[status - 64]  # fmt: skip
    return _STATUS_NAMES.get(status, "n/a")
