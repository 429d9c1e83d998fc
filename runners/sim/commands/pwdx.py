"""pwdx of procps-ng: where processes work."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.lifecycle import may_signal
from runners.sim.tool import Tool
from runners.text import is_digits

_TOOL = Tool("pwdx [options] pid...", "h,help V,version", "pwdx from procps-ng 4.0.2", hinted=False)

_USAGE = """
Usage:
 pwdx [options] pid...

Options:
 -h, --help     display this help and exit
 -V, --version  output version information and exit

For more details see pwdx(1).
"""


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        ctx.stderr.write(_USAGE.encode())
        return 1
    status = 0
    for word in options.operands:
        digits = word.removeprefix("/proc/")
        if not is_digits(digits):
            ctx.err(f"invalid process id: {word}")
            return 1
        process = ctx.machine.processes.get(int(digits))
        if process is None:
            ctx.stderr.write(f"{word}: No such process\n".encode())
            status = 1
        elif not may_signal(ctx.cred, process):
            ctx.stderr.write(f"{word}: Permission denied\n".encode())
            status = 1
        else:
            ctx.line(f"{word}: {process.cwd}")
    return status
