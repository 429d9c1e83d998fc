"""From nothing to a world in trouble: open, inject, and see the fault with our own probes before any clock starts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.model import PackContent
from runners.worlds import Ageing, Backend, Forkable, LiveWorld, WorldError
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario, World

_PAST = 0
"""The seed of what has happened when a world opens, where worlds are forks of one."""
_WAITS = (1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between looks at a witness. A fault that shows nothing after all of them did not take hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a scenario is played: everything that opens its worlds.

    A world that can be forked is brought into trouble once and kept untouched; those that are played in are its forks,
    each with chances of its own from there on. solutions: by world, what the gate has seen of the scenario's own one.
    """

    content: PackContent
    scenario: ResolvedScenario
    backend: Backend
    solutions: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)
    solving: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    _kept: dict[str, Forkable] = field(default_factory=dict, init=False, repr=False, compare=False)

    def healthy(self, world: World, *, seed: int) -> LiveWorld:
        """A fresh world with nothing injected."""
        return self.backend.open(self.content, self.scenario, world, seed=seed)

    def broken(self, world: World, *, seed: int) -> LiveWorld:
        """A fresh world with its faults in force (in a control: its decoys), as long as the scenario says that they
        have been. Raises WorldError where they are not."""
        kept = self._kept.get(world.name)
        if kept is not None:
            return kept.fork(seed=seed)
        live = self.healthy(world, seed=seed)
        if not isinstance(live, Forkable):
            return self._closed_unless_broken(live, world)
        # Whichever seed is the first to be asked for, all worlds have the same past.
        past = self._closed_unless_broken(self.healthy(world, seed=_PAST), world)
        assert isinstance(past, Forkable)
        self._kept[world.name] = past
        return past.fork(seed=seed)

    def _closed_unless_broken(self, live: LiveWorld, world: World) -> LiveWorld:
        try:
            self.bring_into_trouble(live, world)
        except BaseException:
            live.close()
            raise
        return live

    def bring_into_trouble(self, live: LiveWorld, world: World) -> None:
        """Inject a healthy world's faults and let them be as old as the scenario says. Raises WorldError."""
        inject(live, world.faults)
        unwitnessed = wait_for_witness(live, world.faults)
        if unwitnessed is None and self.scenario.since > 0:
            if isinstance(live, Ageing):
                live.age(self.scenario.since)
            else:
                live.wait(self.scenario.since)
            unwitnessed = wait_for_witness(live, world.faults, waits=())
        if unwitnessed is not None:
            raise WorldError(f"injected but not witnessed in world `{world.name}`: {unwitnessed}")


def inject(live: LiveWorld, faults: Sequence[ResolvedFault]) -> None:
    """Apply each fault's tasks. Raises WorldError with Ansible's message at the first that fails."""
    for fault in faults:
        failure = live.apply(fault.inject)
        if failure is not None:
            raise WorldError(f"fault `{fault.fault}`: task `{failure.task}` failed: {failure.message}")


def wait_for_witness(live: LiveWorld, faults: Sequence[ResolvedFault], waits: Sequence[float] = _WAITS) -> str | None:
    """Wait until every witness of every fault holds, for a bounded time. Returns the first that does not, or None."""
    witnesses = [(fault.fault, probe) for fault in faults for probe in fault.witness]
    probes = [probe for _, probe in witnesses]
    if not probes:
        return None
    for pause in (*waits, None):
        observations = live.observe(probes)
        absent = [
            f"{fault}: {observation.detail}"
            for (fault, _), observation in zip(witnesses, observations, strict=True)
            if not observation.holds
        ]
        if not absent:
            return None
        if pause is None:
            return absent[0]
        live.wait(pause)
    return None
