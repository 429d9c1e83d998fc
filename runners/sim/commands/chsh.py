"""chsh of shadow: the shell that a user logs in to."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tasks import accounts as files
from runners.sim.users import accounts


def main(ctx: Context) -> int:
    words = list(ctx.args)
    shell = words[words.index("-s") + 1] if "-s" in words[:-1] else None
    names = [word for word in words if not word.startswith("-") and word != shell]
    name = names[0] if names else accounts(ctx.machine).user_name(ctx.cred.uid)
    if accounts(ctx.machine).user(name) is None:
        ctx.err(f"user '{name}' does not exist")
        return 1
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"Password: \nchsh: PAM: Authentication failure\n")
        return 1
    if shell is None:
        ctx.line(f"Changing the login shell for {name}\nEnter the new value, or press ENTER for the default")
        return 0
    if not ctx.files.exists(shell):
        ctx.err(f"Warning: {shell} does not exist")
    files.edit(ctx.machine, "/etc/passwd", name, lambda fields: [*fields[:6], shell])
    return 0
