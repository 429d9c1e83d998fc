"""The web server of the common pack, booted once, for tests of what runs on it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from runners.sim.build import boot, open_world
from runners.sim.machine import Machine
from runners.system import SystemSpec
from scenario_dsl.library import load_library

PACKS = Path(__file__).parents[3] / "packs"


@lru_cache(maxsize=1)
def base() -> Machine:
    system = load_library(PACKS / "common", [PACKS]).systems["web-server"]
    return boot(SystemSpec.of(system))


def server(seed: int = 1) -> Machine:
    """A fresh world. It has no shell: cron jobs and scripts end with 127."""
    machine = open_world(base(), seed)
    machine.budget.left = 10**9
    return machine


def messages(machine: Machine, unit: str | None = None, *, since: float | None = None) -> list[str]:
    """What the journal says, of one unit or of all, from the opening on."""
    start = machine.spec.start_time if since is None else since
    return [entry.message for entry in machine.journal if entry.at >= start and unit in (None, entry.unit)]
