"""less, more: view files (without a terminal: copy them)."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe

NAMES = ("less", "more", "pager")


def main(ctx: Context) -> int:
    names = [word for word in ctx.args if not word.startswith(("-", "+")) or word == "-"]
    if "--version" in ctx.args:
        ctx.line("less 590 (GNU regular expressions)" if ctx.name != "more" else "more from util-linux 2.38.1")
        return 0
    status = 0
    for name in names or ["-"]:
        try:
            if name != "-" and ctx.files.stat(name).is_dir:
                ctx.line(f"{name} is a directory") if ctx.name != "more" else ctx.line(f"\n*** {name}: directory ***\n")
                status = 1
                continue
            reader = ctx.open(name)
            if ctx.name == "more" and name != "-" and not ctx.stdout.is_terminal:
                rule = ":" * 14
                ctx.line(f"{rule}\n{name}\n{rule}")
            while chunk := reader.read(65536):
                ctx.stdout.write(chunk)
        except OSError as error:
            if error.filename is None:
                raise
            ctx.stderr.write(
                f"{name}: {describe(error)}\n".encode("utf-8", "surrogateescape")
                if ctx.name != "more"
                else f"more: cannot open {name}: {describe(error)}\n".encode("utf-8", "surrogateescape")
            )
            status = 1
    return status
