"""The agent's seat at its terminal: the shell that it types to, and those that this one was started from."""

from __future__ import annotations

from typing import NamedTuple

from runners.formats.shell.ast import Body, Program
from runners.sim.budget import Budget
from runners.sim.lifecycle import exit_process
from runners.sim.machine import Machine
from runners.sim.shell.nesting import NOTHING, Closing, Entered
from runners.sim.shell.running import Console, run_line
from runners.sim.shell.session import Limits, Session, ShellResult
from runners.sim.systemd.journal import log

_END_OF_INPUT = "\x04"
_QUIET = ("sh", "dash", "-sh", "-dash")


class _Frame(NamedTuple):
    """One shell. `processes`: those that end with it; `after`: what remains of the line that started it, outside."""

    session: Session
    processes: tuple[int, ...] = ()
    closings: tuple[Closing, ...] = ()
    after: Body = NOTHING


class Seat:
    """Runs lines in the innermost shell. The outermost one does not end: what is logged out is logged in again."""

    __slots__ = ("_consoles", "_frames")

    def __init__(self, session: Session) -> None:
        self._frames = [_Frame(session)]
        self._consoles: list[Console | None] = [None]

    @property
    def session(self) -> Session:
        return self._frames[-1].session

    @property
    def nested(self) -> bool:
        return len(self._frames) > 1

    @property
    def shells(self) -> frozenset[int]:
        """The processes of the shells that are sat at, and of what they were started by (su, sudo)."""
        inner = {pid for frame in self._frames for pid in frame.processes}
        return frozenset({*inner, *(frame.session.pid for frame in self._frames)})

    def fork(self) -> Seat:
        """The same shells in a forked machine. Their background jobs stay here."""
        other = Seat.__new__(Seat)
        other._frames = [frame._replace(session=frame.session.fork()) for frame in self._frames]
        other._consoles = [None] * len(self._frames)
        return other

    def run(self, machine: Machine, text: str, limits: Limits) -> ShellResult:
        """Run what was typed. Lines after one that enters or leaves a shell are for the shell that is then there."""
        typed: str | Program = "exit" if self.nested and text.strip() == _END_OF_INPUT else text
        results: list[ShellResult] = []
        deadline = machine.clock.now + limits.seconds
        left = limits
        while True:
            console = self._console(machine, left)
            done = run_line(machine, self.session, typed, left, console=console)
            if console.ended and self.nested:
                said = farewell(self.session).encode("utf-8", "surrogateescape")
                done = done._replace(output=done.output + said, stderr=done.stderr + said)
            results.append(done)
            pending = console.left.lines
            if console.entered is not None:
                self._enter(console.entered, console.left.line)
            else:
                rest = self._leave(machine, console, done)
                if rest.statements:
                    pending = Program((rest, *pending.bodies), pending.problem)
            if not pending.bodies and pending.problem is None:
                break
            if done.timed_out:
                break
            typed = pending
            left = left._replace(steps=left.steps - done.steps, seconds=deadline - machine.clock.now)
        return results[0] if len(results) == 1 else _joined(results)

    def wait(self, machine: Machine, seconds: float, steps: int) -> None:
        """Let time pass while nobody types: background jobs go on. Those that never rest end with their steps."""
        end = machine.clock.now + seconds
        budget, machine.budget = machine.budget, Budget(steps)
        for console in self._consoles:
            if console is not None and console.hub.usable and console.hub.machine is machine:
                console.hub.idle(end)
        machine.budget = budget
        machine.advance(max(end - machine.clock.now, 0.0))

    def _console(self, machine: Machine, limits: Limits) -> Console:
        """One console for all lines of a shell keeps the jobs that earlier ones left behind."""
        console = self._consoles[-1]
        if console is None or not console.usable(machine, self.session):
            console = self._consoles[-1] = Console(machine, self.session, limits)
        return console

    def _enter(self, entered: Entered, after: Body) -> None:
        self._frames.append(_Frame(entered.session, tuple(entered.processes), tuple(entered.closings), after))
        self._consoles.append(None)

    def _leave(self, machine: Machine, console: Console, done: ShellResult) -> Body:
        """Shells that have ended are gone, by `exit` or by a signal. Gives what the outer one still had to run."""
        ended = console.ended
        rest = NOTHING
        while self.nested and (ended or machine.processes.get(self.session.pid) is None):
            frame = self._frames.pop()
            self._consoles.pop()
            for pid in frame.processes:
                if machine.processes.get(pid) is not None:
                    exit_process(machine, pid, done.exit_code)
            for one in frame.closings:
                log(machine, one.identifier, one.message, pid=one.pid, uid=one.uid)
            self.session.status = done.exit_code if ended else 137
            rest = frame.after
            ended = False
        return rest


def farewell(session: Session) -> str:
    """What an interactive shell says as it ends."""
    return "" if session.name in _QUIET else "logout\n" if session.login else "exit\n"


def _joined(results: list[ShellResult]) -> ShellResult:
    last = results[-1]
    return last._replace(
        output=b"".join(one.output for one in results),
        stdout=b"".join(one.stdout for one in results),
        stderr=b"".join(one.stderr for one in results),
        steps=sum(one.steps for one in results),
        truncated=any(one.truncated for one in results),
    )
