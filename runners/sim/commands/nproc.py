"""nproc of coreutils: how many processing units there are."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.ps_columns import cpu_count
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool("nproc [OPTION]...", "all ignore=", "nproc (GNU coreutils) 9.1")


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.operands:
        _TOOL.fail(ctx, f"extra operand ‘{options.operands[0]}’")
    ignored = options.value("ignore") or "0"
    if not is_digits(ignored):
        ctx.err(f"invalid number to ignore: ‘{ignored}’")
        return 1
    ctx.line(str(max(cpu_count(ctx.machine) - int(ignored), 1)))
    return 0
