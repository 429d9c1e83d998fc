"""A host with sched_ext that worlds are opened on, one after the other: who asks it, and how it is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

from runners.kernel.image import Image
from runners.kernel.link import Link
from runners.kernel.recipe import Recipe, Service
from runners.kernel.vm import VirtualMachine
from runners.worlds import WorldError

_BASELINES = 3
"""How often the quiet machine is measured. What disturbs it by chance only makes it look slower: the least counts."""
_PATIENCE = 3600.0
"""Seconds that one waits for a host that others use."""


class Machine(Protocol):
    """What a host stands on: one of our own making, or somebody's. Reachable until it is closed."""

    @property
    def ssh(self) -> tuple[str, ...]:
        """The program and arguments that reach it as root."""
        ...

    def pause(self) -> None:
        """Nobody asks for anything: its time may stand still. Raises WorldError."""
        ...

    def go_on(self) -> None:
        """Raises WorldError."""
        ...

    def runs(self) -> bool: ...

    def close(self, hang_up: Callable[[], None]) -> None:
        """Leave it for good. hang_up: ends the conversation with it."""
        ...


class Host:
    """A machine and the conversation with it. Closed when it cannot be talked to."""

    def __init__(self, machine: Machine, services: tuple[Service, ...]) -> None:
        self._services, self._machine = services, machine
        self._link: Link | None = None
        try:
            self._link = Link(machine.ssh)
            machine.pause()
            self.quiet = self._measure_quiet()
        except BaseException:
            self.close()
            raise

    def ask(self, what: str, *, patience: float = 0.0, **given: Any) -> dict[str, Any]:
        """Raises WorldError."""
        assert self._link is not None
        self._machine.go_on()
        try:
            return self._link.ask(what, patience=patience, **given)
        finally:
            if self._machine.runs():
                self._machine.pause()

    def open(self, services: tuple[Service, ...]) -> dict[str, Any]:
        """Start a world's services on the clean machine. Raises WorldError where it is not clean."""
        return self.ask("open", services=[asdict(service) for service in services])

    def reset(self) -> dict[str, Any]:
        """End the world that is open. Raises WorldError where something of it stays, or a scheduler is still loaded."""
        left = self.ask("reset")
        if left["remains"] or left["state"] != "disabled":
            raise WorldError(f"the host is not as it was: {'; '.join(left['remains']) or left['state']}")
        return left

    def usable(self) -> bool:
        return self._machine.runs() and self._link is not None and self._link.alive()

    def close(self) -> None:
        self._machine.close(self._hang_up)

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()

    def _measure_quiet(self) -> dict[str, int]:
        """Nanoseconds that a request of each service takes when nothing else runs."""
        self.open(self._services)
        seen = [self.ask("measure")["loads"] for _ in range(_BASELINES)]
        self.reset()
        return {one.name: min(loads[one.name]["ns"]["50"] for loads in seen) for one in self._services}


def boot(image: Image, recipe: Recipe) -> Host:
    """A virtual machine of our own. Its time stands still while nobody asks anything. Raises WorldError, HostError."""
    return Host(VirtualMachine(image, memory=recipe.memory), recipe.services)


Opener = Callable[[], Host]


class Hosts:
    """So many hosts at the most, each for one world at a time; one that is not clean afterwards is not used again.

    opened: how many there were so far.
    """

    def __init__(self, most: int, opener: Opener) -> None:
        self._opener, self._free = opener, list[Host]()
        self.opened = 0
        self._places = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()

    def take(self) -> Host:
        """A clean host, opened where none is free. Raises WorldError, HostError."""
        if not self._places.acquire(timeout=_PATIENCE):
            raise WorldError(f"no host was free for {_PATIENCE:g} s")
        try:
            with self._lock:
                host = self._free.pop() if self._free else None
            if host is not None and not host.usable():
                host.close()
                host = None
            if host is None:
                host = self._opener()
                self.opened += 1
            return host
        except BaseException:
            self._places.release()
            raise

    def give_back(self, host: Host) -> str:
        """Returns how the scheduler was left. Raises WorldError where the world on it left something; the host is gone
        then."""
        try:
            try:
                state = host.reset()["state"]
            except BaseException:
                host.close()
                raise
            with self._lock:
                self._free.append(host)
            return f"when its world was closed, /sys/kernel/sched_ext/state said {state}"
        finally:
            self._places.release()

    def close(self) -> None:
        with self._lock:
            while self._free:
                self._free.pop().close()
