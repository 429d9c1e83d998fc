"""realpath: print the resolved path."""

from __future__ import annotations

import posixpath

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse, usage_error
from runners.sim.files.tree import fail


def main(ctx: Context) -> int:
    options = parse(
        ctx, "eLmPqsz",
        ["canonicalize-existing/e", "canonicalize-missing/m", "logical/L", "physical/P", "quiet/q", "relative-to=",
         "relative-base=", "strip/s", "no-symlinks/s", "zero/z"],
        usage="Usage: realpath [OPTION]... FILE...\nPrint the resolved absolute file name;",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing operand")
    status = 0
    for name in options.operands:
        try:
            if options.has("s"):
                path = ctx.files.absolute(name)
            else:
                try:
                    found = ctx.files.find(name)
                    if found.inode is None and options.has("e"):
                        raise fail(2, name)
                    path = found.path
                except OSError:
                    if not options.has("m"):
                        raise
                    path = ctx.files.absolute(name)
            base = options.value("relative-to")
            if base is not None:
                path = posixpath.relpath(path, ctx.files.real_path(base))
            ctx.out(path + ("\0" if options.has("z") else "\n"))
        except OSError as error:
            status = 1
            if not options.has("q"):
                ctx.err(f"{name}: {describe(error)}")
    return status
