"""Commands that a command runs: with streams of its own, through the shell, and captured."""

from __future__ import annotations

from runners.sim.commands.context import Context, Reader, Writer
from runners.sim.commands.streams import Capture, release

NOT_FOUND = 127


def with_streams(ctx: Context, *, stdin: Reader | None = None, stdout: Writer | None = None) -> Context:
    """The same context with other standard streams, to run a child in."""
    return Context(
        machine=ctx.machine,
        argv=ctx.argv,
        files=ctx.files,
        environment=dict(ctx.environment),
        stdin=ctx.stdin if stdin is None else stdin,
        stdout=ctx.stdout if stdout is None else stdout,
        stderr=ctx.stderr,
        runner=ctx.runner,
        pid=ctx.pid,
        tty=ctx.tty,
        hub=ctx.hub,
    )


def shell(ctx: Context, text: str, *, stdin: Reader | None = None, stdout: Writer | None = None) -> int:
    """Run a line with `sh -c` as system(3) does; its exit status (127 where there is no shell)."""
    child = with_streams(ctx, stdin=stdin, stdout=stdout)
    try:
        return child.run(["sh", "-c", text])
    except OSError:
        return NOT_FOUND


def shell_output(ctx: Context, text: str) -> tuple[bytes, int]:
    """What a line writes to its standard output, and its exit status."""
    capture = Capture(ctx.machine)
    status = shell(ctx, text, stdout=capture)
    return bytes(capture.data), status


def finish(ctx: Context, stream: Reader | Writer) -> None:
    """Close what `Context.open` or `create` gave before the command ends; inherited streams stay open."""
    for index, opened in enumerate(ctx.opened):
        if opened is stream:
            del ctx.opened[index]
            release(opened)
            return
