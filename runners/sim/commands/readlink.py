"""readlink: print resolved symbolic links or canonical file names."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse, usage_error


def main(ctx: Context) -> int:
    options = parse(
        ctx, "femnqsvz",
        ["canonicalize/f", "canonicalize-existing/e", "canonicalize-missing/m", "no-newline/n", "quiet/q", "silent/s",
         "verbose/v", "zero/z"],
        usage="Usage: readlink [OPTION]... FILE...\nPrint value of a symbolic link or canonical file name",
    )  # fmt: skip
    if not options.operands:
        usage_error(ctx, "missing operand")
    status = 0
    end = "\0" if options.has("z") else "" if options.has("n") and len(options.operands) == 1 else "\n"
    for name in options.operands:
        try:
            if options.has("m"):
                ctx.out(_missing(ctx, name) + end)
            elif options.has("f", "e"):
                found = ctx.files.find(name)
                if found.inode is None and options.has("e"):
                    status = 1
                    continue
                ctx.out(found.path + end)
            else:
                inode = ctx.files.stat(name, follow=False)
                if inode.target is None:
                    status = 1
                    if options.has("v"):
                        ctx.err(f"{name}: Invalid argument")
                    continue
                ctx.out(inode.target + end)
        except OSError as error:
            status = 1
            if options.has("v"):
                ctx.err(f"{name}: {describe(error)}")
    return status


def _missing(ctx: Context, name: str) -> str:
    try:
        return ctx.files.real_path(name)
    except OSError:
        return ctx.files.absolute(name)
