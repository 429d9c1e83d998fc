"""The embedded backend: simulated servers, opened in microseconds by forking a healthy one. Time is virtual."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import lru_cache
from operator import is_
from typing import NamedTuple

from compiler.capabilities import lacking
from compiler.model import PackContent
from runners.cutting import cut
from runners.guarding import guarded
from runners.sim.budget import Budget, BudgetExceeded
from runners.sim.build import boot, open_world
from runners.sim.crashing import unforeseen
from runners.sim.entering import enter
from runners.sim.facts import persistent_facts, unsalted_facts
from runners.sim.leftovers import scheduled, unowned
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.evaluate import Memo
from runners.sim.restore import restore
from runners.sim.retelling import retell, written
from runners.sim.shell.running import run_job
from runners.sim.shell.seat import Seat
from runners.sim.shell.session import Limits, Session
from runners.sim.systemd.unitfile import UnitFile
from runners.sim.tasks.play import play
from runners.sim.users import accounts
from runners.system import SystemSpec
from runners.worlds import CommandResult, Facts, LiveWorld, Observation, TaskFailure, WorldError
from scenario_dsl.model import Probe, System, Task
from scenario_dsl.worlds import ResolvedScenario, World

_STEPS_PER_SECOND = 2_000_000
"""Steps of work that one virtual second pays for: a command that spins is ended by its steps, not by our patience."""
_MOST_STEPS = 4_000_000
_WAITING_STEPS = 400_000_000
"""What the world's own life may spend while nobody types: far beyond what it needs, so that nothing hangs."""
_QUICKEST, _SLOWER = 0.5, 1.5
"""Virtual seconds that go by before a command: somebody reads and types. Where nothing took any, clocks would stand
still between two looks at them, and a disk would fill in no time."""
_KEPT = 4 << 20
"""Bytes of output that the shell keeps before its head and tail are chosen."""
_TIMED_OUT = 124

_guarded = guarded("the simulated server", BudgetExceeded)


class _Base(NamedTuple):
    """A healthy machine to which nobody has logged in yet: what all worlds of a system are forks of."""

    machine: Machine
    baseline: Baseline


class SimBackend:
    """Healthy machines are booted once for each (bundle, system) and kept, the last few of them."""

    name = "sim"

    def __init__(self, *, keep: int = 8) -> None:
        self._keep = keep
        self._bases: dict[tuple[str, str], _Base] = {}

    def __getstate__(self) -> dict[str, object]:
        """It travels without its machines: each process boots its own."""
        return {"_keep": self._keep, "_bases": {}}

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        system = content.systems.get(scenario.system)
        if system is None:
            return f"the bundle holds no system {scenario.system}"
        lacks = lacking(scenario, system, self.name)
        return str(lacks[0]) if lacks else None

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:  # noqa: ARG002
        """Every world of a scenario begins as the same healthy machine; only its chances follow from `seed`."""
        try:
            base = self._base(content, scenario.system)
            return SimWorld(open_world(base.machine, seed), base.baseline)
        except Exception as error:
            raise WorldError(f"the system {scenario.system} did not boot: {error!r}") from error

    def _base(self, content: PackContent, system: str) -> _Base:
        key = (content.digest, system)
        known = self._bases.pop(key, None)
        if known is None:
            machine = boot(SystemSpec.of(content.systems[system]), run_job=run_job)
            known = _Base(machine, Baseline.of(machine))
            while len(self._bases) >= self._keep:
                # The one that was not asked for for the longest time.
                del self._bases[next(iter(self._bases))]
            # A base lives as long as this process does, and its worlds share it: the collector need not walk it again
            # and again to look for garbage, which would cost each episode a tenth of its time.
            gc.collect()
            gc.freeze()
        self._bases[key] = known
        return known


class _Known(NamedTuple):
    """Facts, and the parts of a machine that they were read off: where these are the same objects, so are the facts."""

    facts: Facts
    shells: frozenset[int]
    parts: tuple[object, ...]


_FACTS_KEPT = 4


class SimWorld:
    """One machine and the agent's shell on it.

    The agent logs in when it is first asked for: what happened to the machine until then, faults and all, was before.
    scripted: commands follow each other at once, as those of a script do; otherwise somebody reads and types.
    """

    def __init__(self, machine: Machine, baseline: Baseline, *, scripted: bool = False) -> None:
        self._machine = machine
        self._scripted = scripted
        self._taken: Seat | None = None
        self._memo = Memo(baseline)
        self._opened = machine.clock.now
        self._pictures: list[tuple[Facts, Machine]] = []
        # Those last asked for, here or in a fork: the picture before all that is done is the same one for every fork.
        self._known: list[_Known] = []

    @property
    def _seat(self) -> Seat:
        if self._taken is None:
            self._taken = Seat(enter(self._machine))
        return self._taken

    @_guarded
    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        machine = self._machine
        if not self._scripted:
            typing = min(_QUICKEST + _SLOWER * machine.random("between commands"), seconds)
            self.wait(typing)
            seconds -= typing
        before = machine.clock.now
        command = _typed(command)
        steps = min(int(seconds * _STEPS_PER_SECOND), _MOST_STEPS)
        limits = Limits(steps=steps, output_bytes=max(_KEPT, 4 * output_bytes), seconds=seconds)
        done = self._seat.run(machine, command, limits)
        kept = [cut(data, output_bytes) for data in (done.output, done.stdout, done.stderr)]
        return CommandResult(
            output=kept[0],
            stdout=kept[1],
            stderr=kept[2],
            exit_code=_TIMED_OUT if done.timed_out else done.exit_code,
            seconds=machine.clock.now - before,
            truncated=done.truncated or kept[0] != done.output,
            timed_out=done.timed_out,
            prompt=_prompt(machine, self._seat.session),
        )

    @_guarded
    def prompt(self) -> str:
        return _prompt(self._machine, self._seat.session)

    @property
    def nested(self) -> bool:
        """Was the shell that listens now started from another one?"""
        return self._seat.nested

    @_guarded
    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        self._machine.budget = Budget(_WAITING_STEPS)
        return tuple(map(self._seen, probes))

    def _seen(self, probe: Probe) -> Observation:
        try:
            return self._memo.evaluate(self._machine, probe)
        except Exception as error:
            # What an agent has made of its machine is what does not hold there.
            unforeseen(f"the probe {probe.type}", error)
            return Observation(holds=False, detail=f"{probe.type}: {type(error).__name__}")

    @_guarded
    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        before = written(self._machine)
        failure = play(self._machine, tasks)
        retell(self._machine, before)
        return failure

    @_guarded
    def wait(self, seconds: float) -> None:
        self._machine.budget = Budget(_WAITING_STEPS)
        if self._taken is None:
            self._machine.advance(seconds)
        else:
            self._taken.wait(self._machine, seconds, _MOST_STEPS)

    def elapsed(self) -> float:
        return self._machine.clock.now - self._opened

    @_guarded
    def facts(self) -> Facts:
        machine, shells = self._machine, self._seat.shells
        parts = _read_by_facts(machine)
        for index, known in enumerate(self._known):
            if known.shells == shells and all(map(is_, known.parts, parts)):
                del self._known[index]
                break
        else:
            known = _Known(self._look(shells), shells, parts)
            del self._known[_FACTS_KEPT - 1 :]
        self._known.insert(0, known)
        self._pictures.append((known.facts, machine.fork()))
        return known.facts

    def _look(self, shells: frozenset[int]) -> Facts:
        machine = self._machine
        processes = {}
        for name, state in sorted(machine.systemd.units.items()):
            main = machine.processes.get(state.main_pid) if state.main_pid else None
            if state.active == "active" and main is not None:
                processes[name] = f"{main.pid} since {main.started}"
        return Facts(
            persistent=persistent_facts(machine),
            unsalted=unsalted_facts(machine),
            processes=processes,
            needs={name: _needed(machine, name) for name in processes},
            others=unowned(machine, shells),
            scheduled=scheduled(machine),
            requests_failed=machine.counters.get("requests_failed", 0),
            transactions_broken=machine.counters.get("transactions_broken", 0),
        )

    @_guarded
    def restore(self, before: Facts) -> tuple[str, ...]:
        for facts, machine in self._pictures:
            if facts is before:
                return restore(self._machine, facts.persistent, machine)
        raise WorldError("these facts were not taken in this world")

    def fork(self, *, seed: int) -> SimWorld:
        """A second world in the same state: a machine is a value."""
        seat = self._seat
        other = SimWorld(open_world(self._machine, seed), self._memo.baseline, scripted=self._scripted)
        other._memo = self._memo.fork()
        other._taken = seat.fork()
        other._taken.session.reseed(seed)
        other._opened = self._opened
        other._pictures = list(self._pictures)
        other._known = self._known
        return other

    def close(self) -> None:
        """Nothing is held beyond memory."""


def _read_by_facts(machine: Machine) -> tuple[object, ...]:
    files, manager = machine.files, machine.systemd
    return (
        files.inodes, files.mounts, files.covered, machine.network.tables, manager.units, manager.loaded,
        machine.processes.by_pid, machine.counters,
    )  # fmt: skip


def _needed(machine: Machine, service: str) -> tuple[str, ...]:
    unit = machine.systemd.loaded.get(service)
    if not isinstance(unit, UnitFile):
        return ()
    return _services(*(unit.all("Unit", key) for key in ("After", "Requires", "BindsTo", "Wants")))


@lru_cache(maxsize=1024)
def _services(*settings: tuple[str, ...]) -> tuple[str, ...]:
    words = (word for values in settings for value in values for word in value.split())
    return tuple(sorted({word for word in words if word.endswith(".service")}))


def _typed(command: str) -> str:
    """As it comes through a terminal: bytes. Those that are no UTF-8 are kept; halves of characters are lost."""
    try:
        command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return command.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return command


def _prompt(machine: Machine, session: Session) -> str:
    """Debian's: who, where, in which folder; `~` is home."""
    who = accounts(machine).user_name(session.cred.uid)
    home = session.variables.get("HOME")
    if session.name.lstrip("-") in ("sh", "dash"):
        return "# " if session.cred.uid == 0 else "$ "
    folder, top = session.cwd, home.value if home is not None and isinstance(home.value, str) else ""
    if len(top) > 1 and f"{folder}/".startswith(f"{top}/"):
        folder = "~" + folder[len(top) :]
    return f"{who}@{machine.spec.hostname}:{folder}{'#' if session.cred.uid == 0 else '$'} "


def open_system(system: System, *, seed: int, scripted: bool = False) -> SimWorld:
    """A healthy system on its own, outside any scenario. scripted: no time goes by between two commands."""
    base = boot(SystemSpec.of(system), run_job=run_job)
    return SimWorld(open_world(base, seed), Baseline.of(base), scripted=scripted)
