"""A host with sched_ext that worlds are opened on, one after the other: who asks it, and how it is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from runners.kernel.image import Image
from runners.kernel.link import Link
from runners.kernel.recipe import Recipe, Service
from runners.kernel.vm import VirtualMachine
from runners.worlds import WorldError

_BASELINES = 3
"""How often the quiet machine is measured. What disturbs it by chance only makes it look slower: the least counts."""


class Host:
    """A virtual machine and the conversation with it. Its time stands still while nobody asks anything."""

    def __init__(self, image: Image, recipe: Recipe) -> None:
        self._services = recipe.services
        self._machine = VirtualMachine(image, memory=recipe.memory)
        try:
            self._link = Link(self._machine.ssh)
            self._machine.pause()
            self.quiet = self._measure_quiet()
        except BaseException:
            self._machine.close()
            raise

    def ask(self, what: str, *, patience: float = 0.0, **given: Any) -> dict[str, Any]:
        """Raises WorldError."""
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
        return self._machine.runs() and self._link.alive()

    def close(self) -> None:
        # Whatever it was doing, its machine goes; the link has nobody to talk to then.
        self._machine.close()
        self._link.close()

    def _measure_quiet(self) -> dict[str, int]:
        """Nanoseconds that a request of each service takes when nothing else runs."""
        self.open(self._services)
        seen = [self.ask("measure")["loads"] for _ in range(_BASELINES)]
        self.reset()
        return {one.name: min(loads[one.name]["ns"]["50"] for loads in seen) for one in self._services}


Opener = Callable[[], Host]


class Hosts:
    """So many hosts at the most, each for one world at a time; one that is not clean afterwards is not used again."""

    def __init__(self, most: int, opener: Opener) -> None:
        self._opener, self._free = opener, list[Host]()
        self._places = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()

    def take(self) -> Host:
        """A clean host, booted where none is free. Raises WorldError, HostError."""
        self._places.acquire()
        try:
            with self._lock:
                host = self._free.pop() if self._free else None
            if host is not None and not host.usable():
                host.close()
                host = None
            return host if host is not None else self._opener()
        except BaseException:
            self._places.release()
            raise

    def give_back(self, host: Host) -> None:
        """Raises WorldError where the world on it left something; the host is gone then."""
        try:
            try:
                host.reset()
            except BaseException:
                host.close()
                raise
            with self._lock:
                self._free.append(host)
        finally:
            self._places.release()

    def close(self) -> None:
        with self._lock:
            while self._free:
                self._free.pop().close()
