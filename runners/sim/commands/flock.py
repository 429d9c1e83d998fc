"""flock of util-linux 2.38.1: hold a file's lock while a command runs.

A lock belongs to the process that took it, and is gone with it.
"""

from __future__ import annotations

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.open_files import FileStream
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "flock [options] <file>|<directory> <command> [<argument>...]",
    "s,shared x,exclusive u,unlock n,nonblock w,timeout= E,conflict-exit-code= o,close c,command= F,no-fork verbose "
    "h,help V,version",
    "flock from util-linux 2.38.1", permute=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "not enough arguments", 64)
    target, words = options.operands[0], options.operands[1:]
    line = options.value("c")
    if words[:1] in (["-c"], ["--command"]):
        if len(words) != 2:
            ctx.err("-c requires exactly one command argument")
            return 64
        line, words = words[1], []
    if line is not None:
        words = [ctx.environment.get("SHELL") or "/bin/sh", "-c", line]
    inode = _inode(ctx, target, bool(words))
    if isinstance(inode, str):
        ctx.err(inode)
        return 66 if words else 65
    holder = ctx.pid if words else _parent(ctx)
    if options.has("u"):
        _set(ctx, inode, 0)
        return 0
    given = options.value("E") or "1"
    if not is_digits(given) or int(given) > 255:
        ctx.err(f"invalid exit code: '{given}'")
        return 64
    conflict = int(given)
    if not _wait(ctx, inode, holder, 0.0 if options.has("n") else _limit(options.value("w"))):
        if options.has("verbose"):
            ctx.err("failed to get lock")
        return conflict
    if not options.has("s"):
        _set(ctx, inode, holder)
    if not words:
        return 0
    try:
        return wrappers.run(ctx, words, message="failed to execute {name}: {problem}")
    finally:
        if _holder(ctx, inode) == holder:
            _set(ctx, inode, 0)


def _limit(text: str | None) -> float:
    return float("inf") if text is None else wrappers.duration(text) or 0.0


def _inode(ctx: Context, target: str, named: bool) -> int | str:
    """The locked file's number, or what is wrong with it. A lone number is a descriptor that is open already."""
    if not named and is_digits(target):
        stream = (ctx.descriptors or {}).get(int(target))
        if stream is None:
            return f"{target}: Bad file descriptor"
        return stream.inode if isinstance(stream, FileStream) else -int(target)
    try:
        if not ctx.files.exists(target):
            ctx.files.write(target, b"", mode=0o666)
        return ctx.files.stat(target).number
    except OSError as error:
        return f"cannot open lock file {target}: {describe(error)}"


def _parent(ctx: Context) -> int:
    own = ctx.machine.processes.get(ctx.pid)
    return own.ppid if own is not None else 0


def _holder(ctx: Context, inode: int) -> int:
    """Who holds it: 0 where nobody does any more."""
    pid = ctx.machine.counters.get(f"lock {inode}", 0)
    return pid if ctx.machine.processes.get(pid) is not None else 0


def _set(ctx: Context, inode: int, holder: int) -> None:
    ctx.machine.counters = {**ctx.machine.counters, f"lock {inode}": holder}


def _wait(ctx: Context, inode: int, own: int, seconds: float) -> bool:
    """Wait until the lock is free."""
    end = ctx.machine.clock.now + seconds
    while _holder(ctx, inode) not in (0, own):
        if ctx.machine.clock.now >= end:
            return False
        ctx.sleep(min(0.1, end - ctx.machine.clock.now))
    return True
