"""One simulated server: a handful of handles on immutable parts."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping
from typing import NamedTuple

from runners.sim.budget import Budget
from runners.sim.clock import Clock
from runners.sim.crashing import contained, unforeseen
from runners.sim.files.inode import ROOT, Cred
from runners.sim.files.tree import FileTree
from runners.sim.files.view import FileView
from runners.sim.network.state import Network
from runners.sim.processes import Process, ProcessTable
from runners.sim.systemd.state import Journal, SystemdState
from runners.system import SystemSpec

Handler = Callable[["Machine", object], None]
"""What happens when an event is due: called with the machine and the event's argument."""


class Job(NamedTuple):
    """Something a daemon has the shell run to its end: `argv` as execve takes it (cron's is sh, -c, line).

    `seconds` bounds its virtual time: past that, the job counts as one that goes on. `steps` bounds its work; 0 is what
    a typed line may use. `stdin`: what it can read.
    """

    argv: tuple[str, ...]
    cred: Cred
    cwd: str = "/"
    environment: tuple[tuple[str, str], ...] = ()
    pid: int = 0
    seconds: float = 600.0
    steps: int = 0
    stdin: bytes = b""


class JobResult(NamedTuple):
    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False


JobRunner = Callable[["Machine", Job], JobResult]


def no_shell(_machine: Machine, _job: Job) -> JobResult:
    """The runner of a machine that has no shell: nothing can be run."""
    return JobResult(127)


class Sample(NamedTuple):
    """One request of a client: when, and whether it got what it wanted (`detail`: what it got)."""

    at: float
    client: str
    ok: bool
    detail: str


class CronRun(NamedTuple):
    """One job that cron ran: when, whose, what, and the status it ended with."""

    at: float
    user: str
    command: str
    status: int


class Busy(NamedTuple):
    """A time in which a process that has ended kept processors busy: the load average remembers it for a while."""

    share: float
    began: float
    ended: float


Say = Callable[[str], None]


_WHERE_IT_FAILS: Mapping[str, object] = {
    "start": None, "reload": None, "stop": 0, "signalled": True, "child_ended": None, "killed": None, "wake": None,
    "serve": None,
}  # fmt: skip
"""Methods of a program, and what each answers where it fails: nothing, and the process is gone."""


class Program:
    """What a program does that runs by itself: a daemon. One instance serves all its processes on all machines, so it
    keeps nothing; what a process knows is in `Process.held`.

    `ends_on`: signals that it catches to end by itself (with the status that `stop` gives) instead of being killed.

    Where one of these methods fails, its process dies by a segmentation fault: see `runners.sim.crashing`.
    """

    def __init_subclass__(cls) -> None:
        for name, instead in _WHERE_IT_FAILS.items():
            if name in cls.__dict__:
                setattr(cls, name, contained(cls.__dict__[name], instead))

    ends_on: frozenset[int] = frozenset({15})
    reloads: bool = False
    """Does SIGHUP make it read its configuration again (instead of killing it)?"""
    notifies: bool = False
    """Does it tell systemd when it is ready, as Type=notify waits for?"""

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:  # noqa: ARG002 (the interface)
        """The process has just begun. None: it goes on; else the status that it ends with at once.

        A daemon stores what it read in `held`, opens its files and sockets, by putting a new record in the table.
        `say` writes a line to its standard error: the journal, or the terminal it was started from.
        """
        return None

    def reload(self, machine: Machine, process: Process) -> None:
        """SIGHUP, where `reloads`."""

    def stop(self, machine: Machine, process: Process, number: int) -> int:  # noqa: ARG002
        """Asked to end by a signal of `ends_on`: say what has to be said, and give the exit status."""
        return 0

    def signalled(self, machine: Machine, process: Process, number: int) -> bool:  # noqa: ARG002
        """Any other signal that can be caught. True: dealt with; False: the kernel's default action."""
        return False

    def child_ended(self, machine: Machine, process: Process, child: Process, status: int, number: int) -> None:
        """A child process has ended with `status`, or was killed by signal `number`."""

    def killed(self, machine: Machine, process: Process) -> None:
        """The process has just died by a signal and is gone from the table (children may notice)."""

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        """Something the process had planned (`Machine.schedule(delay, "program", (pid, argument))`) is due."""

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:  # noqa: ARG002
        """Answer one request on an accepted connection. Types of request and answer are the protocol's own.

        None: the program does not speak that protocol, and closes the connection.
        """
        return None


class Event(NamedTuple):
    """Something due at a time. `kind` names one of the machine's handlers; `order` breaks ties, first come first.

    No two events of a machine have the same `order`, so comparing them never looks further.
    """

    due: float
    order: int
    kind: str
    argument: object = None


class Machine:
    """The whole state of one server. `fork()` gives an independent copy in microseconds.

    Handles (`files`, `processes`, …) are mutable and belong to one machine; what they hold is immutable and shared.
    `base`: what `facts` knows of the healthy machine, shared by all its forks; `accounts`: what `users` last read.
    """

    __slots__ = (
        "__weakref__",
        "accounts",
        "base",
        "budget",
        "clock",
        "counters",
        "cron",
        "events",
        "files",
        "handlers",
        "hops",
        "journal",
        "network",
        "next_order",
        "past_load",
        "processes",
        "programs",
        "run_job",
        "seed",
        "spec",
        "systemd",
        "traffic",
    )

    def __init__(
        self,
        spec: SystemSpec,
        seed: int,
        handlers: Mapping[str, Handler],
        *,
        programs: Mapping[str, Program] | None = None,
        run_job: JobRunner = no_shell,
    ) -> None:
        self.spec = spec
        self.seed = seed
        self.handlers = handlers
        self.programs: Mapping[str, Program] = {} if programs is None else programs
        self.run_job = run_job
        self.clock = Clock(spec.start_time, spec.start_time - spec.uptime)
        self.files = FileTree(self.clock)
        self.processes = ProcessTable()
        self.systemd = SystemdState()
        self.journal = Journal()
        self.network = Network()
        self.counters: Mapping[str, int] = {}
        self.traffic: tuple[Sample, ...] = ()
        self.cron: tuple[CronRun, ...] = ()
        self.past_load: tuple[Busy, ...] = ()
        self.events: tuple[Event, ...] = ()
        self.next_order = 0
        self.hops = 0
        """How many programs are waiting for each other's answers at this moment: a proxy's, the one that it asks, …"""
        self.budget = Budget(0)
        self.base: object = None
        self.accounts: object = None

    def fork(self) -> Machine:
        other = Machine.__new__(Machine)
        other.spec = self.spec
        other.seed = self.seed
        other.handlers = self.handlers
        other.hops = 0
        other.programs = self.programs
        other.run_job = self.run_job
        other.clock = self.clock.fork()
        other.base = self.base
        other.accounts = self.accounts
        other.files = self.files.fork(other.clock)
        other.files.synthetic = {dev: system.bound(other) for dev, system in self.files.synthetic.items()}
        other.processes = self.processes.fork()
        other.systemd = self.systemd.fork()
        other.journal = self.journal.fork()
        other.network = self.network.fork()
        other.counters = self.counters
        other.traffic = self.traffic
        other.cron = self.cron
        other.past_load = self.past_load
        other.events = self.events
        other.next_order = self.next_order
        other.budget = Budget(self.budget.left)
        return other

    def view(self, cred: Cred = ROOT, cwd: str = "/", umask: int = 0o022) -> FileView:
        return FileView(self.files, cred, cwd, umask)

    def random(self, purpose: str) -> float:
        """A number in [0, 1) that depends on the seed, the purpose and how often it was asked, and on nothing else."""
        count = self.count(f"random:{purpose}")
        return mix(f"{self.seed}:{purpose}:{count}") / 2**64

    def count(self, name: str, by: int = 1) -> int:
        """Add to a named counter (requests failed, …) and return the sum so far."""
        total = self.counters.get(name, 0) + by
        self.counters = {**self.counters, name: total}
        return total

    # -- time

    def schedule(self, delay: float, kind: str, argument: object = None) -> None:
        """Have the handler of that name called with `argument` when the clock gets there."""
        event = Event(self.clock.now + delay, self.next_order, kind, argument)
        self.next_order += 1
        at = bisect(self.events, event)
        self.events = (*self.events[:at], event, *self.events[at:])

    def advance(self, seconds: float) -> None:
        """Let time pass, with everything that is due on the way, in order."""
        until = self.clock.now + seconds
        while self.events and self.events[0].due <= until:
            event, self.events = self.events[0], self.events[1:]
            self.clock.now = max(self.clock.now, event.due)
            try:
                self.handlers[event.kind](self, event.argument)
            except Exception as error:
                unforeseen(f"the event {event.kind}", error)
        self.clock.now = max(self.clock.now, until)

    def moment(self, seconds: float) -> None:
        """Let an instant pass while something happens, without turning to what else is due."""
        self.clock.now += seconds


def mix(text: str) -> int:
    """64 well-mixed bits of a text, the same on every machine (FNV-1a, then splitmix64's finaliser)."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogateescape"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 31)
