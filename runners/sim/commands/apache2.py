"""The Apache HTTP Server as a command, and its control script."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.lifecycle import Failure, spawn
from runners.sim.programs.apache import VERSION, check, unnamed
from runners.sim.programs.apache_config import CONFIG, ConfigError, Host, load

NAMES = ("apache2", "apachectl", "apache2ctl")
PATH = "/usr/sbin/apache2"
_VERBS = {
    "start": "start",
    "stop": "stop",
    "graceful-stop": "stop",
    "restart": "restart",
    "graceful": "reload",
}


def main(ctx: Context) -> int:
    words = ctx.args
    control = ctx.name != "apache2"
    if "-v" in words or "-V" in words:
        ctx.line(f"Server version: {VERSION}\nServer built:   2023-04-13T03:26:51")
        return 0
    if "-t" in words or (control and words[:1] == ["configtest"]):
        lines, status = check(ctx.machine, ctx.cred)
        return _said(ctx, [*lines, *_failed(ctx, control, status)], status)
    if "-S" in words:
        return _hosts(ctx)
    verb = words[words.index("-k") + 1] if words[:-1].count("-k") else "".join(words[:1])
    if control and verb in _VERBS:
        return ctx.run(["systemctl", _VERBS[verb], "apache2"])
    if control:
        usage = "start|stop|restart|graceful|graceful-stop|configtest|-t|-S|-v"
        ctx.stderr.write(f"Usage: {ctx.argv[0]} {usage}\n".encode("utf-8", "surrogateescape"))
        return 1
    said: list[str] = []
    started = spawn(ctx.machine, (PATH, *words), cred=ctx.cred, cwd=ctx.files.cwd, stderr=said)
    gone = isinstance(started, Failure) or ctx.machine.processes.get(started.pid) is None
    return _said(ctx, said, int(gone))


def _said(ctx: Context, lines: list[str], status: int) -> int:
    for line in lines:
        ctx.stderr.write(f"{line}\n".encode("utf-8", "surrogateescape"))
    return status


def _failed(ctx: Context, control: bool, status: int) -> list[str]:
    if not control or not status:
        return []
    return [f"Action '{' '.join(ctx.args)}' failed.", "The Apache error log may have more information."]


def _hosts(ctx: Context) -> int:
    try:
        config = load(ctx.machine, ctx.cred)
    except ConfigError as error:
        return _said(ctx, str(error).splitlines(), 1)
    _said(ctx, unnamed(ctx.machine, config), 0)
    ctx.line("VirtualHost configuration:")
    for host in config.hosts:
        ctx.line(f"{f'*:{host.port or chr(42)}':22} {_name(ctx, host)} ({CONFIG})")
    ctx.line(f'ServerRoot: "/etc/apache2"\nMain ErrorLog: "{config.error_log}"\nPidFile: "{config.pid_file}"')
    return 0


def _name(ctx: Context, host: Host) -> str:
    return host.names[0] if host.names else ctx.machine.network.interfaces[-1].address
