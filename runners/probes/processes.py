"""process, socket and memory: what runs, who listens, and what is left of the memory."""

from __future__ import annotations

from typing import NamedTuple

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen, observed
from runners.worlds import Observation

WILD = ("0.0.0.0", "::", "*")  # noqa: S104 (compared with, not bound to)
"""Addresses of a socket that is reached by all of a machine's own."""


class ProcessesLook(NamedTuple):
    """The living processes with such a command line: how many, how many of them genuine, and their resident bytes.

    A command line can be forged. Where processes of the healthy machine match too, genuine is what runs one of their
    programs.
    """

    matching: int
    genuine: int
    resident: int


def judge_process(look: ProcessesLook, arguments: Arguments) -> Observation:
    """What is wanted to run has to be genuine; what is not wanted to run is believed by its command line."""
    seen, count = Seen(), look.matching
    fact = f"{count} {'process' if count == 1 else 'processes'} /{arguments.require('matches')}/"
    if look.genuine < count:
        fact += f", {count - look.genuine} of another program than belongs there"
    running = arguments.flag("running")
    if running is not None:
        seen.expect(look.genuine > 0 if running else not count, fact)
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is not None:
        seen.expect(look.genuine >= least, fact)
    if most is not None:
        seen.expect(count <= most, fact)
    memory = arguments.integer("memory_at_most")
    if memory is not None:
        seen.expect(look.resident <= memory, f"they hold {look.resident} bytes")
    return seen.observation()


class SocketLook(NamedTuple):
    """Who listens on a port: a name, None where nobody does; and whether one who does is not stopped and is the program
    that was named, or else the one that listens there on the healthy machine.

    `genuine` is looked at only where somebody is to listen.
    """

    protocol: str
    port: int
    holder: str | None
    genuine: bool


def judge_socket(look: SocketLook, arguments: Arguments) -> Observation:
    """That something listens is believed of who is genuine; that nothing does, only when nobody does."""
    wanted, place = arguments.flag("listening"), f"{look.protocol} port {look.port}"
    if look.holder is None:
        return observed(not wanted, f"nothing listens on {place}")
    fact = f"{look.holder} listens on {place}"
    if wanted and not look.genuine:
        fact += ", which is not what belongs there"
    return observed(bool(wanted) and look.genuine, fact)


class MemoryLook(NamedTuple):
    """Bytes: what there is, and what is available to new work without swapping."""

    total: int
    available: int


def judge_memory(look: MemoryLook, arguments: Arguments) -> Observation:
    seen, left, whole = Seen(), look.available, look.total
    fact = f"{left} of {whole} bytes available"
    least, most = arguments.integer("available_at_least"), arguments.integer("available_at_most")
    if least is not None:
        seen.expect(left >= least, fact)
    if most is not None:
        seen.expect(left <= most, fact)
    percent = arguments.number("used_percent_at_most")
    if percent is not None:
        seen.expect(100 * (whole - left) <= percent * whole, fact)
    return seen.observation()
