"""Worlds on hosts with sched_ext: virtual machines of our own image, whose time is counted in instructions, or hosts of
an inventory, whose time is their own."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from compiler.capabilities import lacking
from compiler.model import PackContent
from runners.kernel.host import Hosts, boot
from runners.kernel.image import find
from runners.kernel.own.hosts import OwnHosts
from runners.kernel.readiness import no_host
from runners.kernel.recipe import Recipe
from runners.kernel.unsupported import reasons
from runners.kernel.vm import sweep
from runners.kernel.world import KernelWorld
from runners.worlds import LiveWorld
from scenario_dsl.model import System
from scenario_dsl.worlds import ResolvedScenario, World

_MOST = 2
"""Machines of one process at the most: one computes, and whoever holds a world open meanwhile keeps the other."""


class KernelBackend:
    """A virtual machine is booted when the first world of its system is opened and serves one world after the other;
    those of processes that died are ended then. Each computes all the time, so one process plays one world at a time:
    several at once are for several processes. With an inventory its hosts are used instead, and set up for the first
    world."""

    name = "kernel"
    computed = True

    def __init__(self, inventory: Path | None = None) -> None:
        self._own = None if inventory is None else OwnHosts(inventory)
        self._hosts: dict[str, Hosts] = {}
        self._lock = threading.Lock()

    @property
    def booted(self) -> int:
        """How many machines were booted so far."""
        return sum(hosts.opened for hosts in self._hosts.values())

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        system = content.systems.get(scenario.system)
        if system is None:
            return f"the bundle holds no system {scenario.system}"
        return next(self._reasons(scenario, system), None)

    def _reasons(self, scenario: ResolvedScenario, system: System) -> Iterator[str]:
        yield from map(str, lacking(scenario, system, self.name))
        yield from reasons(scenario, system)
        yield from no_host(system, virtual=self._own is None)

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        """Raises HostError where there is no image."""
        image = find(content.systems[scenario.system])
        return image.id if self._own is None else self._own.identity(image)

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:  # noqa: ARG002
        """Raises HostError where there is no host to open it on."""
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
                own = self._own.pool(image, recipe) if self._own is not None else None
                self._hosts[image.id] = own or Hosts(_MOST, partial(boot, image, recipe))
                atexit.register(self._hosts[image.id].close)
            return self._hosts[image.id]

    def __reduce__(self) -> tuple[type[KernelBackend], tuple[Path | None]]:
        """Machines do not travel to other processes."""
        return KernelBackend, (None if self._own is None else self._own.inventory,)
