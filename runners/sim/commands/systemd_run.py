"""systemd-run of systemd 252: a command as a service of its own, made on the spot, at once or after a while."""

from __future__ import annotations

import shlex

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.impersonation import as_cred
from runners.sim.machine import mix
from runners.sim.systemctl import facts
from runners.sim.systemd import execute, manager
from runners.sim.systemd.units import unit_file
from runners.sim.tool import Tool

_TOOL = Tool(
    "systemd-run [OPTIONS...] COMMAND [ARGUMENTS...]",
    "u,unit= p,property= d,same-dir E,setenv= t,pty P,pipe q,quiet G,collect S,shell h,help description= slice= "
    "uid= gid= nice= working-directory= remain-after-exit scope user system wait no-block service-type= "
    "on-active= on-boot= on-calendar= on-unit-active= timer-property= no-ask-password version",
    "systemd 252 (252.22-1~deb12u1)", permute=False,
)  # fmt: skip
_TIMES = {"on-active": "OnActiveSec", "on-boot": "OnBootSec", "on-calendar": "OnCalendar",
          "on-unit-active": "OnUnitActiveSec"}  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    words = list(options.operands)
    if not words and not options.has("S"):
        ctx.stderr.write(b"Command line to execute required.\n")
        return 1
    words = words or [ctx.environment.get("SHELL", "/bin/bash")]
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"Failed to start transient service unit: Interactive authentication required.\n")
        return 1
    number = ctx.machine.count("systemd-run")
    made = f"run-r{mix(f'{ctx.machine.seed} transient {number}'):016x}{mix(f'{number}'):016x}"
    name = (options.value("u") or made).removesuffix(".service").removesuffix(".scope").removesuffix(".timer")
    if options.has("scope"):
        _say(ctx, options.has("q"), f"Running scope as unit: {name}.scope")
        return ctx.become(words)
    program = _found(ctx, words[0])
    if program is None:
        ctx.stderr.write(
            f"Failed to find executable {words[0]}: No such file or directory\n".encode("utf-8", "surrogateescape")
        )
        return 1
    unit = f"{name}.service"
    if manager.state_of(ctx.machine, unit).active in ("active", "activating"):
        text = f"Failed to start transient service unit: Unit {unit} was already loaded or has a fragment file."
        ctx.stderr.write(f"{text}\n".encode("utf-8", "surrogateescape"))
        return 1
    line = shlex.join([program, *words[1:]])
    settings = [f"ExecStart={line}", *options.values("p")]
    settings += [f"Environment={value}" for value in options.values("E")]
    for option, key in (("uid", "User"), ("gid", "Group"), ("nice", "Nice"), ("working-directory", "WorkingDirectory"),
                        ("service-type", "Type")):  # fmt: skip
        value = options.value(option)
        if value is not None:
            settings.append(f"{key}={value}")
    if options.has("remain-after-exit"):
        settings.append("RemainAfterExit=yes")
    about = options.value("description") or line
    _write(ctx, unit, f"[Unit]\nDescription={about}\n\n[Service]\n" + "".join(f"{one}\n" for one in settings))
    times = [(_TIMES[option], options.value(option)) for option in _TIMES if options.value(option) is not None]
    if times:
        rows = "".join(f"{key}={value}\n" for key, value in times)
        _write(ctx, f"{name}.timer", f"[Unit]\nDescription={about}\n\n[Timer]\n{rows}RemainAfterElapse=no\n")
    manager.daemon_reload(ctx.machine)
    try:
        if times:
            manager.start(ctx.machine, f"{name}.timer")
            _say(ctx, options.has("q"), f"Running timer as unit: {name}.timer\nWill run service as unit: {unit}")
            return 0
        if options.has("P", "t"):
            _say(ctx, options.has("q"), f"Running as unit: {unit}")
            return _here(ctx, unit, [program, *words[1:]])
        _say(ctx, options.has("q"), f"Running as unit: {unit}")
        return _start(ctx, unit, waiting=options.has("wait"), quiet=options.has("q"))
    except manager.UnitError as error:
        ctx.stderr.write(f"Failed to start transient service unit: {error.text}\n".encode("utf-8", "surrogateescape"))
        return 1


def _start(ctx: Context, unit: str, *, waiting: bool, quiet: bool) -> int:
    began = ctx.machine.clock.now
    manager.start(ctx.machine, unit)
    while waiting and manager.state_of(ctx.machine, unit).active in ("active", "activating"):
        ctx.sleep(1.0)
    state = manager.state_of(ctx.machine, unit)
    if not waiting:
        return 0
    spent = ctx.machine.clock.now - began
    _say(ctx, quiet, f"Finished with result: {state.result}\nMain processes terminated with: {facts.ended(state)}\n"
                     f"Service runtime: {spent * 1000:.0f}ms\nCPU time consumed: {state.cpu * 1000:.0f}ms")  # fmt: skip
    return state.exit_status if state.exit_code == "exited" else 0 if state.result == "success" else 1


def _here(ctx: Context, name: str, argv: list[str]) -> int:
    """Run it as the unit says, on the caller's streams. The status is systemd's where that cannot be set up."""
    unit = unit_file(ctx.machine, name)
    try:
        cred = execute.identity(ctx.machine, unit)
    except execute.StepFailed as failed:
        return failed.status
    variables = execute.environment(ctx.machine, unit, cred)
    return ctx.runner(argv, as_cred(ctx, cred, argv, variables, unit.get("Service", "WorkingDirectory") or "/"))


def _found(ctx: Context, word: str) -> str | None:
    if "/" in word:
        return word if ctx.files.exists(word) else None
    for folder in ctx.environment.get("PATH", "/usr/bin:/bin").split(":"):
        if ctx.files.exists(f"{folder}/{word}"):
            return f"{folder}/{word}"
    return None


def _write(ctx: Context, name: str, text: str) -> None:
    folder, view = "/run/systemd/transient", ctx.machine.view()
    try:
        if not view.exists(folder):
            view.mkdir(folder, 0o755)
        view.write(f"{folder}/{name}", text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        ctx.die(f"Failed to start transient service unit: {describe(error)}")


def _say(ctx: Context, quiet: bool, text: str) -> None:
    if not quiet:
        ctx.stderr.write(f"{text}\n".encode("utf-8", "surrogateescape"))
