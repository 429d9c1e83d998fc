"""timedatectl of systemd 252: clock and time zone."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool

_TOOL = Tool(
    "timedatectl [OPTIONS...] COMMAND ...",
    "h,help no-pager no-ask-password H,host= M,machine= adjust-system-clock monitor p,property= a,all value",
    "systemd 252 (252.22-1~deb12u1)",
    hinted=False,
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    verb, *rest = options.operands or ["status"]
    now = ctx.machine.clock.time()
    synchronised = _synchronised(ctx)
    if verb == "status":
        rows = [
            ("Local time", f"{now:%a %Y-%m-%d %H:%M:%S} UTC"), ("Universal time", f"{now:%a %Y-%m-%d %H:%M:%S} UTC"),
            ("RTC time", f"{now:%a %Y-%m-%d %H:%M:%S}"), ("Time zone", "Etc/UTC (UTC, +0000)"),
            ("System clock synchronized", "yes" if synchronised else "no"),
            ("NTP service", "active" if synchronised else "inactive"), ("RTC in local TZ", "no"),
        ]  # fmt: skip
        for label, value in rows:
            ctx.line(f"{label:>25}: {value}")
        return 0
    if verb == "show":
        values = {
            "Timezone": "Etc/UTC", "LocalRTC": "no", "CanNTP": "yes", "NTP": "yes" if synchronised else "no",
            "NTPSynchronized": "yes" if synchronised else "no", "TimeUSec": f"{now:%a %Y-%m-%d %H:%M:%S} UTC",
            "RTCTimeUSec": f"{now:%a %Y-%m-%d %H:%M:%S} UTC",
        }  # fmt: skip
        wanted = options.values("p")
        for name, value in values.items():
            if not wanted or name in wanted:
                ctx.line(value if options.has("value") else f"{name}={value}")
        return 0
    if verb == "list-timezones":
        ctx.line("Etc/UTC\nUTC")
        return 0
    if verb in ("set-time", "set-timezone", "set-ntp", "set-local-rtc"):
        if ctx.cred.uid != 0:
            ctx.stderr.write(b"Failed to set time: Interactive authentication required.\n")
            return 1
        if verb == "set-time" and synchronised:
            ctx.stderr.write(b"Failed to set time: Automatic time synchronization is enabled\n")
            return 1
        zone = rest[0] if rest else ""
        known = zone in ("UTC", "Etc/UTC") or (zone != "" and ctx.files.exists(f"/usr/share/zoneinfo/{zone}"))
        if verb == "set-timezone" and not known:
            message = f"Failed to set time zone: Invalid or not installed time zone '{zone}'\n"
            ctx.stderr.write(message.encode("utf-8", "surrogateescape"))
            return 1
        if verb == "set-ntp" and rest:
            action = "start" if rest[0] in ("true", "yes", "1", "on") else "stop"
            return ctx.run(["systemctl", action, "systemd-timesyncd.service"])
        return 0
    ctx.stderr.write(f"Unknown command verb {verb}.\n".encode("utf-8", "surrogateescape"))
    return 1


def _synchronised(ctx: Context) -> bool:
    names = ("systemd-timesyncd.service", "chrony.service", "ntp.service", "ntpsec.service")
    return any(ctx.machine.systemd.get(name).active == "active" for name in names)
