"""Running programs: finding them, permissions, scripts, and what a command's end means to its caller."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from runners.sim.commands import COMMANDS
from runners.sim.commands.context import CommandExit, Context, Reader, Writer
from runners.sim.commands.open_files import FileStream
from runners.sim.commands.streams import Stream
from runners.sim.commands.waiting import Hub, Killed
from runners.sim.crashing import unforeseen
from runners.sim.files.inode import EXECUTE, Inode, permits
from runners.sim.files.tree import fail
from runners.sim.files.view import FileView
from runners.sim.lifecycle import Failure, comm_of, interpreter_line, spawn
from runners.sim.machine import Machine
from runners.sim.processes import OpenFile, Process
from runners.sim.shell import redirections
from runners.sim.shell.nesting import Entered
from runners.sim.shell.session import DEFAULT_PATH
from runners.sim.shell.trapping import heed
from runners.sim.shell.write_errors import write_failed

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

PROGRAM_SECONDS = 0.002
"""Virtual time that starting a program takes."""
_MAX_INTERPRETERS = 4
_WAITING = frozenset(
    {"bash", "dash", "flock", "find", "rbash", "runuser", "script", "sleep", "su", "sudo", "timeout", "watch"}
    | {"awk", "cat", "column", "cut", "egrep", "grep", "head", "less", "mawk", "more", "sed", "sort", "tail", "tee"}
    | {"tr", "uniq", "wc", "xargs", "ssh", "nc", "ping", "journalctl"}
)
"""Programs that sleep whenever somebody looks: until what they run has ended, or more to read has come."""


class Located(NamedTuple):
    path: str
    inode: Inode


class Streams(NamedTuple):
    stdin: Reader
    stdout: Writer
    stderr: Writer
    descriptors: Mapping[int, Stream] | None


def find_program(view: FileView, name: str, search: str) -> Located:
    """The file that execvp would run. OSError ENOENT, EACCES (also for a directory)."""
    if "/" in name:
        return check_program(view, name)
    refused: str | None = None
    for folder in search.split(":"):
        path = f"{folder or '.'}/{name}"
        try:
            inode = view.find(path).inode
        except OSError:
            continue
        if inode is not None and inode.is_file:
            if permits(inode, view.cred, EXECUTE):
                return Located(path, inode)
            refused = refused or path
    raise fail(errno.EACCES, refused) if refused is not None else fail(errno.ENOENT, name)


def check_program(view: FileView, path: str) -> Located:
    inode = view.find(path).inode
    if inode is None:
        raise fail(errno.ENOENT, path)
    if inode.entries is not None:
        raise fail(errno.EISDIR, path)
    if not inode.is_file or not permits(inode, view.cred, EXECUTE):
        raise fail(errno.EACCES, path)
    return Located(path, inode)


def external(shell: Shell, argv: list[str], variables: Mapping[str, str], *, in_place: bool = False) -> int:
    """Run a program for the shell, with bash's messages when it cannot be run. `in_place`: as its own process."""
    name = argv[0]
    shell.spend(20)
    try:
        located = _locate(shell, name, variables.get("PATH"))
    except OSError as error:
        return shell.dialect.not_run(shell, name, error)
    environment = shell.session.environment()
    if variables:
        environment.update(variables)
    environment["_"] = located.path
    fds = shell.fds
    closed = redirections.CLOSED
    streams = Streams(fds.get(0, closed), fds.get(1, closed), fds.get(2, closed), fds)
    session = shell.session
    try:
        return launch(
            shell.machine, shell.hub, located, argv, shell.view, environment, streams,
            ppid=session.pid, tty=session.tty, shell_scripts=True,
            replacing=session.pid if in_place else None,
        )  # fmt: skip
    except Killed as killed:
        return heed(shell, killed, told=True)
    except OSError as error:
        return shell.dialect.not_run(shell, name, error, located.path)


def _locate(shell: Shell, name: str, search: str | None) -> Located:
    session = shell.session
    if "/" in name:
        return check_program(shell.view, name)
    if search is not None:
        return find_program(shell.view, name, search)
    known = session.hashed.get(name)
    if known is not None:
        try:
            return check_program(shell.view, known)
        except OSError:
            del session.hashed[name]
    located = find_program(shell.view, name, session.get("PATH") or "")
    if located.path.startswith("/"):
        session.hashed[name] = located.path
    return located


def is_there(shell: Shell, name: str) -> bool:
    """Is there anything by that name? A name with a slash is not searched for: it is tried."""
    if "/" in name:
        return True
    try:
        _locate(shell, name, None)
    except OSError as error:
        return error.errno != errno.ENOENT
    return True


def launch(
    machine: Machine,
    hub: Hub | None,
    located: Located,
    argv: Sequence[str],
    view: FileView,
    environment: dict[str, str],
    streams: Streams,
    *,
    ppid: int,
    tty: str,
    shell_scripts: bool = False,
    depth: int = 0,
    replacing: int | None = None,
    comm: str = "",
) -> int:
    """Run an executable file in a process of its own, or as the process `replacing`, to its end.

    OSError ENOEXEC when it is neither program nor script. `comm`: the script that it is the interpreter of.

    shell_scripts: a text without `#!` is run by bash, as bash does with it.
    """
    program = located.inode.content.program
    if program is None:
        return _script(
            machine, hub, located, argv, view, environment, streams, ppid, tty, shell_scripts, depth, replacing, comm
        )
    command = COMMANDS.get(program)
    machine.budget.spend(60)
    _pass_time(machine, hub)
    if command is None:
        return _daemon(machine, program, located, argv, view, environment, streams, ppid, tty)
    processes = machine.processes
    before = processes.get(replacing) if replacing is not None else None
    pid = processes.allocate() if before is None else before.pid
    if before is not None:
        _close(machine, before)
    above = before or processes.get(ppid)
    processes.put(
        Process(
            pid=pid,
            ppid=ppid if before is None else before.ppid,
            cred=view.cred,
            argv=tuple(argv),
            exe=_real(view, located.path),
            program=program,
            cwd=view.cwd,
            started=machine.clock.now,
            state="S" if program in _WAITING else "R",
            tty=tty,
            unit=above.unit if above is not None else None,
            files=_opened(machine, streams.descriptors),
            environment=before.environment if before is not None else (),
            comm=comm,
        )
    )
    ctx = Context(
        machine=machine,
        argv=argv,
        files=FileView(view.tree, view.cred, view.cwd, view.umask),
        environment=environment,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        runner=run_program,
        pid=pid,
        tty=tty,
        hub=hub,
        descriptors=streams.descriptors,
    )
    try:
        status = run_main(command.main, ctx)
    except Entered as entered:
        # A shell inside it has the terminal now: it waits for that one's end.
        entered.processes.append(pid)
        waiting = processes.get(pid)
        if waiting is not None:
            processes.put(waiting._replace(state="S"))
        raise
    except BaseException:
        _end(machine, ctx, before, streams)
        raise
    _end(machine, ctx, before, streams)
    return status


def _end(machine: Machine, ctx: Context, before: Process | None, streams: Streams) -> None:
    """A program has ended: what it held is closed, and its process is gone."""
    ctx.close()
    ended = machine.processes.remove(ctx.pid)
    if ended is not None:
        _close(machine, ended)
        if before is not None:
            # Whoever became this program is told of its end: it has nothing left to do but end as well.
            machine.processes.put(before._replace(files=_opened(machine, streams.descriptors)))


def _opened(machine: Machine, descriptors: Mapping[int, Stream] | None) -> tuple[OpenFile, ...]:
    """The regular files among a process's descriptors, held by it as long as it lives."""
    found: tuple[OpenFile, ...] = ()
    for fd, stream in (descriptors or {}).items():
        if isinstance(stream, FileStream):
            machine.files.open(stream.inode)
            mode = "u" if stream.readable and stream.writable else "w" if stream.writable else "r"
            found = (*found, OpenFile(fd, stream.inode, stream.path, mode))
    return found


def _close(machine: Machine, process: Process) -> None:
    for file in process.files:
        machine.files.close(file.inode)


def _real(view: FileView, path: str) -> str:
    return path if path.startswith("/usr/") else view.real_path(path)


def _pass_time(machine: Machine, hub: Hub | None) -> None:
    clock = machine.clock
    if machine.events and machine.events[0].due <= clock.now + PROGRAM_SECONDS:
        machine.advance(PROGRAM_SECONDS)
    else:
        clock.now += PROGRAM_SECONDS
    if hub is not None and clock.now > hub.deadline:
        hub.sleep(0.001)


def crashed(name: str, error: Exception, stderr: Writer) -> int:
    """A command that failed on what it was given ends as real ones do, by a segmentation fault."""
    unforeseen(name, error)
    with contextlib.suppress(OSError):
        stderr.write(b"Segmentation fault\n")
    return 139


def run_main(main: object, ctx: Context) -> int:
    """Run a command's function; its early ends become an exit status."""
    assert callable(main)
    try:
        status = main(ctx)
        assert isinstance(status, int)
        return status
    except CommandExit as ended:
        return ended.status
    except Killed as killed:
        if ctx.pid in ctx.machine.processes.by_pid:
            raise
        return 128 + killed.signal
    except RecursionError:
        return 139
    except OSError as error:
        if error.errno == errno.EPIPE:
            return 141
        return write_failed(ctx, error)
    except Exception as error:
        return crashed(ctx.name, error, ctx.stderr)


def _daemon(
    machine: Machine,
    program: str,
    located: Located,
    argv: Sequence[str],
    view: FileView,
    environment: dict[str, str],
    streams: Streams,
    ppid: int,
    tty: str,
) -> int:
    """A program that only runs as a service: started, and left running."""
    if program not in machine.programs:
        raise fail(errno.ENOEXEC, located.path)
    said: list[str] = []
    started = spawn(
        machine, [located.path, *argv[1:]], cred=view.cred, cwd=view.cwd, environment=tuple(environment.items()),
        ppid=ppid, tty=tty, stderr=said,
    )  # fmt: skip
    for line in said:
        streams.stderr.write(f"{line}\n".encode("utf-8", "surrogateescape"))
    if isinstance(started, Failure):
        raise fail(started.errno, located.path)
    return 0 if machine.processes.get(started.pid) is not None or not said else 1


def _script(
    machine: Machine,
    hub: Hub | None,
    located: Located,
    argv: Sequence[str],
    view: FileView,
    environment: dict[str, str],
    streams: Streams,
    ppid: int,
    tty: str,
    shell_scripts: bool,
    depth: int,
    replacing: int | None,
    comm: str,
) -> int:
    content = located.inode.content
    head = content.read(0, min(content.size, 256))
    words = interpreter_line(head)
    if words:
        if depth >= _MAX_INTERPRETERS:
            raise fail(errno.ELOOP, located.path)
        try:
            interpreter = check_program(view, words[0])
            return launch(
                machine, hub, interpreter, [*words, located.path, *argv[1:]], view, environment, streams,
                ppid=ppid, tty=tty, depth=depth + 1, replacing=replacing, comm=comm or comm_of(located.path),
            )  # fmt: skip
        except OSError as error:
            if error.errno == errno.ENOEXEC:
                raise
            code = errno.EACCES if error.errno == errno.EISDIR else error.errno or errno.ENOENT
            problem = fail(code, located.path)
            problem.filename2 = words[0]
            raise problem from None
    if not shell_scripts or b"\0" in head:
        raise fail(errno.ENOEXEC, located.path)
    bash = check_program(view, "/bin/bash")
    return launch(
        machine, hub, bash, ["bash", located.path, *argv[1:]], view, environment, streams,
        ppid=ppid, tty=tty, replacing=replacing,
    )  # fmt: skip


def run_program(argv: Sequence[str], ctx: Context) -> int:
    """`Context.run`: find and run a program with the context's user, folder, environment and streams."""
    located = find_program(ctx.files, argv[0], ctx.environment.get("PATH", DEFAULT_PATH))
    streams = Streams(ctx.stdin, ctx.stdout, ctx.stderr, ctx.descriptors)
    return launch(
        ctx.machine, ctx.hub, located, argv, ctx.files, dict(ctx.environment), streams,
        ppid=ctx.pid, tty=ctx.tty, replacing=ctx.pid if ctx.in_place else None,
    )  # fmt: skip
