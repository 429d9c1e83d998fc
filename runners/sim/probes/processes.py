"""process, socket and memory: the process table, and what the processes hold."""

from __future__ import annotations

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.sim.machine import Machine
from runners.sim.memory import memory as memory_of
from runners.sim.probes.baseline import Baseline
from runners.sim.processes import Process
from runners.sim.users import accounts
from runners.worlds import Observation

_WILD = ("0.0.0.0", "::", "*")  # noqa: S104 (compared with, not bound to)


def process(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """Zombies do not count: they run no more.

    A command line can be forged. Where processes of the healthy machine match too, what is wanted to run has to be one
    of their programs; what is not wanted to run is believed by its command line.
    """
    seen, pattern, user = Seen(), arguments.require("matches"), arguments.text("user")
    owner = accounts(machine).user(user) if user is not None else None
    matching = [
        one
        for one in machine.processes
        if one.state != "Z"
        and found(pattern, " ".join(one.argv))
        and (user is None or (owner is not None and one.cred.uid == owner.uid))
    ]
    count = len(matching)
    known = {program for line, program in baseline.processes if found(pattern, line)}
    genuine = [one for one in matching if not known or one.program in known]
    fact = f"{count} {'process' if count == 1 else 'processes'} /{pattern}/"
    if len(genuine) < count:
        fact += f", {count - len(genuine)} of another program than belongs there"
    running = arguments.flag("running")
    if running is not None:
        seen.expect(bool(genuine) if running else not matching, fact)
    least, most = arguments.integer("count_at_least"), arguments.integer("count_at_most")
    if least is not None:
        seen.expect(len(genuine) >= least, fact)
    if most is not None:
        seen.expect(count <= most, fact)
    memory = arguments.integer("memory_at_most")
    if memory is not None:
        resident = sum(one.rss for one in matching)
        seen.expect(resident <= memory, f"they hold {resident} bytes")
    return seen.observation()


def socket(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """That something listens is believed of the program that is named, or else of the one that listens there on the
    healthy machine; that nothing does, only when nobody does. A stopped process accepts nothing."""
    seen, port = Seen(), arguments.integer("port") or 0
    protocol, address = arguments.text("protocol") or "tcp", arguments.text("address")
    wanted, program = arguments.flag("listening"), arguments.text("process")
    holders = [one for one in machine.processes.with_sockets.values() if _listens(one, protocol, port, address)]
    holders.sort(key=_pid)
    if not holders:
        seen.expect(not wanted, f"nothing listens on {protocol} port {port}")
        return seen.observation()
    fact = f"{holders[0].name} listens on {protocol} port {port}"
    if not wanted:
        seen.expect(False, fact)
        return seen.observation()
    genuine = [
        one
        for one in holders
        if one.state not in "TZ"
        and (baseline.genuine_listener(protocol, port, one) if program is None else baseline.is_named(program, one))
    ]
    seen.expect(bool(genuine), fact if genuine else f"{fact}, which is not what belongs there")
    return seen.observation()


def _pid(process: Process) -> int:
    return process.pid


def _listens(process: Process, protocol: str, port: int, address: str | None) -> bool:
    for one in process.sockets:
        if (
            one.port == port
            and one.protocol == protocol
            and one.state in ("LISTEN", "")
            and (address is None or one.address == address or one.address in _WILD)
        ):
            return True
    return False


def memory(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """As `free` counts: what is available to new work without swapping."""
    seen, now = Seen(), memory_of(machine)
    left, whole = now.available, now.total
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
