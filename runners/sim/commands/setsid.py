"""setsid of util-linux 2.38.1: run a program in a session of its own."""

from __future__ import annotations

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.tool import Tool

_TOOL = Tool(
    "setsid [options] <program> [arguments ...]", "c,ctty f,fork w,wait h,help V,version",
    "setsid from util-linux 2.38.1", permute=False,
)  # fmt: skip
_FAILED = "failed to execute {name}: {problem}"


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        _TOOL.fail(ctx, "no command specified")
    if options.has("f") and not options.has("w"):
        return ctx.run(["sh", "-c", '"$@" &', "sh", *options.operands])
    return wrappers.run(ctx, options.operands, message=_FAILED, in_place=True)
