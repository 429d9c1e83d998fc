"""The context of commands that run inside the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.sim.commands.context import Context
from runners.sim.shell import execution, redirections

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


class BuiltinContext(Context):
    """The context of a command that runs inside the shell: messages begin as the shell's do."""

    __slots__ = ("shell",)
    shell: Shell

    def err(self, text: str) -> None:
        self.shell.error(f"{self.name}: {text}")


def builtin_context(shell: Shell, argv: list[str]) -> BuiltinContext:
    """A context on the shell's own streams."""
    ctx = BuiltinContext(
        machine=shell.machine,
        argv=argv,
        files=shell.view,
        environment={},
        stdin=shell.fds.get(0, redirections.CLOSED),
        stdout=shell.fds.get(1, redirections.CLOSED),
        stderr=shell.fds.get(2, redirections.CLOSED),
        runner=execution.run_program,
        pid=shell.session.pid,
        tty=shell.session.tty,
        hub=shell.hub,
        descriptors=shell.fds,
    )
    ctx.shell = shell
    return ctx
