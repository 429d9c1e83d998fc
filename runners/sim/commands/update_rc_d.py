"""update-rc.d of init-system-helpers: whether an init script, or the unit of its name, starts with the machine."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.systemd import manager

NAMES = ("update-rc.d",)
PATH = "/usr/sbin/update-rc.d"

_USAGE = """usage: update-rc.d [-f] <basename> remove
       update-rc.d [-f] <basename> defaults
       update-rc.d [-f] <basename> defaults-disabled
       update-rc.d <basename> disable|enable [S|2|3|4|5]
\t\t-f: force

The disable|enable API is not stable and might change in the future.
"""


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if word not in ("-f", "-n")]
    if len(words) < 2 or words[1] not in ("remove", "defaults", "defaults-disabled", "enable", "disable"):
        problem = "not enough arguments" if len(words) < 2 else f"unknown mode {words[1]}"
        ctx.stderr.write(f"update-rc.d: error: {problem}\n{_USAGE}".encode("utf-8", "surrogateescape"))
        return 1
    name, verb = words[:2]
    if not ctx.files.exists(f"/etc/init.d/{name}") and verb != "remove":
        ctx.stderr.write(f"update-rc.d: error: unable to read /etc/init.d/{name}\n".encode("utf-8", "surrogateescape"))
        return 1
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"insserv: Permission denied\nupdate-rc.d: error: insserv rejected the script header\n")
        return 1
    change = manager.enable if verb in ("enable", "defaults") else manager.disable
    try:
        change(ctx.machine, name)
    except manager.UnitError:
        return 0
    return 0
