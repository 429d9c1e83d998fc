"""The hosts of an inventory as worlds are opened on them: each by one process, and for one world at a time."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from pathlib import Path

from runners.kernel.host import Host, Hosts
from runners.kernel.image import Image
from runners.kernel.own.inventory import Place, read_inventory
from runners.kernel.own.machine import OwnMachine, look, sweep_own
from runners.kernel.recipe import Recipe


class OwnHosts:
    """Made without asking anybody. Raises AuthorError, HostError where the inventory or a host is not fit."""

    def __init__(self, inventory: Path) -> None:
        self.inventory = inventory
        self._lock = threading.Lock()
        self._identity: str | None = None

    def pool(self, image: Image, recipe: Recipe) -> Hosts:
        """What killed processes left on hosts is taken away first."""
        free = list(read_inventory(self.inventory))
        sweep_own(names=[place.name for place in free])
        return Hosts(len(free), partial(_open, free, image, recipe))

    def identity(self, image: Image) -> str:
        """What a proof names instead of an image: the programs together with the kernels that they run on."""
        with self._lock:
            if self._identity is None:
                kernels = sorted({str(look(place)["kernel"]) for place in read_inventory(self.inventory)})
                digest = hashlib.sha256("\n".join((image.id, *kernels)).encode()).hexdigest()
                self._identity = f"own:{digest}"
            return self._identity


def _open(free: list[Place], image: Image, recipe: Recipe) -> Host:
    place = free.pop()
    return Host(OwnMachine(place, image, closed=partial(free.append, place)), recipe.services)
