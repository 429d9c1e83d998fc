"""run-parts of debianutils, and sync: run a folder of scripts; flush what is not yet written."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context

NAMES = ("run-parts", "sync")
PATH = "/bin/run-parts"


def main(ctx: Context) -> int:
    if ctx.name == "sync":
        for path in ctx.args:
            if not path.startswith("-") and not ctx.files.exists(path):
                ctx.err(f"error opening '{path}': No such file or directory")
                return 1
        return 0
    folders = [word for word in ctx.args if not word.startswith("-")]
    listing = "--test" in ctx.args or "--list" in ctx.args
    if not folders:
        ctx.stderr.write(b"run-parts: missing operand\nTry `run-parts --help' for more information.\n")
        return 1
    try:
        names = sorted(ctx.files.names(folders[-1]))
    except OSError as error:
        ctx.err(f"failed to open directory {folders[-1]}: {error.strerror}")
        return 1
    status = 0
    for name in names:
        path = f"{folders[-1].rstrip('/')}/{name}"
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or not ctx.files.access(path, 1) or ctx.files.stat(path).is_dir:
            continue
        if listing:
            ctx.line(path)
            continue
        code = ctx.run([path])
        if code:
            ctx.err(f"{path} exited with return code {code}")
            status = 1
    return status
