"""Running a line in a session, and a job for a daemon: the two ways into the shell from outside."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from immutables import Map

from runners.formats.shell.ast import Body, Command, Program
from runners.sim.budget import Budget, BudgetExceeded
from runners.sim.commands import COMMANDS
from runners.sim.commands.context import Context
from runners.sim.commands.open_files import Device
from runners.sim.commands.streams import Buffer, Capture, Stream
from runners.sim.commands.waiting import Hub, Killed
from runners.sim.commands.wrappers import duration
from runners.sim.lifecycle import KILL
from runners.sim.machine import Job, JobResult, Machine
from runners.sim.processes import Process
from runners.sim.shell import redirections
from runners.sim.shell.builtins.jobs import report_finished
from runners.sim.shell.execution import Streams, check_program, crashed, find_program, launch
from runners.sim.shell.interpreter import Shell
from runners.sim.shell.nesting import Entered, Keyboard, Left, may_nest
from runners.sim.shell.session import DEFAULT_PATH, Limits, Session, ShellResult
from runners.sim.shell.signals import Abandon, ExpansionError, ShellExit, Unwind

_RECURSION = 60_000
_JOB_OUTPUT = 1 << 20
"""Bytes that a daemon's job may say, on either stream, before it is ended."""
LINE_SECONDS = 0.02
"""Virtual time that a line takes besides what its commands take."""


class Terminal:
    """Where a line's output goes: both streams as they come, kept up to a limit."""

    __slots__ = ("limit", "output", "stderr", "stdout", "truncated")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.output = bytearray()
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.truncated = False


class TerminalStream(Stream):
    """One of the two output streams of a session; jobs keep it while the terminal behind it changes."""

    __slots__ = ("error", "machine", "terminal")

    def __init__(self, machine: Machine, terminal: Terminal, error: bool) -> None:
        super().__init__("/dev/pts/0")
        self.machine = machine
        self.terminal = terminal
        self.error = error

    def write(self, data: bytes) -> None:
        self.machine.budget.spend(1 + (len(data) >> 7))
        terminal = self.terminal
        room = terminal.limit - len(terminal.output)
        if len(data) > room:
            terminal.truncated = True
            data = data[: max(room, 0)]
        terminal.output += data
        if self.error:
            terminal.stderr += data
        else:
            terminal.stdout += data


class Console:
    """A session's place at its terminal: the running shell and the jobs it left behind. Not part of its state."""

    __slots__ = ("ended", "entered", "hub", "keyboard", "left", "shell", "streams", "terminal")

    def __init__(self, machine: Machine, session: Session, limits: Limits, stdin: Stream | None = None) -> None:
        self.terminal = Terminal(limits.output_bytes)
        self.hub = Hub(machine, machine.clock.now + limits.seconds)
        self.streams = (TerminalStream(machine, self.terminal, False), TerminalStream(machine, self.terminal, True))
        self.keyboard = Keyboard(machine)
        source = stdin if stdin is not None else self.keyboard
        # What the last line came to: the shell that it entered, whether it ended this one, what it did not get to.
        self.entered: Entered | None = None
        self.ended = False
        self.left = Left()
        self.shell = Shell(machine, session, {0: source, 1: self.streams[0], 2: self.streams[1]}, self.hub)

    def renew(self, limits: Limits) -> None:
        """A new line: fresh output, a fresh deadline."""
        self.terminal = Terminal(limits.output_bytes)
        for stream in self.streams:
            stream.terminal = self.terminal
        self.hub.deadline = self.hub.machine.clock.now + limits.seconds
        self.entered = None
        self.ended = False
        self.left = Left()

    def usable(self, machine: Machine, session: Session) -> bool:
        return self.hub.usable and self.hub.machine is machine and self.shell.session is session


def run_line(
    machine: Machine,
    session: Session,
    text: str | Program,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
    *,
    console: Console | None = None,
    stdin: Stream | None = None,
) -> ShellResult:
    """Run what was typed (one or more lines, or what is left of some) in a session.

    Never raises for anything the text does: running out of steps, time or memory ends it with `timed_out` and status
    124. Pass the same `console` again to keep background jobs of earlier lines alive; it then says what became of the
    shell.
    """
    if console is None or not console.usable(machine, session):
        console = Console(machine, session, limits, stdin)
    else:
        console.renew(limits)
    shell = console.shell
    budget_before = machine.budget
    machine.budget = Budget(limits.steps)
    recursion = sys.getrecursionlimit()
    if recursion < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    timed_out = False
    try:
        if session.mode == "interactive" and isinstance(text, str) and text.strip():
            session.history.append(text.rstrip("\n"))
        machine.advance(LINE_SECONDS)
        status = _run(shell, text, console if session.mode == "interactive" else None)
        if console.hub.tasks:
            console.hub.settle()
        if session.mode == "interactive" and session.jobs:
            report_finished(shell)
        if session.dialect == "dash" and isinstance(text, str):
            # It counts on from line to line.
            session.line_offset += text.count("\n") + 1
    except BudgetExceeded:
        timed_out = True
        status = 124
        session.status = status
        console.hub.cancel()
        _recover(shell)
    finally:
        steps = limits.steps - max(machine.budget.left, 0)
        machine.budget = budget_before
        if recursion < _RECURSION:
            sys.setrecursionlimit(recursion)
    terminal = console.terminal
    return ShellResult(
        bytes(terminal.output), bytes(terminal.stdout), bytes(terminal.stderr), status & 0xFF, steps, timed_out,
        terminal.truncated,
    )  # fmt: skip


def _run(shell: Shell, text: str | Program, console: Console | None = None) -> int:
    """Run a text as this shell's own; a script's end is its own end, an interactive shell's too.

    console: where an interactive shell is told what to do; it learns of another shell that takes the terminal over.
    """
    session = shell.session
    try:
        program = shell.parse(text) if isinstance(text, str) else text
        if session.mode == "command":
            shell.lone = _only_command(program)
        status = shell.run_program(program) if console is None else _run_typed(shell, program, console)
    except Entered as entered:
        if console is None:
            raise
        _recover(shell)
        console.entered = entered
        return 0
    except ShellExit as ended:
        if console is not None:
            console.ended = True
        status = session.status = ended.status
        if session.mode == "interactive" or session.traps:
            status = _at_exit(shell, status)
        return status
    except Killed as killed:
        # bash says goodbye also where a signal ends it, except KILL.
        if killed.signal != KILL and shell.machine.processes.get(session.pid) is not None:
            _at_exit(shell, 128 + killed.signal)
        raise
    except Abandon as abandoned:
        return abandoned.status
    except ExpansionError as problem:
        return shell.expansion_failed(problem).status
    except Unwind:
        return session.status
    except RecursionError:
        _recover(shell)
        session.status = 139
        return 139
    except OSError as error:
        # A write that failed outside any command, such as a trace to a full disk.
        session.status = 141 if error.errno == 32 else 1
        return session.status
    except Exception as error:
        _recover(shell)
        session.status = crashed("bash", error, shell.fds.get(2, redirections.CLOSED))
        return session.status
    if session.mode != "interactive":
        return _at_exit(shell, status)
    return status


def _run_typed(shell: Shell, program: Program, console: Console) -> int:
    """`Shell.run_program` for lines at a terminal, with note of what is left, as each may enter another shell."""
    session = shell.session
    for index, body in enumerate(program.bodies):
        for number, statement in enumerate(body.statements):
            console.left = Left(program, index, number)
            console.keyboard.free = may_nest(statement)
            console.keyboard.attended = not statement.background
            try:
                shell.run_body(Body((statement,)))
            except Abandon as abandoned:
                session.status = abandoned.status
                break
    console.left = Left()
    if program.problem is not None:
        shell.report_problem(program.problem)
        session.status = 2
    return session.status


def _only_command(program: Program) -> Command | None:
    """The command of a text that holds just one: `bash -c` becomes that program."""
    if program.problem is not None or len(program.bodies) != 1 or len(program.bodies[0].statements) != 1:
        return None
    statement = program.bodies[0].statements[0]
    return None if statement.background else statement.command


def _at_exit(shell: Shell, status: int) -> int:
    try:
        shell.exit_trap()
    except ShellExit as ended:
        return ended.status
    except Unwind:
        return 1
    return status


def _recover(shell: Shell) -> None:
    """Put the bookkeeping of a shell that was torn out of its work back to the beginning."""
    shell.depth = shell.loops = shell.function_depth = shell.sourced = shell.checked = shell.text_depth = 0
    session = shell.session
    while session.saved:
        session.drop_locals()
    session.frames.clear()


def run_script(
    machine: Machine,
    hub: Hub,
    session: Session,
    text: str,
    fds: dict[int, Stream],
    *,
    from_stdin: Sequence[bytes] = (),
) -> int:
    """Run a whole script in a session of its own, on streams the caller owns."""
    del from_stdin
    for stream in fds.values():
        stream.users += 1
    shell = Shell(machine, session, fds, hub)
    try:
        return _run(shell, text)
    finally:
        shell.release()


def _go_on(machine: Machine, pid: int, then: Map[int, Process]) -> None:
    """A job that is not over when its time is goes on: its processes are there as they were `then`."""
    left = [then[pid]] if pid in then else []
    for process in left:
        for file in process.files:
            machine.files.open(file.inode)
        machine.processes.put(process._replace(state="S"))
        left += [one for one in then.values() if one.ppid == process.pid and one.pid not in machine.processes.by_pid]
    main = then.get(pid)
    if main is not None and main.program == "sleep":
        spans = [duration(word) or 0.0 for word in main.argv[1:]]
        machine.schedule(max(main.started + min(sum(spans), 1e12) - machine.clock.now, 0.0), "process-ends", (pid, 0))


def run_job(machine: Machine, job: Job) -> JobResult:
    """Run a program to its end for a daemon. `machine.run_job` is this."""
    budget_before = machine.budget
    machine.budget = Budget(job.steps or Limits().steps)
    hub = Hub(machine, machine.clock.now + job.seconds)
    out, err = Capture(machine, _JOB_OUTPUT), Capture(machine, _JOB_OUTPUT)
    view = machine.view(job.cred, job.cwd)
    environment = dict(job.environment)
    environment.setdefault("PATH", DEFAULT_PATH)
    own = machine.processes.get(job.pid)
    source = Buffer(job.stdin) if job.stdin else Device(machine, "/dev/null", (1, 3))
    timed_out = False
    try:
        located = find_program(view, job.argv[0], environment["PATH"])
        status = launch(
            machine, hub, located, job.argv, view, environment, Streams(source, out, err, {0: source, 1: out, 2: err}),
            ppid=1, tty="?", shell_scripts=True, replacing=job.pid or None,
            comm="" if own is None else own.comm,
        )  # fmt: skip
        if hub.tasks:
            hub.settle()
    except BudgetExceeded:
        timed_out, status = True, 124
        hub.cancel()
        _go_on(machine, job.pid, hub.at_deadline)
    except OSError as error:
        err.data += f"{job.argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape")
        status = 127 if error.errno == 2 else 126
    finally:
        machine.budget = budget_before
    return JobResult(status, bytes(out.data), bytes(err.data), timed_out)


__all__ = ["COMMANDS", "Console", "Context", "check_program", "run_job", "run_line", "run_script"]
