"""log: lines of a file, or of a unit's journal.

A file is what root made of it: lines can be added and taken away, so an objective better asks the journal, where an
entry's unit is systemd's to say (`logger` cannot write in another unit's name).
"""

from __future__ import annotations

from collections.abc import Iterator

from runners.patterns import found
from runners.sim.machine import Machine
from runners.sim.probes.arguments import Arguments
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.seen import Seen
from runners.sim.probes.timestamps import recent
from runners.sim.systemd.journal import entries
from runners.sim.systemd.units import full_name
from runners.worlds import Observation

_READ = 16 << 20
"""Bytes at the end of a log that are looked at."""


def log(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    seen, pattern, path = Seen(), arguments.require("matches"), arguments.text("path")
    within = arguments.number("within")
    since = None if within is None else machine.clock.now - within
    if path is not None:
        lines, where = _file(machine, path), path
        if since is not None and lines is not None:
            lines = recent(lines, since, machine.clock.now)
    else:
        unit = full_name(arguments.require("unit"))
        lines, where = (entry.message for entry in entries(machine, unit=unit, since=since)), f"the journal of {unit}"
    if lines is None:
        seen.expect(False, f"{path} cannot be read")
        return seen.observation()
    count = sum(1 for line in lines if found(pattern, line))
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is None and most is None:
        least = 1
    fact = f"{count} lines /{pattern}/ in {where}"
    seen.expect((least is None or count >= least) and (most is None or count <= most), fact)
    return seen.observation()


def _file(machine: Machine, path: str) -> Iterator[str] | None:
    try:
        content = machine.view().content(path)
    except OSError:
        return None
    data = content.read(max(content.size - _READ, 0))
    return iter(data.decode("utf-8", "replace").splitlines())
