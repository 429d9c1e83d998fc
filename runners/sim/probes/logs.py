"""log: lines of a file, or of a unit's journal.

A file is what root made of it: lines can be added and taken away, so an objective better asks the journal, where an
entry's unit is systemd's to say (`logger` cannot write in another unit's name) and vacuuming forgets nothing for us.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from runners.patterns import found, lines_with
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.probes.timestamps import recent
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
        where = path
        if since is None:
            matching: Iterator[object] = chain.from_iterable(lines_with(pattern, block) for block in _blocks(content))
        else:
            lines = (line for block in _blocks(content) for line in block.decode().split("\n"))
            matching = (line for line in recent(lines, since, machine.clock.now) if found(pattern, line))
    else:
        unit = full_name(arguments.require("unit"))
        where = f"the journal of {unit}"
        # What was vacuumed away has been said all the same.
        gone = (
            entry for entry in machine.journal.dropped if entry.unit == unit and (since is None or entry.at >= since)
        )
        said = chain(gone, entries(machine, unit=unit, since=since))
        matching = (entry for entry in said if found(pattern, entry.message))
    enough = max(least or 0, 0 if most is None else most + 1)
    count = sum(1 for _ in islice(matching, enough))
    fact = f"{count}{' or more' if count == enough else ''} lines /{pattern}/ in {where}"
    seen.expect((least is None or count >= least) and (most is None or count <= most), fact)
    return seen.observation()


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
            yield _valid(whole)
    if rest:
        yield _valid(rest)


def _valid(data: bytes) -> bytes:
    return data if data.isascii() else data.decode("utf-8", "replace").encode()
