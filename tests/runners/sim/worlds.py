"""Worlds of the common web server with an agent's shell, booted once for all tests of a module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from runners.backends.sim import SimWorld
from runners.sim.build import boot, open_world
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.shell.running import run_job
from runners.system import SystemSpec
from runners.worlds import CommandResult
from scenario_dsl.model import System
from tests.conformance.worlds import library, probe

__all__ = ["Opened", "opened", "probe", "typed", "typed_all", "web_server"]


class Base(NamedTuple):
    machine: Machine
    baseline: Baseline


class Opened(NamedTuple):
    """A world, and the machine behind it."""

    machine: Machine
    live: SimWorld


@lru_cache(maxsize=4)
def _base(name: str) -> Base:
    return base_of(library().systems[name])


def base_of(system: System) -> Base:
    machine = boot(SystemSpec.of(system), run_job=run_job)
    return Base(machine, Baseline.of(machine))


def open_on(base: Base, seed: int = 0) -> Opened:
    """With the agent logged in."""
    machine = open_world(base.machine, seed)
    live = SimWorld(machine, base.baseline)
    live.prompt()
    return Opened(machine, live)


def opened(seed: int = 0, system: str = "web-server") -> Opened:
    return open_on(_base(system), seed)


def web_server(seed: int = 0) -> SimWorld:
    return opened(seed).live


def typed(live: SimWorld, command: str, *, seconds: float = 60, output_bytes: int = 64 << 10) -> CommandResult:
    """What the backend gives an agent for one command."""
    return live.run(command, output_bytes=output_bytes, seconds=seconds)


def typed_all(live: SimWorld, commands: Sequence[str]) -> bytes:
    """A transcript: commands, outputs and ends."""
    out = []
    for command in commands:
        result = typed(live, command)
        said = command.encode("utf-8", "surrogateescape") + b"\n" + result.output
        out.append(b"%s%s[%d %.6f]\n" % (result.prompt.encode(), said, result.exit_code, result.seconds))
    return b"".join(out)
