"""invoke-rc.d of Debian's init-system-helpers: what packages start their services by."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.systemd.manager import full_name, unit_file

NAMES = ("invoke-rc.d",)
PATH = "/usr/sbin/invoke-rc.d"


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if len(words) < 2:
        ctx.stderr.write(b"invoke-rc.d: syntax error: not enough parameter\n")
        return 103
    name, action = words[0], words[1]
    if unit_file(ctx.machine, full_name(name)).load_state == "not-found":
        ctx.stderr.write(
            f"invoke-rc.d: unknown initscript, /etc/init.d/{name} not found.\n".encode("utf-8", "surrogateescape")
        )
        return 100
    verb = {"force-reload": "reload-or-restart"}.get(action, action)
    return ctx.run(["systemctl", verb, full_name(name)])
