"""unit, limit, process, socket and memory: what the kernel and the world's first process say."""

from __future__ import annotations

from math import inf
from pathlib import Path

from runners.hosts.kernel_view import Process
from runners.hosts.manager import Unit
from runners.hosts.outside import Outside
from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.probes.units import LimitLook, Main, UnitLook, judge_limit, judge_unit
from runners.worlds import Observation

_WILD = ("0.0.0.0", "::", "*")  # noqa: S104 (compared with, not bound to)
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
    """What is wanted to run has to be a program that has such a line on the healthy machine, where one has."""
    seen, pattern, user = Seen(), arguments.require("matches"), arguments.text("user")
    owner = outside.files.account(user) if user is not None else None
    matching = [
        one
        for one in outside.processes()
        if found(pattern, one.line) and (user is None or (owner is not None and one.uid == owner.uid))
    ]
    known = {program for line, program in outside.baseline.lines if found(pattern, line)}
    genuine = [one for one in matching if not known or outside.program(one) in known]
    count = len(matching)
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
    memory_ = arguments.integer("memory_at_most")
    if memory_ is not None:
        resident = sum(one.rss for one in matching)
        seen.expect(resident <= memory_, f"they hold {resident} bytes")
    return seen.observation()


def socket(outside: Outside, arguments: Arguments) -> Observation:
    """Who listens has to be what listens there on the healthy machine, or what is named; a stopped process does not."""
    seen, port = Seen(), arguments.integer("port") or 0
    protocol, address = arguments.text("protocol") or "tcp", arguments.text("address")
    wanted, name = arguments.flag("listening"), arguments.text("process")
    running = outside.processes()
    by_pid = {one.pid: one for one in running}
    holders: list[Process] = []
    for listener in outside.listeners(running):
        fits = address is None or listener.address == address or listener.address in _WILD
        if listener.protocol == protocol and listener.port == port and fits:
            holders += [by_pid[pid] for pid in listener.pids if pid in by_pid]
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
        and (outside.genuine_listener(protocol, port, one) if name is None else _is_named(outside, name, one))
    ]
    seen.expect(bool(genuine), fact if genuine else f"{fact}, which is not what belongs there")
    return seen.observation()


def _is_named(outside: Outside, name: str, process_: Process) -> bool:
    """A name that ran on the healthy machine stands for what ran by it there."""
    known = outside.baseline.names.get(name[:15])
    return outside.program(process_) in known if known is not None else process_.name == name[:15]


def memory(outside: Outside, arguments: Arguments) -> Observation:
    """Of what the world may use: its limit less what it holds and cannot give up."""
    seen = Seen()
    whole, left = memory_of(outside)
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


def memory_of(outside: Outside) -> tuple[int, int]:
    """(limit, available) in bytes, of the world's control group."""
    state = outside.box.limits()
    return state.memory, max(0, state.memory - state.memory_used)
