"""rmdir: remove empty directories."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe, quoted
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "pv", ["ignore-fail-on-non-empty", "parents/p", "verbose/v"],
        usage="Usage: rmdir [OPTION]... DIRECTORY...\nRemove the DIRECTORY(ies), if they are empty.",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing operand")
    status = 0
    for name in options.operands:
        path = name
        while path:
            if options.has("v"):
                ctx.line(f"rmdir: removing directory, {quoted(path)}")
            try:
                ctx.files.rmdir(path)
            except OSError as error:
                if not (error.errno == errno.ENOTEMPTY and options.has("ignore-fail-on-non-empty")):
                    what = "failed to remove" if path == name else "failed to remove directory"
                    ctx.err(f"{what} {quoted(path)}: {describe(error)}")
                    status = 1
                break
            path = path.rstrip("/").rpartition("/")[0] if options.has("p") else ""
    return status
