"""watch of procps-ng: run a command again and again; without a terminal, one screen of it."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool

_TOOL = Tool(
    "watch [options] command",
    "b,beep c,color d,differences=? e,errexit g,chgexit q,equexit= n,interval= p,precise t,no-title "
"w,no-wrap x,exec v,version h,help",
    "watch from procps-ng 4.0.2", permute=False, hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if not options.operands:
        ctx.stderr.write(f"\nUsage:\n {_TOOL.usage}\n".encode("utf-8", "surrogateescape"))
        return 1
    try:
        interval = max(float(options.value("n") or 2.0), 0.1)
    except ValueError:
        ctx.err(f"failed to parse argument: '{options.value('n')}'")
        return 1
    command = " ".join(options.operands)
    if not options.has("t"):
        moment = ctx.machine.clock.time()
        left = f"Every {interval:.1f}s: {command}"
        right = f"{ctx.machine.spec.hostname}: {moment:%a %b} {moment.day:2d} {moment:%H:%M:%S %Y}"
        ctx.line(f"{left}{right:>{max(80 - len(left), len(right) + 1)}}")
        ctx.line()
    ctx.run(options.operands if options.has("x") else ["sh", "-c", command])
    ctx.sleep(interval)
    return 0
