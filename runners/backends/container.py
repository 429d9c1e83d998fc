"""Worlds that are containers: real Linux under systemd, opened by a container engine. Time is the real one."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypedDict

from compiler.capabilities import lacking
from compiler.model import PackContent
from runners.hosts.dbus import DBusError
from runners.hosts.disks import needed
from runners.hosts.engine import Engine, EngineError
from runners.hosts.fleet import FIRST, FleetWorld, without_node
from runners.hosts.images import find, identity, settled_name
from runners.hosts.kernel_view import Digests
from runners.hosts.leftovers import remove_own, sweep
from runners.hosts.places import Places
from runners.hosts.recordings import Recordings
from runners.hosts.unsupported import measured, reasons, unmeasured
from runners.hosts.world import ContainerWorld
from runners.seeds import derive
from runners.system import SystemSpec
from runners.turns import Shut, Turns
from runners.worlds import LiveWorld, WorldError
from scenario_dsl.model import Probe, System
from scenario_dsl.worlds import ResolvedScenario, World

PER_CORE = 12
"""Episodes that play at once for each core: their worlds wait more than they work."""
AHEAD_PER_CORE = 1
"""Worlds that are prepared meanwhile for the next ones."""
BOOTING_PER_CORE = 2
"""Of these so many may boot at once: that is work."""


class _Given(TypedDict):
    at_once: int | None
    among: int


class ContainerBackend:
    """The engine is asked for when the first world is opened; containers of processes that died are removed then."""

    name = "container"

    def __init__(self, *, at_once: int | None = None, among: int = 1) -> None:
        """among: how many processes on this machine share it."""
        cores = max(1, (os.cpu_count() or 1) // among)
        playing = at_once or PER_CORE * cores
        self._given: _Given = {"at_once": at_once, "among": among}
        self.at_once = playing + AHEAD_PER_CORE * cores
        self.turns = Turns(playing, AHEAD_PER_CORE * cores)
        self._engine: Engine | None = None
        self._recordings = Recordings()
        self._digests: Digests = {}
        self._names: dict[tuple[str, str], str] = {}
        self._connecting = threading.Lock()
        self._abandoned = False
        self._places = Places(self.at_once)
        self._booting = Places(BOOTING_PER_CORE * cores)

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        system = content.systems.get(scenario.system)
        if system is None:
            return f"the bundle holds no system {scenario.system}"
        return next(self._reasons(content, scenario), None)

    def _reasons(self, content: PackContent, scenario: ResolvedScenario) -> Iterator[str]:
        system = content.systems[scenario.system]
        yield from map(str, lacking(scenario, system, self.name))
        yield from reasons(scenario, system)

    def measures(self, probe: Probe) -> bool:
        """How full this host's disk is, say, is nothing about a world."""
        return not any(unmeasured(probe))

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        """Of a fleet: a digest over the images of all its machines. Raises HostError where one is not there."""
        engine = self._connected()
        system = content.systems[scenario.system]
        names = [system.name, *(node.system for node in system.nodes.values())]
        ids = [identity(engine, find(engine, content.systems[name])) for name in dict.fromkeys(names)]
        return ids[0] if len(ids) == 1 else f"sha256:{hashlib.sha256(' '.join(ids).encode()).hexdigest()}"

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:
        """Raises HostError where there is no engine or no image, before anything is opened."""
        self._connected()
        system = content.systems[scenario.system]
        healthy, asked = _about(FIRST, system.healthy), _about(FIRST, _questions(world))
        openers = {FIRST: self._opener(content, system, SystemSpec.of(system), healthy, asked, seed)}
        for name, node in system.nodes.items():
            kind = content.systems[node.system]
            spec = SystemSpec.of(kind).as_node(name, node.address)
            healthy, asked = (*kind.healthy, *_about(name, system.healthy)), _about(name, _questions(world))
            openers[name] = self._opener(content, kind, spec, healthy, asked, derive(seed, name))
        self._places.take(len(openers))
        closed = partial(self._places.give, len(openers))
        try:
            with self._booting.taken(len(openers)):
                self._raise_if_abandoned()
                opened: LiveWorld
                if system.nodes:
                    opened = FleetWorld(SystemSpec.of(system), openers, closed=closed)
                else:
                    coming = tuple(fault.inject for fault in world.faults)
                    disks = needed(SystemSpec.of(system), measured(scenario))
                    opened = openers[FIRST](coming=coming, disks=disks, closed=closed)
        except (EngineError, DBusError, OSError) as error:
            self._raise_if_abandoned()
            raise WorldError(f"the system {scenario.system} did not boot: {error}") from error
        if self._abandoned:
            opened.close()
        self._raise_if_abandoned()
        return opened

    def _raise_if_abandoned(self) -> None:
        if self._abandoned:
            raise Shut

    def _opener(
        self,
        content: PackContent,
        system: System,
        spec: SystemSpec,
        healthy: Sequence[Probe],
        asked: Sequence[Probe],
        seed: int,
    ) -> Callable[..., ContainerWorld]:
        """How one machine is opened, once its image is known to be there. asked: what will be asked of it later on."""
        engine = self._connected()
        key = (content.digest, system.name)
        name = self._names.get(key) or self._names.setdefault(key, settled_name(system))
        return partial(
            ContainerWorld,
            engine,
            spec,
            find(engine, system, name),
            self._recordings,
            self._digests,
            healthy=tuple(probe for probe in healthy if probe.type in ("http", "socket")),
            asked=tuple(
                {str(sorted(one.arguments.items())): one for one in (*healthy, *asked) if one.type == "http"}.values()
            ),
            seed=seed,
        )

    def abandon(self) -> None:
        self._abandoned = True
        for waited_for in (self.turns, self._places, self._booting):
            waited_for.shut()
        with self._connecting:
            if self._engine is not None:
                remove_own(self._engine)

    def _connected(self) -> Engine:
        with self._connecting:
            if self._engine is None:
                self._engine = Engine.connect()
                sweep(self._engine)
            return self._engine

    def among(self, processes: int) -> ContainerBackend:
        return ContainerBackend(at_once=self._given["at_once"], among=processes)

    def __reduce__(self) -> tuple[Callable[..., ContainerBackend], tuple[()]]:
        """Connections do not travel to other processes."""
        return partial(ContainerBackend, **self._given), ()


def _about(node: str, probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """Those that are about one machine of a fleet."""
    return tuple(without_node(probe) for probe in probes if (probe.arguments.get("node") or FIRST) == node)


def _questions(world: World) -> tuple[Probe, ...]:
    return tuple(asked.probe for asked in world.probes() if asked.kind != "fault")
