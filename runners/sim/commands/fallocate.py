"""fallocate: preallocate space to a file."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, size
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(
        ctx, "cdil:no:pvxz", ["length=/l", "offset=/o", "keep-size/n", "punch-hole/p", "dig-holes/d", "zero-range/z", "verbose/v"],
        usage="Usage:\n fallocate [options] <filename>", version="fallocate from util-linux 2.38.1",
    )  # fmt: skip
    if not options.operands:
        ctx.die("no filename specified")
    name = options.operands[0]
    text = options.value("l")
    if text is None:
        ctx.die("no length argument specified")
    length = size(text)
    if not length:
        ctx.die("invalid length value specified")
    offset = size(options.value("o") or "0") or 0
    try:
        inode = ctx.files.open_for_writing(name, truncate=False)
        if inode.content.size < length + offset and not options.has("n"):
            ctx.files.truncate(name, length + offset)
    except OSError as error:
        if error.errno == 28:
            ctx.die(f"fallocate failed: {describe(error)}")
        ctx.die(f"cannot open {name}: {describe(error)}")
    return 0
