"""tee: copy standard input to files and to standard output."""

from __future__ import annotations

import errno

from runners.sim.commands.context import Context, Writer
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    options = parse(
        ctx, "aip", ["append/a", "ignore-interrupts/i", "output-error=?{warn,warn-nopipe,exit,exit-nopipe}/p"],
        usage="Usage: tee [OPTION]... [FILE]...\nCopy standard input to each FILE, and also to standard output.",
    )  # fmt: skip
    status = 0
    targets: list[tuple[str, Writer]] = []
    for name in options.operands:
        try:
            targets.append((name, ctx.create(name, append=options.has("a"))))
        except OSError as error:
            ctx.err(f"{name}: {describe(error)}")
            status = 1
    while chunk := ctx.stdin.read(65536):
        ctx.stdout.write(chunk)
        for name, writer in list(targets):
            try:
                writer.write(chunk)
            except OSError as error:
                if error.errno == errno.EPIPE:
                    raise
                ctx.err(f"{name}: {describe(error)}")
                targets.remove((name, writer))
                status = 1
    return status
