"""shutdown, reboot, poweroff and halt: switch the machine off or on again."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.power import power_off, reboot
from runners.sim.tool import Tool
from runners.text import is_digits

NAMES = ("shutdown", "reboot", "poweroff", "halt", "init", "telinit", "runlevel")
PATH = "/sbin/shutdown"

_SHUTDOWN = Tool(
    "shutdown [OPTIONS...] [TIME] [WALL...]",
    "H,halt P,poweroff r,reboot h k c show no-wall help",
    "systemd 252 (252.22-1~deb12u1)",
    hinted=False,
)
_OTHER = Tool(
    "{name} [OPTIONS...]",
    "f,force p,poweroff w,wtmp-only d,no-wtmp no-wall n,no-sync halt reboot help",
    "systemd 252 (252.22-1~deb12u1)",
    hinted=False,
)


def main(ctx: Context) -> int:
    if ctx.name == "runlevel":
        ctx.line("N 5")
        return 0
    if ctx.name in ("init", "telinit"):
        return _init(ctx)
    options = (_SHUTDOWN if ctx.name == "shutdown" else _OTHER).parse(ctx)
    if ctx.cred.uid != 0:
        verb = {"shutdown": "Failed to schedule shutdown", "reboot": "Failed to set wall message, ignoring"}.get(
            ctx.name
        )
        ctx.stderr.write(
            f"{verb or 'Call to ' + ctx.name + ' failed'}: Interactive authentication required.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        if ctx.name == "reboot":
            ctx.stderr.write(b"Call to Reboot failed: Interactive authentication required.\n")
        return 1
    if ctx.name == "reboot" and not options.has("p", "halt"):
        reboot(ctx.machine)
        return 0
    if ctx.name in ("poweroff", "halt", "reboot"):
        power_off(ctx.machine)
        return 0
    planned = [event for event in ctx.machine.events if event.kind == "power"]
    if options.has("show"):
        if not planned:
            ctx.stderr.write(b"No scheduled shutdown.\n")
            return 1
        kind = "Reboot" if planned[0].argument == "reboot" else "Shutdown"
        at = ctx.machine.clock.time(planned[0].due)
        ctx.stderr.write(
            f"{kind} scheduled for {at:%a %Y-%m-%d %H:%M:%S} UTC, use 'shutdown -c' to cancel.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 0
    if options.has("c", "k"):
        if options.has("c"):
            ctx.machine.events = tuple(event for event in ctx.machine.events if event.kind != "power")
        return 0
    when = options.operands[0] if options.operands else "+1"
    minutes = when.removeprefix("+")
    known = is_digits(minutes) and len(minutes) < 10
    if when != "now" and not known and ":" not in when:
        ctx.stderr.write(f"Failed to parse time specification: {when}\n".encode("utf-8", "surrogateescape"))
        return 1
    delay = 0.0 if when == "now" or not is_digits(minutes) else float(minutes) * 60
    restart = options.has("r")
    if delay:
        at = ctx.machine.clock.time(ctx.machine.clock.now + delay)
        kind = "reboot" if restart else "poweroff"
        ctx.stderr.write(
            f"{'Reboot' if restart else 'Shutdown'} scheduled for {at:%a %Y-%m-%d %H:%M:%S} UTC, use "
            f"'shutdown -c' to cancel.\n".encode("utf-8", "surrogateescape")
        )
        ctx.machine.schedule(delay, "power", kind)
        return 0
    (reboot if restart else power_off)(ctx.machine)
    return 0


def _init(ctx: Context) -> int:
    level = ctx.args[0] if ctx.args else ""
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"init: must be superuser.\n")
        return 1
    if level == "6":
        reboot(ctx.machine)
    elif level == "0":
        power_off(ctx.machine)
    elif level in ("q", "Q"):
        return ctx.run(["systemctl", "daemon-reload"])
    return 0
