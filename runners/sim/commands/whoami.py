"""whoami: print the effective user name."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse, usage_error
from runners.sim.users import accounts


def main(ctx: Context) -> int:
    options = parse(
        ctx, "", usage="Usage: whoami [OPTION]...\nPrint the user name associated with the current effective user ID."
    )
    if options.operands:
        usage_error(ctx, f"extra operand ‘{options.operands[0]}’")
    user = accounts(ctx.machine).user(ctx.cred.uid)
    if user is None:
        ctx.die(f"cannot find name for user ID {ctx.cred.uid}")
    ctx.line(user.name)
    return 0
