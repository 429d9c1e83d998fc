"""How simulated processes wait for each other: greenlets, resumed one after another in a fixed order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from greenlet import getcurrent, greenlet
from immutables import Map

from runners.sim.budget import BudgetExceeded
from runners.sim.machine import Machine
from runners.sim.processes import Process

Ready = Callable[[], bool]


_KILL = 9
_IDLE_KEPT = 6
"""Greenlets kept for the next pipeline: making one costs more than what most stages do."""


class Task:
    """One process running beside others. `ready`: whether it can go on (None: yes); `wake`: when its sleep ends."""

    __slots__ = ("body", "done", "greenlet", "ignoring", "killed", "killed_before", "listed", "pid", "ready", "wake")

    def __init__(
        self, pid: int, listed: bool, body: Callable[[], None], killed_before: Callable[[int], None] | None
    ) -> None:
        self.pid = pid
        # A listed task's process is in the machine's table, and ends when a signal takes it out.
        self.listed = listed
        self.body = body
        self.killed_before = killed_before
        self.killed: int | None = None
        # (pid, signal): which of its processes ignore what, and so all that they start.
        self.ignoring: frozenset[tuple[int, int]] = frozenset()
        self.done = False
        self.ready: Ready | None = None
        self.wake: float | None = None
        # The one that runs it, from its first turn to its end.
        self.greenlet: Any = None

    def run(self) -> None:
        """Its whole life."""
        try:
            if self.killed is None:
                self.body()
            elif self.killed_before is not None:
                self.killed_before(self.killed)
        except Killed:
            return
        finally:
            self.done = True


class Killed(BaseException):
    """Raised inside a process that a signal ends. Not an Exception, as nothing may swallow it."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


class Hub:
    """Runs the tasks of one command line and keeps its time. `deadline`: virtual time when the line is out of time.

    `at_deadline`: the processes that there were when it came.
    """

    __slots__ = ("_idle", "_root", "at_deadline", "deadline", "ending", "machine", "signals", "tasks")

    def __init__(self, machine: Machine, deadline: float) -> None:
        self.machine = machine
        self.deadline = deadline
        self.at_deadline: Map[int, Process] = Map()
        self.tasks: list[Task] = []
        self.signals: dict[int, int] = {}
        self.ending = False
        self._idle: list[Any] = []
        self._root = getcurrent()

    @property
    def usable(self) -> bool:
        """Can its tasks be resumed from here? Greenlets stay with the one that made them."""
        return getcurrent() is self._root

    def spawn(
        self,
        pid: int,
        body: Callable[[], None],
        *,
        listed: bool = False,
        killed_before: Callable[[int], None] | None = None,
    ) -> Task:
        """Start a task; it runs when somebody waits. `body` must not raise, except to end the whole line.

        killed_before: called with the signal instead of `body` when one comes before the task has begun.
        """
        task = Task(pid, listed, body, killed_before)
        self.tasks.append(task)
        return task

    def begin(self) -> None:
        """Give new tasks their first turn now: each goes as far as to where it waits or pauses."""
        if getcurrent() is not self._root:
            self.wait(lambda: all(task.greenlet is not None for task in self.tasks))
            return
        while fresh := [task for task in self.tasks if task.greenlet is None]:
            for task in fresh:
                self.machine.budget.spend(1)
                self._resume(task)

    def pause(self) -> None:
        """Let everybody else have a turn before the current task goes on."""
        turns = iter((False,))
        self.wait(lambda: next(turns, True))

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass for the current task, while the others go on."""
        wake = self.machine.clock.now + seconds
        if not self.tasks:
            self._advance_to(wake)
            return
        clock = self.machine.clock
        self.wait(lambda: clock.now >= wake, wake)

    def wait(self, ready: Ready, wake: float | None = None) -> None:
        """Come back when `ready()` holds. If nothing can ever make it so, the line ends as one that hangs."""
        if ready():
            return
        current = getcurrent()
        if current is self._root:
            self._run_until(ready, wake)
            return
        for task in self.tasks:
            if task.greenlet is current:
                task.ready, task.wake = ready, wake
                self._root.switch()
                task.ready = task.wake = None
                return
        raise BudgetExceeded

    def stop(self, task: Task, signal: int, limit: float | None = None) -> None:
        """Send a signal to a task and wait until it is gone, or until `limit`: it may be ignored or trapped."""
        alive = self.machine.processes.by_pid
        if not any(pid in alive and number == signal for pid, number in task.ignoring):
            task.killed = signal
        clock = self.machine.clock
        self.wait(lambda: task.done or (limit is not None and clock.now >= limit), limit)

    def ignore(self, pid: int, signal: int, ignored: bool) -> None:
        """A process of the current task ignores a signal from now on, or no longer."""
        current = getcurrent()
        for task in self.tasks:
            if task.greenlet is current:
                task.ignoring = task.ignoring - {(pid, signal)} | ({(pid, signal)} if ignored else set())

    def settle(self) -> None:
        """Let every task run until it waits for time or for something that will not come, without passing time."""
        if getcurrent() is not self._root:
            # Only the root resumes others: a task waits until all of them rest.
            self.wait(self._at_rest)
            return
        while not self.ending and self._pass(lambda: False):
            pass

    def _at_rest(self) -> bool:
        """Has every task something to wait for? Those that wait for just this do not keep each other awake."""
        return all(
            task.killed is None
            and (self._stopped(task) or task.ready == self._at_rest or (task.ready is not None and not task.ready()))
            for task in self.tasks
        )

    def _stopped(self, task: Task) -> bool:
        """By SIGSTOP, until SIGCONT."""
        process = self.machine.processes.by_pid.get(task.pid) if task.listed else None
        return process is not None and process.state == "T"

    def idle(self, end: float) -> None:
        """Let the tasks go on until `end`. What runs out of steps is ended, with all that goes on beside it."""
        if not self.tasks:
            return
        self.deadline = max(self.deadline, end)
        try:
            self.settle()
            if self.tasks:
                self._run_until(lambda: self.machine.clock.now >= end, end)
        except BudgetExceeded:
            self.cancel()

    def cancel(self) -> None:
        """End all tasks at once, whatever they would still like to do on their way out."""
        self.ending = True
        while self.tasks:
            task = self.tasks.pop()
            # Tidying up costs steps too, of which there may be none left.
            with contextlib.suppress(BudgetExceeded):
                if task.greenlet is not None:
                    task.greenlet.throw()
                elif task.killed_before is not None:
                    task.killed_before(_KILL)
            task.done = True
        self.ending = False

    def _pass(self, ready: Ready) -> bool:
        """Resume each task that can go on, once; stops as soon as `ready()` holds. True if any could."""
        progress = False
        for task in list(self.tasks):
            if task.listed and task.pid not in self.machine.processes.by_pid:
                task.killed = self.signals.pop(task.pid, 15)
            gone = task.killed is not None
            if task.listed and not gone and self._stopped(task):
                continue
            if task.done or (task.ready is not None and not task.ready() and not gone):
                continue
            progress = True
            self.machine.budget.spend(1)
            self._resume(task)
            if ready():
                break
        return progress

    def _resume(self, task: Task) -> None:
        """Give a task its turn; its greenlet is free for another task when it is done."""
        try:
            if task.greenlet is None:
                task.greenlet = self._idle.pop() if self._idle else self._worker()
                task.greenlet.switch(task)
            elif task.killed is not None:
                signal, task.killed = task.killed, None
                task.greenlet.throw(Killed(signal))
            else:
                task.greenlet.switch()
        finally:
            if task.done:
                self.tasks.remove(task)
        if task.done and len(self._idle) < _IDLE_KEPT:
            self._idle.append(task.greenlet)
        elif task.done:
            task.greenlet.throw()

    def _worker(self) -> Any:
        """A greenlet that waits for its first task: what it is started with, it would hold as long as it lives."""
        made = greenlet(_work, parent=self._root)
        made.switch()
        return made

    def _run_until(self, ready: Ready, wake: float | None) -> None:
        while not ready():
            if self._pass(ready):
                continue
            wakes = [task.wake for task in self.tasks if task.wake is not None and not self._stopped(task)]
            if wake is not None:
                wakes.append(wake)
            if not wakes:
                # Nobody will ever wake up: the line hangs until its time is over.
                self._advance_to(self.deadline + 1)
            self._advance_to(min(wakes))

    def _advance_to(self, moment: float) -> None:
        machine = self.machine
        if moment > self.deadline:
            machine.advance(max(self.deadline - machine.clock.now, 0.0))
            self.at_deadline = machine.processes.by_pid
            raise BudgetExceeded
        machine.advance(max(moment - machine.clock.now, 0.0))


def _work() -> None:
    """The life of a greenlet: one task after another. Between them it holds nothing, or its hub would never go away."""
    root = getcurrent().parent
    assert root is not None
    while True:
        task: Task | None = root.switch()
        assert task is not None
        task.run()
        task = None
