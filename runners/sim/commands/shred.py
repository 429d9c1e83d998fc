"""shred of coreutils 9.1: overwrite a file so that nothing of it is left."""

from __future__ import annotations

import hashlib

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.files.content import Content
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool(
    "shred [OPTION]... FILE...", "f,force n,iterations= random-source= s,size= u remove=? v,verbose x,exact z,zero",
    "shred (GNU coreutils) 9.1",
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "missing file operand")
    text = options.value("n") or "3"
    if not is_digits(text):
        ctx.err(f"invalid number of passes: ‘{text}’")
        return 1
    status = 0
    for path in options.operands:
        try:
            _shred(ctx, path, int(text), zero=options.has("z"), exact=options.has("x"), told=options.has("v"))
            if options.has("u", "remove"):
                _remove(ctx, path, told=options.has("v"))
        except OSError as error:
            ctx.err(f"{path}: failed to open for writing: {describe(error)}")
            status = 1
    return status


def _shred(ctx: Context, path: str, passes: int, *, zero: bool, exact: bool, told: bool) -> None:
    ctx.files.stat(path)
    inode = ctx.files.open_for_writing(path, truncate=False)
    length = inode.size if exact else -(-inode.size // 4096) * 4096
    total = passes + zero
    for number in range(1, total + 1):
        if told:
            ctx.err(f"{path}: pass {number}/{total} ({'000000' if number > passes else 'random'})...")
    ctx.spend(2 + (length * total >> 16))
    seed = f"{ctx.machine.seed}:{ctx.machine.count('shred')}"
    noise = Content.filled(b"\0" if zero else hashlib.shake_128(seed.encode()).digest(4096), length)
    ctx.files.write(path, noise)


def _remove(ctx: Context, path: str, *, told: bool) -> None:
    """Rename it to ever shorter names of zeros before it is unlinked."""
    folder, slash, name = path.rpartition("/")
    now = path
    if told:
        ctx.err(f"{path}: removing")
    for length in range(len(name), 0, -1):
        shorter = f"{folder}{slash}{'0' * length}"
        if ctx.files.exists(shorter):
            continue
        ctx.files.rename(now, shorter)
        if told:
            ctx.err(f"{now}: renamed to {shorter}")
        now = shorter
    ctx.files.unlink(now)
    if told:
        ctx.err(f"{path}: removed")
