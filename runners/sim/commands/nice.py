"""nice of coreutils: run a command with another niceness, or print the own one."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool("nice [OPTION] [COMMAND [ARG]...]", "n,adjustment=", "nice (GNU coreutils) 9.1", status=125, permute=False)


def main(ctx: Context) -> int:
    arguments = list(ctx.args)
    if arguments and arguments[0][:1] == "-" and is_digits(arguments[0].lstrip("-")):
        arguments[:1] = ["-n", arguments[0][1:]]
    options = _TOOL.parse(ctx, arguments)
    own = ctx.machine.processes.get(ctx.pid)
    current = own.nice if own is not None else 0
    text = options.value("n")
    if not options.operands:
        if text is not None:
            _TOOL.fail(ctx, "a command must be given with an adjustment")
        ctx.line(str(current))
        return 0
    adjustment = 10
    if text is not None:
        try:
            adjustment = int(text)
        except ValueError:
            ctx.err(f"invalid adjustment ‘{text}’")
            return 125
    if adjustment < 0 and ctx.cred.uid != 0:
        ctx.err("cannot set niceness: Permission denied")
        adjustment = 0
    if own is None:
        return ctx.become(options.operands)
    ctx.machine.processes.put(own._replace(nice=max(-20, min(19, current + adjustment))))
    try:
        return ctx.become(options.operands)
    finally:
        still = ctx.machine.processes.get(ctx.pid)
        if still is not None:
            ctx.machine.processes.put(still._replace(nice=current))
