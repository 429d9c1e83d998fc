"""basename: strip directory and suffix from file names."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "+as:z", ["multiple/a", "suffix=/s", "zero/z"],
        usage="Usage: basename NAME [SUFFIX]\n  or:  basename OPTION... NAME...",
    )  # fmt: skip
    names = options.operands
    suffix = options.value("s") or ""
    if not names:
        usage_error(ctx, "missing operand")
    if not options.has("a", "s"):
        if len(names) > 2:
            usage_error(ctx, f"extra operand ‘{names[2]}’")
        suffix = names[1] if len(names) > 1 else ""
        names = names[:1]
    for name in names:
        base = name.rstrip("/").rpartition("/")[2] if name.rstrip("/") else name[:1]
        if suffix and base != suffix and base.endswith(suffix):
            base = base[: -len(suffix)]
        ctx.out(base + ("\0" if options.has("z") else "\n"))
    return 0
