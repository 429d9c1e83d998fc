"""visudo: check the sudoers file (editing needs a terminal)."""

from __future__ import annotations

from runners.formats.sudoers import MAIN, load
from runners.sim.commands.context import Context
from runners.sim.commands.sudo import problem_text
from runners.sim.tool import Tool

PATH = "/usr/sbin/visudo"

_TOOL = Tool(
    "visudo [-chqsV] [[-f] sudoers ]",
    "c,check f,file= h q,quiet s,strict V O P I",
    "visudo version 1.9.13p3",
    hinted=False,
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("visudo version 1.9.13p3\nvisudo grammar version 50")
        return 0
    path = options.value("f") or (options.operands[0] if options.operands else MAIN)
    if ctx.cred.uid != 0 and not options.has("c"):
        ctx.err(f"{path}: Permission denied")
        return 1
    if not options.has("c"):
        ctx.err("no editor found (editor path = /usr/bin/editor)")
        return 1
    try:
        policy = load(ctx.files, path)
    except OSError as error:
        ctx.err(f"unable to open {path}: {error.strerror}")
        return 1
    for problem in policy.problems:
        ctx.stderr.write(problem_text(problem).encode("utf-8", "surrogateescape"))
    if policy.problems:
        return 1
    status = 0
    for file in policy.files:
        inode = ctx.files.stat(file)
        if path == MAIN and (inode.uid, inode.gid) != (0, 0):
            ctx.stderr.write(f"{file}: wrong owner (uid, gid) should be (0, 0)\n".encode("utf-8", "surrogateescape"))
            status = 1
        elif path == MAIN and inode.permissions != 0o440:
            ctx.stderr.write(f"{file}: bad permissions, should be mode 0440\n".encode("utf-8", "surrogateescape"))
            status = 1
        elif not options.has("q"):
            ctx.line(f"{file}: parsed OK")
    return status
