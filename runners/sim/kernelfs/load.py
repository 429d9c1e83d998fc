"""How much there is to do: load averages, and for how long work has waited."""

from __future__ import annotations

import math

from runners.sim.machine import Busy, Machine

_QUIET = 0.04
"""The load of a machine that has next to nothing to do."""


def load_averages(machine: Machine) -> tuple[float, float, float]:
    """The three figures of uptime: what the processes take of the processors, averaged as the kernel does."""
    now = machine.clock.now
    busy = [
        Busy(process.cpu_share, process.started, now)
        for process in machine.processes.by_pid.values()
        if process.cpu_share and process.state != "T"
    ]
    busy += machine.past_load
    one, five, fifteen = (
        _QUIET
        + sum(
            share * (1 - math.exp(-(ended - began) / span)) * math.exp(-(now - ended) / span)
            for share, began, ended in busy
        )
        for span in (60, 300, 900)
    )
    return one, five, fifteen


def pressure(machine: Machine, resource: str) -> str:
    """A file of /proc/pressure. Only processors are ever waited for here: by what is ready beyond their number."""
    waits = resource == "cpu"
    cpus = machine.spec.settings.get("cpus", 1)
    over = [max(load - (cpus if isinstance(cpus, int) else 1), 0.0) for load in load_averages(machine)]
    shares = [100 * one / (one + 1) if waits else 0.0 for one in over]
    total = int((machine.clock.now - machine.clock.boot) * 1800) if waits else 0
    some = " ".join(f"avg{span}={share:.2f}" for span, share in zip((10, 60, 300), shares, strict=True))
    return f"some {some} total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
