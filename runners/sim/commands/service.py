"""service of Debian's init-system-helpers: System V's way to the same units."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.systemctl import jobs
from runners.sim.systemd.manager import full_name, known, unit_file

PATH = "/usr/sbin/service"

_USAGE = "Usage: service < option > | --status-all | [ service_name [ command | --full-restart ] ]"


def main(ctx: Context) -> int:
    arguments = ctx.args
    if not arguments:
        ctx.stderr.write((_USAGE + "\n").encode("utf-8", "surrogateescape"))
        return 1
    if arguments[0] in ("--help", "-h", "--h"):
        ctx.line(_USAGE)
        return 0
    if arguments[0] in ("--version", "-V"):
        ctx.line("service ver. 1.65.2")
        return 0
    if arguments[0] == "--status-all":
        return _status_all(ctx)
    if len(arguments) < 2:
        ctx.stderr.write((_USAGE + "\n").encode("utf-8", "surrogateescape"))
        return 1
    name, verb = arguments[0], arguments[1]
    if unit_file(ctx.machine, full_name(name)).load_state == "not-found" and verb != "status":
        if verb in ("start", "stop", "restart", "reload", "force-reload", "try-restart"):
            word = "reload-or-restart" if verb == "force-reload" else verb.removeprefix("try-")
            ctx.stderr.write(
                f"Failed to {word} {full_name(name)}: Unit {full_name(name)} not found.\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
            return 5
        ctx.stderr.write(f"{name}: unrecognized service\n".encode("utf-8", "surrogateescape"))
        return 1
    if verb == "--full-restart":
        return jobs.job(ctx, "stop", [name], quiet=True) or jobs.job(ctx, "start", [name])
    if verb == "status":
        return ctx.run(["systemctl", "--no-pager", "status", full_name(name)])
    if verb in ("start", "stop", "restart", "reload", "force-reload", "try-restart"):
        return jobs.job(ctx, verb, [name])
    script = f"/etc/init.d/{name}"
    if ctx.files.exists(script):
        return ctx.run([script, *arguments[1:]])
    ctx.stderr.write(f"{name}: unrecognized service\n".encode("utf-8", "surrogateescape"))
    return 1


def _status_all(ctx: Context) -> int:
    try:
        names = sorted(ctx.files.names("/etc/init.d"))
    except OSError:
        names = [name.removesuffix(".service") for name in known(ctx.machine) if name.endswith(".service")]
    for name in names:
        if name.startswith((".", "README")):
            continue
        active = ctx.machine.systemd.get(full_name(name)).active == "active"
        ctx.line(f" [ {'+' if active else '-'} ]  {name}")
    return 0
