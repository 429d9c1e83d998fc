"""pmap of procps 4.0.2: what a process's memory is mapped from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.libraries import LOADER, libraries
from runners.sim.machine import mix
from runners.sim.process_info import command_line, is_kernel_thread
from runners.sim.processes import Process
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "pmap [options] PID [PID ...]", "x,extended X c,read-rc C,read-rc-from= n,create-rc N,create-rc-to= d,device "
    "q,quiet p,show-path A,range= h,help V,version", "pmap from procps-ng 4.0.2",
)  # fmt: skip
_SEGMENTS = (("r----", 0.2), ("r-x--", 0.5), ("r----", 0.25), ("r----", 0.03), ("rw---", 0.02))


class _Mapping(NamedTuple):
    """Sizes in KiB."""

    address: int
    size: int
    resident: int
    dirty: int
    mode: str
    name: str


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        ctx.stderr.write(b"\nUsage:\n pmap [options] PID [PID ...]\n\nFor more details see pmap(1).\n")
        return 1
    status = 42
    for word in options.operands:
        if not is_digits(word.removeprefix("/proc/")):
            ctx.err(f"failed to parse argument: '{word}'")
            return 1
        process = ctx.machine.processes.get(int(word.removeprefix("/proc/")))
        if process is None:
            continue
        status = 0
        ctx.line(f"{process.pid}:   {command_line(process)}")
        allowed = ctx.cred.uid in (0, process.cred.uid)
        maps = list(_mappings(ctx, process)) if allowed and not is_kernel_thread(process) else []
        _print(ctx, maps, extended=options.has("x", "X"), quiet=options.has("q"), paths=options.has("p"))
    return status


def _mappings(ctx: Context, process: Process) -> Iterator[_Mapping]:
    """The program, its heap, libraries and stack, which add up to what the process has and holds."""
    view = ctx.machine.view()
    base = 0x550000000000 + (mix(f"{ctx.machine.seed} image of {process.pid}") & 0xFFFFFFF) * 4096
    high = 0x7F0000000000 + (mix(f"{ctx.machine.seed} libraries of {process.pid}") & 0xFFFFFF) * 4096
    program = list(_file(view.stat(process.exe).size >> 10 if view.exists(process.exe) else 64, base, process.exe))
    libraries_ = []
    for path in [*libraries(view, process.program), LOADER]:
        size = view.stat(path).size >> 10 if view.exists(path) else 210
        libraries_ += list(_file(size, high, path))
        high += (size + 2048) << 10
    stack = _Mapping(0x7FFC00000000 + (high & 0xFFFFF000), 132, 24, 24, "rw---", "  [ stack ]")
    vdso = _Mapping(stack.address + (160 << 10), 8, 4, 0, "r-x--", "  [ anon ]")
    files = [*program, *libraries_, stack, vdso]
    room = max((process.vsz >> 10) - sum(one.size for one in files), 132)
    held = min(max((process.rss >> 10) - sum(one.resident for one in files), 8), room)
    heap = _Mapping(base + (0x2000000 if room < 1 << 20 else 0x4000000), room, held, held, "rw---", "  [ anon ]")
    yield from program
    yield heap
    yield from libraries_
    yield stack
    yield vdso


def _file(size: int, address: int, path: str) -> Iterator[_Mapping]:
    for mode, share in _SEGMENTS:
        length = max(int(size * share) // 4 * 4, 4)
        dirty = length if mode == "rw---" else 0
        yield _Mapping(address, length, length * 3 // 5 // 4 * 4 or 4, dirty, mode, path)
        address += length << 10


def _print(ctx: Context, maps: list[_Mapping], *, extended: bool, quiet: bool, paths: bool) -> None:
    ctx.spend(len(maps))
    if extended and not quiet:
        ctx.line("Address           Kbytes     RSS   Dirty Mode  Mapping")
    for one in maps:
        name = one.name if paths or not one.name.startswith("/") else one.name.rsplit("/", 1)[-1]
        if extended:
            ctx.line(f"{one.address:016x} {one.size:7d} {one.resident:7d} {one.dirty:7d} {one.mode} {name}")
        else:
            ctx.line(f"{one.address:016x} {one.size:6d}K {one.mode} {name}")
    size, resident, dirty = (sum(column) for column in zip(*_sizes(maps), strict=True))
    if quiet:
        return
    if extended:
        ctx.line("---------------- ------- ------- ------- ")
        ctx.line(f"total kB         {size:7d} {resident:7d} {dirty:7d}")
    else:
        ctx.line(f" total {size:16d}K")


def _sizes(maps: list[_Mapping]) -> list[tuple[int, int, int]]:
    return [(one.size, one.resident, one.dirty) for one in maps] or [(0, 0, 0)]
