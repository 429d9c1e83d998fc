"""Worlds on hosts with sched_ext: virtual machines of our own image. Their time is counted in instructions."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator

from compiler.capabilities import lacking
from compiler.model import PackContent
from runners.kernel.host import Host, Hosts
from runners.kernel.image import find
from runners.kernel.recipe import Recipe
from runners.kernel.unsupported import reasons
from runners.kernel.vm import sweep
from runners.kernel.world import KernelWorld
from runners.turns import Turns
from runners.worlds import LiveWorld
from scenario_dsl.model import System
from scenario_dsl.worlds import ResolvedScenario, World

_AHEAD = 1
"""Worlds that are prepared meanwhile for the next ones."""


class KernelBackend:
    """A virtual machine is booted when the first world of its system is opened and serves one world after the other;
    those of processes that died are ended then. As many run at once as there are cores: each of them computes."""

    name = "kernel"

    def __init__(self, *, at_once: int | None = None) -> None:
        playing = at_once or os.cpu_count() or 1
        # A world that waits for its turn holds a machine too, and must not hold the last one.
        self.at_once = playing + _AHEAD
        self.turns = Turns(playing, _AHEAD)
        self._hosts: dict[str, Hosts] = {}
        self._lock = threading.Lock()

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        system = content.systems.get(scenario.system)
        if system is None:
            return f"the bundle holds no system {scenario.system}"
        return next(self._reasons(scenario, system), None)

    def _reasons(self, scenario: ResolvedScenario, system: System) -> Iterator[str]:
        yield from map(str, lacking(scenario, system, self.name))
        yield from reasons(scenario, system)

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        """Raises HostError where there is no image."""
        return find(content.systems[scenario.system]).id

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:  # noqa: ARG002
        """Raises HostError where there is no image or no QEMU, before anything is opened."""
        system = content.systems[scenario.system]
        hosts, recipe = self._hosts_of(system), Recipe.of(system)
        host = hosts.take()
        return KernelWorld(host, recipe.services, closed=lambda: hosts.give_back(host))

    def _hosts_of(self, system: System) -> Hosts:
        image, recipe = find(system), Recipe.of(system)
        with self._lock:
            if not self._hosts:
                sweep()
            if image.id not in self._hosts:
                self._hosts[image.id] = Hosts(self.at_once, lambda: Host(image, recipe))
                atexit.register(self._hosts[image.id].close)
            return self._hosts[image.id]

    def __reduce__(self) -> tuple[type[KernelBackend], tuple[()]]:
        """Machines do not travel to other processes."""
        return KernelBackend, ()
