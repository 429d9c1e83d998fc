"""fallocate: preallocate or deallocate space to a file."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import human, size
from runners.sim.commands.options import parse, usage_error
from runners.sim.files.content import Content
from runners.text import is_digits

_LONG = (
    "collapse-range/c", "dig-holes/d", "insert-range/i", "length=/l", "keep-size/n", "offset=/o", "punch-hole/p",
    "zero-range/z", "posix/x", "verbose/v",
)  # fmt: skip
_USAGE = "Usage:\n fallocate [options] <filename>\n\nPreallocate space to, or deallocate space from a file."


def main(ctx: Context) -> int:
    options = parse(ctx, "cdil:no:pzxvV", (*_LONG,), usage=_USAGE, version="fallocate from util-linux 2.38.1")
    if options.has("V"):
        ctx.line("fallocate from util-linux 2.38.1")
        return 0
    digging = options.has("d")
    text = options.value("l")
    if text is None and not digging:
        ctx.die("no length argument specified")
    length = 0 if text is None else size(text) or 0
    if text is not None and length <= 0:
        ctx.die("invalid length value specified")
    offset = size(options.value("o") or "0")
    if offset is None:
        ctx.die("invalid offset value specified")
    if not options.operands:
        ctx.die("no filename specified")
    if len(options.operands) > 1:
        usage_error(ctx, "unexpected number of arguments", hinted=False)
    name = options.operands[0]
    try:
        inode = ctx.files.open_for_writing(name, truncate=False)
    except OSError as error:
        ctx.die(f"cannot open {name}: {error.strerror}")
    if not inode.is_file:
        ctx.die("fallocate failed: Operation not supported")
    end = offset + length
    grows = not options.has("n", "p", "d", "c") and end > inode.size
    if grows:
        try:
            ctx.files.write(name, inode.content.concat(Content.filled(b"\0", end - inode.size)))
        except OSError as error:
            ctx.die(f"fallocate failed: {error.strerror}")
    elif options.has("p", "z"):
        _zero(ctx, name, offset, min(end, inode.size))
    if options.has("v"):
        ctx.line(
            f"{name}: {_exact(length)} ({length} bytes) {'deallocated' if options.has('p', 'd') else 'allocated'}."
        )
    return 0


def _exact(length: int) -> str:
    """A size as util-linux words it: `10 B`, `1 MiB`."""
    shown = human(length)
    return f"{shown} B" if is_digits(shown) else f"{shown[:-1].removesuffix('.0')} {shown[-1]}iB"


def _zero(ctx: Context, name: str, start: int, end: int) -> None:
    """Put zeros where the hole is punched; the size stays."""
    content = ctx.files.content(name)
    if start >= end:
        return
    tail = content.read(end, content.size)
    ctx.spend(1 + (content.size >> 10))
    ctx.files.write(name, content.resized(start).resized(end).append(tail))
