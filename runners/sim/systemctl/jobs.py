"""The verbs of systemctl that change something: jobs on units, unit files, signals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runners.sim.commands.context import Context
from runners.sim.signals import number_of
from runners.sim.systemctl.lists import matching
from runners.sim.systemctl.status import warning
from runners.sim.systemctl.timers import triggered_by
from runners.sim.systemd import manager
from runners.sim.systemd.manager import JobOutcome, UnitError, full_name, known, unit_file

_WORDS = {
    "start": "start", "stop": "stop", "restart": "restart", "try-restart": "restart", "condrestart": "restart",
    "reload": "reload", "force-reload": "reload-or-restart", "reload-or-restart": "reload-or-restart",
    "try-reload-or-restart": "reload-or-restart",
}  # fmt: skip


def expand(ctx: Context, names: Sequence[str]) -> list[str]:
    """Full names; a pattern stands for the units in memory that it matches."""
    found: dict[str, None] = {}
    for name in names:
        if any(character in name for character in "*?["):
            pattern = (
                name
                if name.rsplit(".", 1)[-1] in ("service", "timer", "socket", "target", "mount", "*")
                or name.endswith("*")
                else full_name(name)
            )
            found |= dict.fromkeys(matching(known(ctx.machine), [pattern]))
        else:
            found[full_name(name)] = None
    return list(found)


def denied(ctx: Context, verb: str, name: str) -> int:
    """What a user without rights is told."""
    ctx.stderr.write(
        f"Failed to {verb} {name}: Interactive authentication required.\n"
        f"See system logs and 'systemctl status {name}' for details.\n".encode("utf-8", "surrogateescape")
    )
    return 1


def _complain(ctx: Context, text: str) -> None:
    ctx.stderr.write((text + "\n").encode("utf-8", "surrogateescape"))


def job(ctx: Context, verb: str, names: Sequence[str], *, quiet: bool = False, block: bool = True) -> int:
    """Start, stop, restart or reload units, in the order given. The worst status is returned."""
    status = 0
    for name in expand(ctx, names):
        word = _WORDS[verb]
        if ctx.cred.uid != 0:
            status = denied(ctx, word, name)
            continue
        notice = warning(ctx.machine, name)
        try:
            outcome = _run(ctx, verb, name)
            if block:
                outcome = manager.wait(ctx.machine, outcome, ctx.sleep)
        except UnitError as error:
            _complain(ctx, f"Failed to {word} {name}: {error.text}")
            if "not applicable" in error.text:
                status = max(status, 3)
                continue
            if error.exit_code != 5 and "masked" not in error.text and "\n" not in error.text:
                _complain(ctx, f"See system logs and 'systemctl status {name}' for details.")
            status = max(status, error.exit_code)
            continue
        if notice:
            _complain(ctx, notice)
        if outcome.message:
            reloading = word.startswith("reload") and outcome.result == "failed"
            # For a job that was to reload, the reason is left open.
            _complain(ctx, outcome._replace(reason="").message if reloading else outcome.message)
            status = max(status, 1)
        if verb == "stop" and not quiet:
            timers = [
                timer for timer in triggered_by(ctx.machine, name) if ctx.machine.systemd.get(timer).active == "active"
            ]
            if timers:
                _complain(ctx, f"Warning: Stopping {name}, but it can still be activated by:")
                for timer in timers:
                    _complain(ctx, f"  {timer}")
    return status


def _run(ctx: Context, verb: str, name: str) -> JobOutcome:
    machine = ctx.machine
    if verb == "start":
        return manager.start(machine, name)
    if verb == "stop":
        return manager.stop(machine, name)
    if verb == "reload":
        return manager.reload(machine, name)
    if verb in ("restart", "try-restart", "condrestart"):
        return manager.restart(machine, name, only_active=verb != "restart")
    active = manager.state_of(machine, name).active == "active"
    if active and unit_file(machine, name).commands("ExecReload"):
        return manager.reload(machine, name)
    return manager.restart(machine, name, only_active=verb == "try-reload-or-restart")


def unit_files(ctx: Context, verb: str, names: Sequence[str], *, now: bool, quiet: bool) -> int:
    """enable, disable, reenable, mask, unmask and revert, with --now."""
    if ctx.cred.uid != 0:
        _complain(ctx, f"Failed to {verb} unit: Interactive authentication required.")
        return 1
    actions: dict[str, Callable[..., list[manager.Change]]] = {
        "enable": manager.enable, "disable": manager.disable, "mask": manager.mask, "unmask": manager.unmask,
        "revert": manager.revert,
    }  # fmt: skip
    steps = ("disable", "enable") if verb == "reenable" else (verb,)
    status = 0
    for name in names:
        full = full_name(name)
        if verb in ("enable", "disable", "reenable") and full.endswith(".service"):
            _synchronise(ctx, verb, full)
        try:
            if verb == "mask" and unit_file(ctx.machine, full).load_state == "not-found":
                _complain(ctx, f"Unit {full} does not exist, proceeding anyway.")
            changes = [change for step in steps for change in actions[step](ctx.machine, name)]
        except UnitError as error:
            _complain(ctx, error.text if error.text.startswith("Failed") else f"Failed to {verb} unit: {error.text}")
            status = 1
            continue
        except OSError as error:
            _complain(ctx, f"Failed to {verb} unit: {error.strerror}")
            status = 1
            continue
        if not quiet:
            for change in changes:
                _complain(ctx, change.message)
        unit = unit_file(ctx.machine, full)
        if verb == "enable" and not changes and not unit.settings.get("Install") and unit.load_state != "not-found":
            _no_install(ctx)
    if now and status == 0:
        follow = {"enable": "start", "reenable": "start", "disable": "stop", "mask": "stop"}.get(verb)
        if follow is not None:
            return job(ctx, follow, names, quiet=True)
    return status


def _synchronise(ctx: Context, verb: str, full: str) -> None:
    """Debian keeps a SysV script's links in step with the unit's."""
    stem = full.removesuffix(".service")
    if ctx.files.exists(f"/etc/init.d/{stem}"):
        action = "enable" if verb == "reenable" else verb
        _complain(
            ctx, f"Synchronizing state of {full} with SysV service script with /lib/systemd/systemd-sysv-install."
        )
        _complain(ctx, f"Executing: /lib/systemd/systemd-sysv-install {action} {stem}")


def _no_install(ctx: Context) -> None:
    _complain(
        ctx,
        "The unit files have no installation config (WantedBy=, RequiredBy=, Also=,\n"
        "Alias= settings in the [Install] section, and DefaultInstance= for template\n"
        "units). This means they are not meant to be enabled using systemctl.\n"
        " \n"
        "Possible reasons for having this kind of units are:\n"
        "• A unit may be statically enabled by being symlinked from another unit's\n"
        "  .wants/ or .requires/ directory.\n"
        "• A unit's purpose may be to act as a helper for some other unit which has\n"
        "  a requirement dependency on it.\n"
        "• A unit may be started when needed via activation (socket, path, timer,\n"
        "  D-Bus, udev, scripted systemctl call, ...).\n"
        "• In case of template units, the unit is meant to be enabled with some\n"
        "  instance name specified.",
    )


def kill(ctx: Context, names: Sequence[str], signal_text: str, who: str) -> int:
    number = number_of(signal_text)
    if number is None:
        _complain(ctx, f"Failed to parse signal string {signal_text}.")
        return 1
    status = 0
    for name in expand(ctx, names):
        if ctx.cred.uid != 0:
            status = denied(ctx, "kill unit", name)
            continue
        try:
            manager.kill(ctx.machine, name, number, who)
        except UnitError as error:
            _complain(ctx, f"Failed to kill unit {name}: {error.text}")
            status = 1
    return status


def reset_failed(ctx: Context, names: Sequence[str]) -> int:
    if ctx.cred.uid != 0:
        return denied(ctx, "reset failed state of unit", names[0] if names else "systemd")
    if not names:
        manager.reset_failed(ctx.machine)
        return 0
    status = 0
    for name in expand(ctx, names):
        try:
            manager.reset_failed(ctx.machine, name)
        except UnitError as error:
            _complain(ctx, f"Failed to reset failed state of unit {name}: {error.text}")
            status = 1
    return status
