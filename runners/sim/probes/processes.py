"""process, socket and memory: the process table, and what the processes hold."""

from __future__ import annotations

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.processes import (
    WILD,
    MemoryLook,
    ProcessesLook,
    SocketLook,
    judge_memory,
    judge_process,
    judge_socket,
)
from runners.sim.machine import Machine
from runners.sim.memory import memory as memory_of
from runners.sim.probes.baseline import Baseline
from runners.sim.processes import Process
from runners.sim.users import accounts
from runners.worlds import Observation


def process(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """Zombies do not count: they run no more."""
    pattern, user = arguments.require("matches"), arguments.text("user")
    owner = accounts(machine).user(user) if user is not None else None
    matching = [
        one
        for one in machine.processes
        if one.state != "Z"
        and found(pattern, " ".join(one.argv))
        and (user is None or (owner is not None and one.cred.uid == owner.uid))
    ]
    known = {program for line, program in baseline.processes if found(pattern, line)}
    genuine = sum(not known or one.program in known for one in matching)
    look = ProcessesLook(len(matching), genuine, sum(one.rss for one in matching))
    return judge_process(look, arguments)


def socket(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """A stopped process accepts nothing."""
    protocol, port = arguments.text("protocol") or "tcp", arguments.integer("port") or 0
    address, program = arguments.text("address"), arguments.text("process")
    holders = [one for one in machine.processes.with_sockets.values() if _listens(one, protocol, port, address)]
    if not holders:
        return judge_socket(SocketLook(protocol, port, None, False), arguments)
    genuine = any(
        one.state not in "TZ"
        and (baseline.genuine_listener(protocol, port, one) if program is None else baseline.is_named(program, one))
        for one in holders
    )
    return judge_socket(SocketLook(protocol, port, min(holders, key=_pid).name, genuine), arguments)


def _pid(process: Process) -> int:
    return process.pid


def _listens(process: Process, protocol: str, port: int, address: str | None) -> bool:
    for one in process.sockets:
        if (
            one.port == port
            and one.protocol == protocol
            and one.state in ("LISTEN", "")
            and (address is None or one.address == address or one.address in WILD)
        ):
            return True
    return False


def memory(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:  # noqa: ARG001
    """As `free` counts."""
    now = memory_of(machine)
    return judge_memory(MemoryLook(now.total, now.available), arguments)
