"""unlink, link: one call of the kernel each."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import parse, usage_error

NAMES = ("unlink", "link")


def main(ctx: Context) -> int:
    wanted = 2 if ctx.name == "link" else 1
    options = parse(
        ctx, "+",
        usage="Usage: link FILE1 FILE2\nCall the link function to create a link named FILE2 to an existing FILE1."
        if wanted == 2 else "Usage: unlink FILE\nCall the unlink function to remove the specified FILE.",
    )  # fmt: skip
    names = options.operands
    if not names:
        usage_error(ctx, "missing operand")
    if len(names) < wanted:
        usage_error(ctx, f"missing operand after ‘{names[-1]}’")
    if len(names) > wanted:
        usage_error(ctx, f"extra operand ‘{names[wanted]}’")
    try:
        if wanted == 2:
            ctx.files.link(names[0], names[1])
        else:
            ctx.files.unlink(names[0])
    except OSError as error:
        if wanted == 2:
            ctx.die(f"cannot create link {quoted(names[1])} to {quoted(names[0])}: {describe(error)}")
        ctx.die(f"cannot unlink {quoted(names[0])}: {describe(error)}")
    return 0
