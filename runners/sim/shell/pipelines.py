"""Pipelines and what joins them: `|`, `!`, `time`, `&&`, `||`. The stages of a pipeline run side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.formats.shell.ast import (
    AndOr,
    Command,
    Pipeline,
    Simple,
    Word,
)
from runners.sim.commands.pipes import Pipe, PipeReader, PipeWriter
from runners.sim.commands.streams import Stream, release
from runners.sim.commands.waiting import Killed
from runners.sim.shell import subshells
from runners.sim.shell.trapping import heed

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


def pipeline(shell: Shell, node: Pipeline) -> int:
    started = shell.machine.clock.now
    if node.negated:
        shell.checked += 1
    try:
        status = shell.execute(node.commands[0]) if len(node.commands) == 1 else _stages(shell, node)
    finally:
        if node.negated:
            shell.checked -= 1
    if node.timed:
        _report_time(shell, shell.machine.clock.now - started, node.timed)
    if node.negated:
        return int(status == 0)
    if len(node.commands) > 1:
        shell.session.status = status
        shell.failed(status)
    return status


def _report_time(shell: Shell, seconds: float, form: str) -> None:
    busy = min(seconds, 0.002)
    if form == "time -p":
        shell.write_error(f"real {seconds:.2f}\nuser {busy:.2f}\nsys 0.00\n")
        return
    minutes, rest = divmod(seconds, 60)
    shell.write_error(f"\nreal\t{int(minutes)}m{rest:.3f}s\nuser\t0m{busy:.3f}s\nsys\t0m0.001s\n")


def _stages(shell: Shell, node: Pipeline) -> int:
    count = len(node.commands)
    statuses = [0] * count
    hub = shell.hub
    shell.spend(20 * count)
    subshells.check_processes(shell)
    tasks = []
    previous: Stream | None = None
    last_here = "lastpipe" in shell.session.shopt and "monitor" not in shell.session.options
    for index, command in enumerate(node.commands):
        fds = dict(shell.fds)
        following: Stream | None = None
        if previous is not None:
            fds[0] = previous
        if index < count - 1:
            pipe = Pipe(hub)
            writer, following = PipeWriter(pipe), PipeReader(pipe)
            fds[1] = writer
            if node.merged[index]:
                fds[2] = writer
        if last_here and index == count - 1:
            saved = shell.fds
            shell.fds = fds
            try:
                statuses[index] = shell.execute(command)
            finally:
                shell.fds = saved
            if previous is not None:
                release(previous)
            continue
        # Of all that may stand there, `jobs` alone is shown the jobs of the shell.
        child = shell.subshell(fds, knows_jobs=type(command) is Simple and _first_word(command) == "jobs")
        # What was made for this stage belongs to it alone.
        if previous is not None:
            release(previous)
        if index < count - 1:
            release(writer)

        def body(child: Shell = child, command: Command = command, index: int = index) -> None:
            statuses[index] = child.isolated(lambda running: running.execute(command))

        tasks.append(hub.spawn(child.session.pid, body))
        previous = following
    try:
        hub.wait(lambda: all(task.done for task in tasks))
    except Killed as killed:
        for task in tasks:
            task.killed = killed.signal
        return heed(shell, killed, told=True)
    shell.session.pipe_status = tuple(statuses)
    if "pipefail" in shell.session.options:
        return next((status for status in reversed(statuses) if status), 0)
    return statuses[-1]


def _first_word(command: Simple) -> str | None:
    first = command.words[0] if command.words else None
    return first.literal if isinstance(first, Word) else None


def and_or(shell: Shell, node: AndOr) -> int:
    shell.checked += 1
    try:
        status = shell.execute(node.first)
    finally:
        shell.checked -= 1
    for index, (operator, command) in enumerate(node.rest):
        if (status == 0) != (operator == "&&"):
            continue
        last = index == len(node.rest) - 1
        if last:
            return shell.execute(command)
        shell.checked += 1
        try:
            status = shell.execute(command)
        finally:
            shell.checked -= 1
    return status
