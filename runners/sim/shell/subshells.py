"""Processes beside the shell's own: `$(…)`, `<(…)`, background jobs.

Each is a forked Shell that holds its own references to its descriptors, and gives them back when it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.formats.shell.ast import (
    ProcessSubstitution,
    Program,
    Simple,
    Statement,
)
from runners.sim.budget import BudgetExceeded
from runners.sim.commands.pipes import Pipe, PipeReader, PipeWriter
from runners.sim.commands.streams import Capture, release
from runners.sim.lifecycle import KILL
from runners.sim.processes import Process
from runners.sim.shell import redirections
from runners.sim.shell.nesting import Keyboard
from runners.sim.shell.session import BackgroundJob
from runners.sim.shell.signals import ShellExit

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

MAX_DEPTH = 10_000
"""Nested functions, substitutions and compound commands; bash itself ends with a segmentation fault further down."""
FORK_DEPTH = 40
"""What a nested process counts for in that: it takes as much more room than a nested command."""
MAX_PROCESSES = 3000


def substitute_command(shell: Shell, program: Program) -> str:
    """The output of `$(…)` without its trailing newlines."""
    shell.spend(20)
    if shell.depth > MAX_DEPTH - FORK_DEPTH:
        raise ShellExit(139)
    quick = _file_substitution(shell, program)
    if quick is not None:
        return quick
    capture = Capture(shell.machine)
    child = shell.subshell({**shell.fds, 1: capture}, knows_jobs=True)
    child.text_depth += 1
    child.checked = 0 if "inherit_errexit" in shell.session.shopt else child.checked
    if "inherit_errexit" not in shell.session.shopt:
        child.session.options = child.session.options - {"errexit"}
    status = child.isolated(lambda shell: shell.run_program(program))
    shell.substitution_status = status
    shell.session.status = status
    data = bytes(capture.data)
    if b"\0" in data:
        shell.error("warning: command substitution: ignored null byte in input")
        data = data.replace(b"\0", b"")
    return data.decode("utf-8", "surrogateescape").rstrip("\n")


def _file_substitution(shell: Shell, program: Program) -> str | None:
    """`$(< file)`."""
    if len(program.bodies) != 1 or len(program.bodies[0].statements) != 1:
        return None
    only = program.bodies[0].statements[0].command
    if type(only) is not Simple or only.words or only.assignments or len(only.redirects) != 1:
        return None
    redirect = only.redirects[0]
    if redirect.operator != "<" or redirect.fd not in (None, 0):
        return None
    try:
        stream = redirections.open_target(shell, redirect, shell.expander.text(redirect.target))
        data = stream.read()
    except OSError as error:
        shell.error(f"{error.filename or shell.expander.text(redirect.target)}: {error.strerror}")
        shell.substitution_status = 1
        return ""
    shell.substitution_status = 0
    return data.decode("utf-8", "surrogateescape").replace("\0", "").rstrip("\n")


def substitute_process(shell: Shell, part: ProcessSubstitution) -> str:
    """Start the commands beside this one; gives the /dev/fd path of the pipe to them."""
    check_processes(shell)
    pipe = Pipe(shell.hub)
    reader, writer = PipeReader(pipe), PipeWriter(pipe)
    ours, theirs, fd = (reader, writer, 1) if part.direction == "<" else (writer, reader, 0)
    child = shell.subshell({**shell.fds, fd: theirs}, knows_jobs=True)
    child.text_depth += 1
    release(theirs)
    shell.hub.spawn(child.session.pid, lambda: _ignore(child.isolated(lambda shell: shell.run_program(part.body))))
    number = 63
    while number in shell.fds:
        number -= 1
    shell.fds[number] = ours
    shell.temporary.append(ours)
    return f"/dev/fd/{number}"


def drop_temporary(shell: Shell) -> None:
    """Close what process substitutions opened for the command that has ended."""
    streams, shell.temporary = shell.temporary, []
    for stream in streams:
        for number, known in list(shell.fds.items()):
            if known is stream:
                del shell.fds[number]
        release(stream)
        if isinstance(stream, PipeWriter):
            # bash does not wait for >(…), but a reader of its output would: let it finish.
            shell.hub.settle()


def start_job(shell: Shell, statement: Statement) -> None:
    session = shell.session
    check_processes(shell)
    shell.spend(30)
    fds = dict(shell.fds)
    child = shell.subshell(fds)
    # With job control a job keeps the terminal, which stops it once it reads there; here it finds nothing to read.
    if 0 in child.fds and ("monitor" not in session.options or isinstance(child.fds[0], Keyboard)):
        release(child.fds[0])
        child.fds[0] = redirections.null_device(shell.machine)
    pid = child.session.pid
    child.session.options.discard("monitor")
    number = max((job.number for job in session.jobs if job.status is None or not job.reported), default=0) + 1
    job = BackgroundJob(number, pid, statement.text.removesuffix("&").strip())
    session.jobs.append(job)
    session.last_background = pid
    own = shell.machine.processes.get(session.pid)
    shell.machine.processes.put(
        _process_record(shell, pid, ("bash",), "/usr/bin/bash")
        if own is None
        else _process_record(shell, pid, own.argv, own.exe, own.program)
    )
    child.lone = statement.command
    if session.mode == "interactive" and not shell.subshell_depth and shell.dialect.announces_jobs:
        shell.write_error(f"[{number}] {pid}\n")
    child.temporary = []
    child.starting = True

    def ended(status: int) -> None:
        shell.machine.processes.remove(pid)
        for index, known in enumerate(session.jobs):
            if known.pid == pid:
                session.jobs[index] = known._replace(status=status)

    def body() -> None:
        status = 128 + KILL
        try:
            status = child.isolated(lambda shell: shell.execute(statement.command))
        finally:
            # Also where the line that it was part of is torn down.
            ended(status)

    def never_begun(signal: int) -> None:
        child.release()
        ended(128 + signal)

    shell.hub.spawn(pid, body, listed=True, killed_before=never_begun)
    shell.hub.begin()
    session.status = 0


def check_processes(shell: Shell) -> None:
    if len(shell.hub.tasks) >= MAX_PROCESSES:
        shell.error("fork: retry: Resource temporarily unavailable")
        raise BudgetExceeded


def _process_record(shell: Shell, pid: int, argv: tuple[str, ...], exe: str, program: str = "bash") -> Process:
    session = shell.session
    own = shell.machine.processes.get(session.pid)
    return Process(
        pid=pid, ppid=session.pid, cred=session.cred, argv=argv, exe=exe, program=program, cwd=session.cwd,
        started=shell.machine.clock.now, state="S", tty=session.tty, unit=None if own is None else own.unit,
        comm=own.comm if own is not None and own.exe == exe else "",
    )  # fmt: skip


def _ignore(_status: int) -> None:
    """A status nobody asks for."""
