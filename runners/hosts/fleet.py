"""A world of several machines on one network: the first is the one whose shell agents have."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TypeVar

from runners.hosts.wiring import Network, Plan
from runners.hosts.world import ContainerWorld
from runners.system import SystemSpec
from runners.worlds import CommandResult, Facts, Observation, TaskFailure, WorldError
from scenario_dsl.model import Probe, Task

FIRST = ""
"""The name of the first machine in the tables here; in facts its things are named as they are anywhere."""
Opener = Callable[..., ContainerWorld]
Value = TypeVar("Value")


class FleetWorld:
    """Open from the moment it is made. Raises WorldError for whatever goes wrong on our side."""

    moment = ContainerWorld.moment

    def __init__(
        self, spec: SystemSpec, openers: Mapping[str, Opener], *, closed: Callable[[], None] = lambda: None
    ) -> None:
        """spec: of the first machine. openers: how each is opened on their network, the first one's under FIRST."""
        self._taken: list[tuple[Facts, Mapping[str, Facts]]] = []
        with ExitStack() as undoing:
            undoing.callback(closed)
            network = Network(Plan.of(spec), bridged=True)
            undoing.callback(network.close)
            started = _Started(len(openers))
            with ThreadPoolExecutor(len(openers)) as pool:
                opening = {name: pool.submit(started.open, opener, network) for name, opener in openers.items()}
            for begun in opening.values():
                if begun.exception() is None:
                    undoing.callback(begun.result().close)
            if started.failed is not None:
                raise started.failed
            self._machines = {name: begun.result() for name, begun in opening.items()}
            self._undoing = undoing.pop_all()

    @property
    def _first(self) -> ContainerWorld:
        return self._machines[FIRST]

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        for machine in self._machines.values():
            machine.touched()
        return self._first.run(command, output_bytes=output_bytes, seconds=seconds)

    def prompt(self) -> str:
        return self._first.prompt()

    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        """Each machine is asked its own, all at the same time."""
        asked: dict[str, list[int]] = {}
        for index, probe in enumerate(probes):
            asked.setdefault(str(probe.arguments.get("node") or FIRST), []).append(index)
        seen: dict[int, Observation] = {}

        def ask(name: str) -> None:
            numbers = asked[name]
            answers = self._machines[name].observe([without_node(probes[number]) for number in numbers])
            seen.update(zip(numbers, answers, strict=True))

        _each(asked, ask)
        return tuple(
            answer if (name := probes[number].arguments.get("node")) is None else _named(answer, str(name))
            for number, answer in sorted(seen.items())
        )

    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        """In their order; what one machine's tasks register, another's do not know."""
        for name, group in groupby(tasks, key=lambda task: task.delegate_to or FIRST):
            failure = self._machines[name].apply([replace(task, delegate_to=None) for task in group])
            if failure is not None:
                return failure
        return None

    def wait(self, seconds: float) -> None:
        self._first.wait(seconds)

    def age(self, seconds: float) -> None:
        self._first.age(seconds, len(self._machines))

    def elapsed(self) -> float:
        return self._first.elapsed()

    def facts(self) -> Facts:
        """Of all machines; what another than the first one has is named `MACHINE:…`."""
        each = self._of_all(lambda machine: machine.facts())
        facts = Facts(
            persistent=_joined((name, one.persistent) for name, one in each.items()),
            unsalted=_joined((name, one.unsalted) for name, one in each.items()),
            processes=_joined((name, one.processes) for name, one in each.items()),
            needs=_joined(
                (name, {unit: tuple(_on(name, other) for other in others) for unit, others in one.needs.items()})
                for name, one in each.items()
            ),
            others=_joined((name, one.others) for name, one in each.items()),
            scheduled=_joined((name, one.scheduled) for name, one in each.items()),
            requests_failed=sum(one.requests_failed for one in each.values()),
            transactions_broken=sum(one.transactions_broken for one in each.values()),
        )
        self._taken.append((facts, each))
        return facts

    def restore(self, before: Facts) -> tuple[str, ...]:
        taken = next((each for facts, each in self._taken if facts is before), None)
        if taken is None:
            raise WorldError("these facts were not taken in this world")
        left = {name: machine.restore(taken[name]) for name, machine in self._machines.items()}
        return tuple(_on(name, path) for name, paths in left.items() for path in paths)

    def close(self) -> None:
        self._undoing.close()

    def _of_all(self, work: Callable[[ContainerWorld], Value]) -> dict[str, Value]:
        found: dict[str, Value] = {}

        def one(name: str) -> None:
            found[name] = work(self._machines[name])

        _each(self._machines, one)
        return {name: found[name] for name in self._machines}


class _Started:
    """Machines that come up together: nobody asks one of them before all listen, or are well."""

    def __init__(self, number: int) -> None:
        self._barrier = threading.Barrier(number)
        self._lock = threading.Lock()
        self.failed: BaseException | None = None
        """What kept the first of them that did not come up."""

    def open(self, opener: Opener, network: Network) -> ContainerWorld:
        try:
            return opener(network=network, together=self._wait)
        except BaseException as error:
            with self._lock:
                self.failed = self.failed or error
            self._barrier.abort()
            raise

    def _wait(self) -> None:
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise WorldError("another machine of the fleet did not come up") from None


def _each(names: Iterable[str], work: Callable[[str], None]) -> None:
    """Side by side; raises the first of their errors."""
    listed = tuple(names)
    if len(listed) == 1:
        work(listed[0])
        return
    with ThreadPoolExecutor(max(1, len(listed))) as pool:
        for done in [pool.submit(partial(work, name)) for name in listed]:
            done.result()


def without_node(probe: Probe) -> Probe:
    return replace(probe, arguments={name: value for name, value in probe.arguments.items() if name != "node"})


def _named(answer: Observation, name: str) -> Observation:
    return replace(answer, detail=f"{name}: {answer.detail}")


def _on(name: str, what: str) -> str:
    return what if name == FIRST else f"{name}:{what}"


def _joined(parts: Iterable[tuple[str, Mapping[str, Value]]]) -> dict[str, Value]:
    return {_on(name, what): value for name, part in parts for what, value in part.items()}
