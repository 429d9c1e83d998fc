"""log: lines of a file, or of a unit's journal.

A file is what root made of it: lines can be added and taken away, so an objective better asks the journal, where an
entry's unit is systemd's to say (`logger` cannot write in another unit's name) and vacuuming forgets nothing for us.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.logs import judge, matching_lines, valid
from runners.probes.seen import nothing_held
from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.probes.baseline import Baseline
from runners.sim.systemd.journal import entries
from runners.sim.systemd.units import full_name
from runners.worlds import Observation

_READ = 16 << 20
"""Bytes at the end of a log that are looked at."""
_BLOCK = 256 << 10


def log(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    path = arguments.text("path")
    if path is None:
        unit = full_name(arguments.require("unit"))
        return judge(_said(machine, unit, arguments), f"the journal of {unit}", arguments)
    content = _content(machine, path)
    if content is None:
        return nothing_held(f"{path} cannot be read")
    return judge(matching_lines(_blocks(content), arguments, machine.clock.now), path, arguments)


def _said(machine: Machine, unit: str, arguments: Arguments) -> Iterator[object]:
    """The matching entries of its journal. What was vacuumed away has been said all the same."""
    pattern, within = arguments.require("matches"), arguments.number("within")
    since = None if within is None else machine.clock.now - within
    gone = (entry for entry in machine.journal.dropped if entry.unit == unit and (since is None or entry.at >= since))
    said = chain(gone, entries(machine, unit=unit, since=since))
    return (entry for entry in said if found(pattern, entry.message))


def _content(machine: Machine, path: str) -> Content | None:
    try:
        return machine.view().content(path)
    except OSError:
        return None


def _blocks(content: Content) -> Iterator[bytes]:
    """The end of a log in blocks of whole lines, without the last line's end. Valid UTF-8, whatever the log holds."""
    rest = b""
    for start in range(max(content.size - _READ, 0), content.size, _BLOCK):
        whole, newline, rest = (rest + content.read(start, start + _BLOCK)).rpartition(b"\n")
        if newline:
            yield valid(whole)
    if rest:
        yield valid(rest)
