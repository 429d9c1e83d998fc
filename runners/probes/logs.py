"""log: how many lines match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from runners.patterns import found, lines_with
from runners.probes.arguments import Arguments
from runners.probes.seen import observed
from runners.probes.timestamps import recent
from runners.worlds import Observation


def matching_lines(blocks: Iterable[bytes], arguments: Arguments, now: float) -> Iterator[object]:
    """The lines of a file that count. `blocks`: its end, in pieces of whole lines without the last one's end; valid
    UTF-8, as `valid` makes it."""
    pattern, within = arguments.require("matches"), arguments.number("within")
    if within is None:
        return chain.from_iterable(lines_with(pattern, block) for block in blocks)
    lines = (line for block in blocks for line in block.decode().split("\n"))
    return (line for line in recent(lines, now - within, now) if found(pattern, line))


def valid(data: bytes) -> bytes:
    """The same text in valid UTF-8, whatever the log holds."""
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def judge(matching: Iterator[object], where: str, arguments: Arguments) -> Observation:
    """Counting ends as soon as the answer is known, so the number told is at times a least one."""
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is None and most is None:
        least = 1
    enough = max(least or 0, 0 if most is None else most + 1)
    count = sum(1 for _ in islice(matching, enough))
    fact = f"{count}{' or more' if count == enough else ''} lines /{arguments.require('matches')}/ in {where}"
    return observed((least is None or count >= least) and (most is None or count <= most), fact)
