"""unit, limit, process, socket and memory: what the kernel and the world's first process say."""

from __future__ import annotations

from math import inf
from pathlib import Path

from runners.hosts.kernel_view import Process
from runners.hosts.manager import Unit
from runners.hosts.outside import Outside
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
from runners.probes.units import LimitLook, Main, UnitLook, judge_limit, judge_unit
from runners.worlds import Observation

_LIMITS = {
    "nofile": "Max open files",
    "nproc": "Max processes",
    "core": "Max core file size",
    "fsize": "Max file size",
    "stack": "Max stack size",
    "as": "Max address space",
}


def unit(outside: Outside, arguments: Arguments) -> Observation:
    unit_ = outside.manager.unit(arguments.require("name"))
    known = outside.baseline.mains.get(unit_.name)
    looked = known is not None and arguments.text("state") == "active"
    main = _main(outside, unit_) if looked else None
    look = UnitLook(
        name=unit_.name,
        active=unit_.active,
        has_main=known is not None,
        main=None if main is None else Main(main.name, main.state, outside.program(main) == known),
        file=unit_.file,
        masked=unit_.load == "masked" or unit_.file.startswith("masked"),
        restarts=unit_.restarts,
    )
    return judge_unit(look, arguments)


def limit(outside: Outside, arguments: Arguments) -> Observation:
    """As the kernel keeps it of the main process; of memory, which the whole unit shares, as systemd does."""
    unit_, name = outside.manager.unit(arguments.require("unit")), arguments.require("name")
    main = _main(outside, unit_)
    if main is None:
        return judge_limit(None, unit_.name, arguments)
    value = outside.manager.memory_limit(unit_.name) if name == "memory" else _soft_limit(main, _LIMITS[name])
    look = LimitLook("infinity", inf) if value is None else LimitLook(str(value), value)
    return judge_limit(look, unit_.name, arguments)


def _main(outside: Outside, unit_: Unit) -> Process | None:
    return next((one for one in outside.processes() if unit_.main and one.inner == unit_.main), None)


def _soft_limit(main: Process, title: str) -> int | None:
    """None for no limit; OSError where the process is gone."""
    lines = Path(f"/proc/{main.pid}/limits").read_text().splitlines()
    soft = next(line[len(title) :].split()[0] for line in lines if line.startswith(title))
    return None if soft == "unlimited" else int(soft)


def process(outside: Outside, arguments: Arguments) -> Observation:
    pattern, user = arguments.require("matches"), arguments.text("user")
    owner = outside.files.account(user) if user is not None else None
    matching = [
        one
        for one in outside.processes()
        if found(pattern, one.line) and (user is None or (owner is not None and one.uid == owner.uid))
    ]
    known = {program for line, program in outside.baseline.lines if found(pattern, line)}
    genuine = sum(not known or outside.program(one) in known for one in matching)
    look = ProcessesLook(len(matching), genuine, sum(one.rss for one in matching))
    return judge_process(look, arguments)


def socket(outside: Outside, arguments: Arguments) -> Observation:
    """A stopped process accepts nothing."""
    protocol, port = arguments.text("protocol") or "tcp", arguments.integer("port") or 0
    address, name = arguments.text("address"), arguments.text("process")
    running = outside.processes()
    by_pid = {one.pid: one for one in running}
    holders = [
        by_pid[pid]
        for one in outside.listeners(running)
        if one.protocol == protocol and one.port == port and (address is None or one.address in (address, *WILD))
        for pid in one.pids
        if pid in by_pid
    ]
    if not holders:
        return judge_socket(SocketLook(protocol, port, None, False), arguments)
    genuine = arguments.flag("listening") is True and any(
        one.state not in "TZ"
        and (outside.genuine_listener(protocol, port, one) if name is None else _is_named(outside, name, one))
        for one in holders
    )
    return judge_socket(SocketLook(protocol, port, holders[0].name, genuine), arguments)


def _is_named(outside: Outside, name: str, process_: Process) -> bool:
    """A name that ran on the healthy machine stands for what ran by it there."""
    known = outside.baseline.names.get(name[:15])
    return outside.program(process_) in known if known is not None else process_.name == name[:15]


def memory(outside: Outside, arguments: Arguments) -> Observation:
    """Of what the world may use: its control group's limit less what it holds and cannot give up."""
    now = outside.box.limits()
    return judge_memory(MemoryLook(now.memory, max(0, now.memory - now.memory_used)), arguments)
