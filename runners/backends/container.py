"""Worlds that are containers: real Linux under systemd, opened by a container engine. Time is the real one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from compiler.capabilities import lacking
from compiler.model import PackContent
from runners.hosts.dbus import DBusError
from runners.hosts.engine import Engine, EngineError
from runners.hosts.images import find, identity, settled_name
from runners.hosts.leftovers import sweep
from runners.hosts.recordings import Recordings
from runners.hosts.unsupported import reasons, unmeasured
from runners.hosts.world import ContainerWorld
from runners.sim.system import SystemSpec
from runners.turns import Turns
from runners.worlds import LiveWorld, WorldError
from scenario_dsl.model import Probe, System
from scenario_dsl.worlds import ResolvedScenario, World

PER_CORE = 12
"""Episodes that play at once for each core: their worlds wait more than they work."""
AHEAD_PER_CORE = 1
"""Worlds that are prepared meanwhile for the next ones."""
BOOTING_PER_CORE = 2
"""Of these so many may boot at once: that is work."""


class ContainerBackend:
    """The engine is asked for when the first world is opened; containers of processes that died are removed then."""

    name = "container"

    def __init__(self, *, at_once: int | None = None) -> None:
        cores, playing = os.cpu_count() or 1, at_once or PER_CORE * (os.cpu_count() or 1)
        self.at_once = playing + AHEAD_PER_CORE * cores
        self.turns = Turns(playing, AHEAD_PER_CORE * cores)
        self._engine: Engine | None = None
        self._recordings = Recordings()
        self._names: dict[tuple[str, str], str] = {}
        self._connecting = threading.Lock()
        self._places = threading.BoundedSemaphore(self.at_once)
        self._booting = threading.BoundedSemaphore(BOOTING_PER_CORE * (os.cpu_count() or 1))

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        system = content.systems.get(scenario.system)
        if system is None:
            return f"the bundle holds no system {scenario.system}"
        return next(self._reasons(content, scenario), None)

    def _reasons(self, content: PackContent, scenario: ResolvedScenario) -> Iterator[str]:
        system = content.systems[scenario.system]
        yield from map(str, lacking(scenario, system, self.name))
        yield from reasons(scenario)

    def measures(self, probe: Probe) -> bool:
        """How full this host's disk is, say, is nothing about a world."""
        return not any(unmeasured(probe))

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        """Raises HostError where there is no engine or no image."""
        engine = self._connected()
        return identity(engine, find(engine, content.systems[scenario.system]))

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:
        """Raises HostError where there is no engine or no image, before anything is opened."""
        engine = self._connected()
        system = content.systems[scenario.system]
        key = (content.digest, system.name)
        name = self._names.get(key) or self._names.setdefault(key, settled_name(system))
        image = find(engine, system, name)
        self._places.acquire()
        try:
            with self._booting:
                return ContainerWorld(
                    engine,
                    SystemSpec.of(system),
                    image,
                    self._recordings,
                    healthy=tuple(probe for probe in system.healthy if probe.type in ("http", "socket")),
                    asked=_requests(system, world),
                    coming=tuple(fault.inject for fault in world.faults),
                    seed=seed,
                    closed=self._places.release,
                )
        except (EngineError, DBusError, OSError) as error:
            raise WorldError(f"the system {scenario.system} did not boot: {error}") from error

    def _connected(self) -> Engine:
        with self._connecting:
            if self._engine is None:
                self._engine = Engine.connect()
                sweep(self._engine)
            return self._engine

    def __reduce__(self) -> tuple[type[ContainerBackend], tuple[()]]:
        """Connections do not travel to other processes."""
        return ContainerBackend, ()


def _requests(system: System, world: World) -> tuple[Probe, ...]:
    """What will be asked of the world over HTTP, each question once."""
    checks = [objective.check for objective in world.objectives]
    probes = [*system.healthy, *(check for check in checks if isinstance(check, Probe))]
    probes += [invariant.probe for invariant in world.invariants]
    probes += [cascade.when for cascade in world.cascades]
    return tuple({str(sorted(probe.arguments.items())): probe for probe in probes if probe.type == "http"}.values())
