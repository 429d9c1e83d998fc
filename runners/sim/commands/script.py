"""script of util-linux 2.38.1: write down what a command shows on its terminal."""

from __future__ import annotations

from runners.sim.commands import children
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.streams import Capture
from runners.sim.tool import Tool

_TOOL = Tool(
    "script [options] [file]",
    "a,append c,command= e,return f,flush force E,echo= I,log-in= O,log-out= B,log-io= m,logging-format= "
    "o,output-limit= q,quiet t,timing=? T,log-timing= h,help V,version",
    "script from util-linux 2.38.1",
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    name = options.value("O", "B") or (options.operands[0] if options.operands else "typescript")
    command = options.value("c")
    if command is None:
        # A shell without anybody who types ends at once.
        command = ":"
    try:
        log = ctx.create(name, append=options.has("a"))
    except OSError as error:
        ctx.err(f"cannot open {name}: {describe(error)}")
        return 1
    if not options.has("q"):
        ctx.line(f"Script started, output log file is '{name}'.")
    began = f"{ctx.machine.clock.time():%Y-%m-%d %H:%M:%S+00:00}"
    log.write(
        f'Script started on {began} [COMMAND="{command}" <not executed on terminal>]\n'.encode(
            "utf-8", "surrogateescape"
        )
    )
    shown = Capture(ctx.machine)
    child = children.with_streams(ctx, stdout=shown)
    child.stderr = shown
    status = child.run([ctx.environment.get("SHELL") or "/bin/sh", "-c", command])
    # What comes from a terminal ends its lines as one does.
    data = bytes(shown.data).replace(b"\n", b"\r\n")
    ctx.stdout.write(data)
    log.write(data)
    ended = f"{ctx.machine.clock.time():%Y-%m-%d %H:%M:%S+00:00}"
    log.write(f'\nScript done on {ended} [COMMAND_EXIT_CODE="{status}"]\n'.encode())
    if not options.has("q"):
        ctx.line("Script done.")
    return status if options.has("e") else 0
