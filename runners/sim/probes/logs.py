"""log: lines of a file, or of a unit's journal.

A file is what root made of it: lines can be added and taken away, so an objective better asks the journal, where an
entry's unit is systemd's to say (`logger` cannot write in another unit's name).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from runners.patterns import found
from runners.sim.files.content import Content
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
_BLOCK = 256 << 10


def log(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """Counting ends as soon as the answer is known, so the number told is at times a least one."""
    seen, pattern, path = Seen(), arguments.require("matches"), arguments.text("path")
    within = arguments.number("within")
    since = None if within is None else machine.clock.now - within
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is None and most is None:
        least = 1
    if path is not None:
        content = _content(machine, path)
        if content is None:
            seen.expect(False, f"{path} cannot be read")
            return seen.observation()
        lines, where = _lines(content, pattern if since is None else None), path
        if since is not None:
            lines = recent(lines, since, machine.clock.now)
    else:
        unit = full_name(arguments.require("unit"))
        lines, where = (entry.message for entry in entries(machine, unit=unit, since=since)), f"the journal of {unit}"
    enough = max(least or 0, 0 if most is None else most + 1)
    count = sum(1 for _ in islice((line for line in lines if found(pattern, line)), enough))
    fact = f"{count}{' or more' if count == enough else ''} lines /{pattern}/ in {where}"
    seen.expect((least is None or count >= least) and (most is None or count <= most), fact)
    return seen.observation()


def _content(machine: Machine, path: str) -> Content | None:
    try:
        return machine.view().content(path)
    except OSError:
        return None


def _lines(content: Content, pattern: str | None) -> Iterator[str]:
    """The lines at the end of a log; with a pattern, those of blocks that hold it at all."""
    rest = ""
    for start in range(max(content.size - _READ, 0), content.size, _BLOCK):
        text = rest + content.read(start, start + _BLOCK).decode("utf-8", "replace")
        whole, newline, rest = text.rpartition("\n")
        if newline and (pattern is None or found(pattern, whole)):
            yield from whole.split("\n")
    if rest:
        yield rest
