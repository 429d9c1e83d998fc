"""The interface between a run and whatever a world is made of. A backend is one file that implements it.

`tests/conformance/` is the suite that every backend passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from compiler.model import PackContent
from runners.turns import Turns
from scenario_dsl.errors import InternalError
from scenario_dsl.model import Probe, Task
from scenario_dsl.worlds import ResolvedScenario, World


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What one command of an agent gave. `output` is standard output and error as a terminal would show them.

    `prompt` is what the shell asks with next (`root@web-01:/etc# `), where the backend can tell.
    """

    output: bytes
    stdout: bytes
    stderr: bytes
    exit_code: int
    seconds: float
    truncated: bool = False
    timed_out: bool = False
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The result of one probe: does the expectation hold, and what was seen (one line, for people)."""

    holds: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailure:
    """The first task that failed, and Ansible's message for it."""

    task: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A picture of a world that two moments can be compared by.

    persistent: path -> `MODE:UID:GID:CONTENT` (the GID with any access lists, CONTENT a digest), or another lasting
    thing, such as a chain of the firewall, -> its digest;
    unsalted: path of a file that holds password hashes -> digest of its content without their salted text;
    processes: service process -> identity (pid and start); needs: one of these services -> those that its unit file
    says it requires or comes after; others: process of no service, by its identity -> command line, without the shells
    that the agent sits at; scheduled: what will run by itself (`USER: COMMAND`, a timer, a script that cron runs) ->
    the place that says so; requests_failed, transactions_broken: counts so far.
    """

    persistent: Mapping[str, str] = field(default_factory=dict)
    unsalted: Mapping[str, str] = field(default_factory=dict)
    processes: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    scheduled: Mapping[str, str] = field(default_factory=dict)
    requests_failed: int = 0
    transactions_broken: int = 0


class LiveWorld(Protocol):
    """One world, open. Every method may raise `WorldError` (ours) and nothing else."""

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        """Run a command in the agent's persistent shell, within limits."""
        ...

    def prompt(self) -> str:
        """What the agent's shell asks with now, empty where the backend cannot tell."""
        ...

    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        """Evaluate probes without leaving a trace that could help or hinder the agent."""
        ...

    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        """Apply tasks as the adversary (root, outside the agent's session)."""
        ...

    def wait(self, seconds: float) -> None:
        """Let the world go on by itself for so long (virtual on the sim)."""
        ...

    def elapsed(self) -> float:
        """Seconds since the world was opened, on its own clock."""
        ...

    def facts(self) -> Facts: ...

    def restore(self, before: Facts) -> tuple[str, ...]:
        """Put what lasts back to what it was at `before` (a derived rollback, for agents that gave none).

        Returns what could not be put back; empty means all of it could.
        """
        ...

    def close(self) -> None: ...


@runtime_checkable
class Forkable(Protocol):
    """A world that is a value: `fork` gives a second one in the same state, at next to no cost, and neither holds
    anything that would have to be closed. What comes by chance in the second one follows from `seed` from then on.
    Worlds need not be so; where they are, fresh ones are forks of one."""

    def fork(self, *, seed: int) -> LiveWorld: ...


@runtime_checkable
class Ageing(Protocol):
    """A world whose time is the real one, so that nobody can wait for its past."""

    def age(self, seconds: float) -> None:
        """Make it look as if so much time had gone by: whoever uses it has come across what is wrong."""
        ...


@runtime_checkable
class Unsteady(Protocol):
    """A world in which what reads its settings again does not answer for a moment, as on any real machine.

    moment: seconds after which it does.
    """

    moment: float


@runtime_checkable
class Parting(Protocol):
    """A world that is looked at when it ends. left: what was seen then, in words; empty while it is open."""

    left: str


@runtime_checkable
class Crowded(Protocol):
    """A backend whose worlds mostly wait, because their time is the real one.

    at_once: how many threads may well want something of it at once; turns: who of them plays.
    """

    at_once: int
    turns: Turns

    def abandon(self) -> None:
        """End all worlds of this process now, whoever uses them, and open none any more."""
        ...


@runtime_checkable
class Computed(Protocol):
    """A backend whose worlds' time is worked out while it goes by: a second in one takes about a second of everybody's,
    so that nobody waits there for longer than is needed."""

    computed: bool


@runtime_checkable
class Selective(Protocol):
    """A backend that opens a system although it cannot measure everything that the healthy one is described with."""

    def measures(self, probe: Probe) -> bool:
        """Does the probe say something about the world here?"""
        ...


@runtime_checkable
class Dividable(Protocol):
    """A backend that several processes of this machine may each have a part of."""

    def among(self, processes: int) -> Backend:
        """As much of it as one of so many processes should have."""
        ...


@runtime_checkable
class Imaged(Protocol):
    """A backend whose worlds start from images, which are not in the bundle."""

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        """The id of the image of the scenario's system. Raises HostError where it is not there."""
        ...


class Backend(Protocol):
    """Opens worlds. `name` is what `--backend` and records say."""

    name: str

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        """Why this backend cannot run the scenario (naming the fault and the reason), or None."""
        ...

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:
        """A fresh, healthy world: nothing is injected yet. Same arguments, same world."""
        ...


class WorldError(InternalError):
    """The infrastructure failed, not the agent: the trial is Errored and may be retried.

    Outside a trial, at a prompt say, it is a fault of ours: what the user's machine lacks is a HostError, which
    backends raise before they open anything.
    """
