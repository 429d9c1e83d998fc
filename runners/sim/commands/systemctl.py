"""systemctl of systemd 252: ask and tell the service manager."""

from __future__ import annotations

from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.power import power_off, reboot
from runners.sim.systemctl import jobs, lists
from runners.sim.systemctl.facts import shown_path
from runners.sim.systemctl.overview import overview_lines
from runners.sim.systemctl.show import manager_properties, properties
from runners.sim.systemctl.status import collected, exit_status, status_lines, warning
from runners.sim.systemd import manager
from runners.sim.systemd.manager import UnitError, full_name, known, unit_file
from runners.sim.systemd.unitfile import UnitFile
from runners.sim.systemd.units import read_unit
from runners.sim.tool import Tool
from runners.text import is_digits

PATH = "/bin/systemctl"

_TOOL = Tool(
    "systemctl [OPTIONS...] COMMAND ...",
    "t,type= state= failed p,property= P= a,all l,full r,recursive reverse after before with-dependencies "
"job-mode= show-transaction "
    "show-types value i,ignore-inhibitors check-inhibitors= s,signal= kill-whom= kill-who= what= now dry-run q,quiet "
    "wait no-block no-wall no-reload no-legend legend= no-pager no-ask-password system user global runtime f,force "
    "preset-mode= root= image= n,lines= o,output= firmware-setup plain timestamp= read-only mkdir marked H,host= "
    "M,machine= h,help",
    "systemd 252 (252.22-1~deb12u1)\n"
    "+PAM +AUDIT +SELINUX +APPARMOR +IMA +SMACK +SECCOMP +GCRYPT -GNUTLS +OPENSSL +ACL +BLKID +CURL "
"+ELFUTILS +FIDO2 +IDN2 "
    "-IDN +IPTC +KMOD +LIBCRYPTSETUP +LIBFDISK +PCRE2 -PWQUALITY +P11KIT +QRENCODE +TPM2 +BZIP2 +LZ4 +XZ +ZLIB +ZSTD "
    "-BPF_FRAMEWORK -XKBCOMMON +UTMP +SYSVINIT default-hierarchy=unified",
    hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    verb, *names = options.operands or ["list-units"]
    if options.has("user"):
        ctx.stderr.write(b"Failed to connect to bus: No medium found\n")
        return 1
    if verb in ("start", "stop", "restart", "try-restart", "condrestart", "reload", "reload-or-restart",
                "try-reload-or-restart", "force-reload"):  # fmt: skip
        if not names:
            return _too_few(ctx)
        return jobs.job(ctx, verb, names, quiet=options.has("q"), block=not options.has("no-block"))
    if verb in ("enable", "disable", "reenable", "mask", "unmask", "revert"):
        return (
            jobs.unit_files(ctx, verb, names, now=options.has("now"), quiet=options.has("q"))
            if names
            else _too_few(ctx)
        )
    reading = _READING.get(verb)
    if reading is not None:
        return reading(ctx, options, names)
    if verb in ("reboot", "poweroff", "halt", "kexec", "soft-reboot"):
        if ctx.cred.uid != 0:
            return jobs.denied(ctx, "start", f"{verb}.target")
        (reboot if verb == "reboot" else power_off)(ctx.machine)
        return 0
    ctx.stderr.write(f"Unknown command verb {verb}.\n".encode("utf-8", "surrogateescape"))
    return 1


def _too_few(ctx: Context) -> int:
    ctx.stderr.write(b"Too few arguments.\n")
    return 1


def _words(options: Options, *names: str) -> list[str]:
    return [word for value in options.values(*names) for word in value.split(",") if word]


def _print(ctx: Context, lines: Sequence[str]) -> int:
    ctx.spend(2 * len(lines))
    if lines:
        ctx.out("\n".join(lines) + "\n")
    return 0


def _legend(options: Options) -> bool:
    return not options.has("no-legend") and options.value("legend") not in ("no", "false", "0") and not options.has("q")


# -- lists


def _list_units(ctx: Context, options: Options, names: list[str]) -> int:
    states = _words(options, "state") + (["failed"] if options.has("failed") else [])
    return _print(ctx, lists.list_units(
        ctx.machine, names, states=states, kinds=_words(options, "t"), everything=options.has("a"),
        legend=_legend(options), plain=options.has("plain"),
    ))  # fmt: skip


def _list_unit_files(ctx: Context, options: Options, names: list[str]) -> int:
    lines = lists.list_unit_files(
        ctx.machine, names, states=_words(options, "state"), kinds=_words(options, "t"), legend=_legend(options)
    )
    _print(ctx, lines)
    return 1 if names and len(lines) <= 3 and _legend(options) and lines[-1].startswith("0 ") else 0


def _list_timers(ctx: Context, options: Options, names: list[str]) -> int:
    return _print(ctx, lists.list_timers(ctx.machine, names, everything=options.has("a"), legend=_legend(options)))


def _list_sockets(ctx: Context, options: Options, names: list[str]) -> int:
    return _print(ctx, lists.list_sockets(ctx.machine, names, everything=options.has("a"), legend=_legend(options)))


def _list_jobs(ctx: Context, _options: Options, _names: list[str]) -> int:
    return _print(ctx, lists.list_jobs(ctx.machine))


def _list_dependencies(ctx: Context, options: Options, names: list[str]) -> int:
    status = 0
    for name in names or ["default.target"]:
        if name == "default.target":
            name = _default_target(ctx)
        unit = unit_file(ctx.machine, full_name(name))
        if unit.load_state == "not-found" and unit.name not in ctx.machine.systemd.units:
            ctx.stderr.write(f"Unit {unit.name} could not be found.\n".encode("utf-8", "surrogateescape"))
            status = 4
            continue
        lines = lists.list_dependencies(ctx.machine, unit, reverse=options.has("reverse"), everything=options.has("a"))
        _print(ctx, [line.removeprefix("● ").removeprefix("○ ") if options.has("plain") else line for line in lines])
    return status


# -- one unit


def _status(ctx: Context, options: Options, names: list[str]) -> int:
    if not names:
        return _print(ctx, overview_lines(ctx.machine))
    lines = options.value("n")
    if lines is not None and not is_digits(lines):
        ctx.stderr.write(f"Failed to parse lines '{lines}': Invalid argument\n".encode("utf-8", "surrogateescape"))
        return 1
    status = 0
    first = True
    for name in _status_names(ctx, names):
        if name is None:
            status = 4
            continue
        unit = unit_file(ctx.machine, name)
        state = ctx.machine.systemd.get(unit.name)
        forgotten = collected(ctx.machine, unit)
        if forgotten:
            unit = read_unit(ctx.machine.view(), unit.name)
        if unit.load_state == "not-found" and (forgotten or unit.name not in ctx.machine.systemd.units):
            ctx.stderr.write(f"Unit {unit.name} could not be found.\n".encode("utf-8", "surrogateescape"))
            status = 4
            continue
        if not first:
            ctx.line()
        first = False
        notice = "" if forgotten else warning(ctx.machine, unit.name)
        if notice:
            ctx.stderr.write((notice + "\n").encode("utf-8", "surrogateescape"))
        readable = ctx.cred.uid == 0 or bool(ctx.cred.groups & {4, 999})
        _print(ctx, status_lines(
            ctx.machine, unit, lines=10 if lines is None else int(lines), output=options.value("o") or "short",
            readable=readable,
        ))  # fmt: skip
        if not readable:
            ctx.stderr.write(b"Warning: some journal files were not opened due to insufficient permissions.\n")
        status = max(status, exit_status(state, unit.load_state))
    return status


def _status_names(ctx: Context, names: list[str]) -> list[str | None]:
    """Full unit names; a pid stands for its unit, a pattern for what it matches. None: nothing there."""
    found: list[str | None] = []
    for name in names:
        if is_digits(name):
            process = ctx.machine.processes.get(int(name))
            if process is None or process.unit is None:
                ctx.stderr.write(
                    f"Failed to get unit for PID {name}: PID {name} does not belong to any loaded unit.\n".encode(
                        "utf-8", "surrogateescape"
                    )
                )
            found.append(process.unit if process is not None else None)
        else:
            found += jobs.expand(ctx, [name])
    return found


def _show(ctx: Context, options: Options, names: list[str]) -> int:
    wanted = _words(options, "p", "P")
    bare = options.has("value", "P")
    if not names:
        return _print(ctx, _shown(manager_properties(ctx.machine), wanted, bare))
    for index, name in enumerate(jobs.expand(ctx, names)):
        if index:
            ctx.line()
        found = properties(ctx.machine, unit_file(ctx.machine, name))
        _print(ctx, _shown(found, wanted, bare))
    return 0


def _shown(found: object, wanted: list[str], bare: bool) -> list[str]:
    assert isinstance(found, dict)
    lines = []
    for name, value in found.items():
        if (not wanted and value) or any(name.lower() == one.lower() for one in wanted):
            for part in value.split("\n"):
                lines.append(part if bare else f"{name}={part}")
    return lines


def _cat(ctx: Context, _options: Options, names: list[str]) -> int:
    if not names:
        return _too_few(ctx)
    first = True
    status = 0
    for name in jobs.expand(ctx, names):
        unit = manager.unit_file(ctx.machine, name)
        if not unit.path or unit.load_state in ("not-found", "masked"):
            if unit.load_state == "masked":
                ctx.line(f"# Unit {unit.name} is masked.")
                continue
            ctx.stderr.write(f"No files found for {name}.\n".encode("utf-8", "surrogateescape"))
            status = 1
            continue
        notice = warning(ctx.machine, unit.name)
        if notice:
            ctx.stderr.write((notice + "\n").encode("utf-8", "surrogateescape"))
        for path in (unit.path, *unit.drop_ins):
            if not first:
                ctx.line()
            first = False
            ctx.line(f"# {shown_path(path)}")
            try:
                ctx.stdout.write(ctx.files.read(path))
            except OSError as error:
                ctx.stderr.write(f"Failed to cat {path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
                status = 1
    return status


def _is_active(ctx: Context, options: Options, names: list[str]) -> int:
    return _check(ctx, options, names, ("active", "reloading"), 3)


def _is_failed(ctx: Context, options: Options, names: list[str]) -> int:
    if not names:
        failed = any(ctx.machine.systemd.get(name).active == "failed" for name in known(ctx.machine))
        if not options.has("q"):
            ctx.line("degraded" if failed else "running")
        return 0 if failed else 1
    return _check(ctx, options, names, ("failed",), 1)


def _check(ctx: Context, options: Options, names: list[str], good: tuple[str, ...], otherwise: int) -> int:
    if not names:
        return _too_few(ctx)
    states = [manager.state_of(ctx.machine, name).active for name in jobs.expand(ctx, names)]
    if not options.has("q"):
        _print(ctx, states)
    return 0 if any(state in good for state in states) else otherwise


def _is_enabled(ctx: Context, options: Options, names: list[str]) -> int:
    if not names:
        return _too_few(ctx)
    enabled = False
    for name in names:
        try:
            state = manager.is_enabled(ctx.machine, name)
        except UnitError as error:
            ctx.stderr.write((error.text + "\n").encode("utf-8", "surrogateescape"))
            return 1
        if not options.has("q"):
            ctx.line(state)
        enabled = enabled or state in ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated")
    return 0 if enabled else 1


def _is_system_running(ctx: Context, options: Options, _names: list[str]) -> int:
    failed = any(ctx.machine.systemd.get(name).active == "failed" for name in known(ctx.machine))
    if not options.has("q"):
        ctx.line("degraded" if failed else "running")
    return 1 if failed else 0


# -- the manager


def _daemon_reload(ctx: Context, _options: Options, _names: list[str]) -> int:
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"Failed to reload daemon: Interactive authentication required.\n")
        return 1
    manager.daemon_reload(ctx.machine)
    return 0


def _reset_failed(ctx: Context, _options: Options, names: list[str]) -> int:
    return jobs.reset_failed(ctx, names)


def _kill(ctx: Context, options: Options, names: list[str]) -> int:
    if not names:
        return _too_few(ctx)
    return jobs.kill(ctx, names, options.value("s") or "TERM", options.value("kill-whom", "kill-who") or "all")


def _edit(ctx: Context, _options: Options, _names: list[str]) -> int:
    ctx.stderr.write(b"Cannot edit units if not on a tty.\n")
    return 1


def _default_target(ctx: Context) -> str:
    for folder in ("/etc/systemd/system", "/lib/systemd/system"):
        try:
            return ctx.files.real_path(f"{folder}/default.target").rsplit("/", 1)[-1]
        except OSError:
            continue
    return "graphical.target"


def _get_default(ctx: Context, _options: Options, _names: list[str]) -> int:
    name = _default_target(ctx)
    return _print(ctx, ["graphical.target" if name == "default.target" else name])


def _set_default(ctx: Context, _options: Options, names: list[str]) -> int:
    if ctx.cred.uid != 0:
        return jobs.denied(ctx, "set default target", "")
    name = full_name(names[0]) if names else ""
    unit: UnitFile = unit_file(ctx.machine, name)
    if unit.load_state == "not-found":
        ctx.stderr.write(
            f"Failed to set default target: Unit file {name} does not exist.\n".encode("utf-8", "surrogateescape")
        )
        return 1
    link = "/etc/systemd/system/default.target"
    if ctx.files.exists(link):
        ctx.files.unlink(link)
        ctx.stderr.write(f'Removed "{link}".\n'.encode("utf-8", "surrogateescape"))
    ctx.files.symlink(unit.path, link)
    ctx.stderr.write(f"Created symlink {link} → {unit.path}.\n".encode("utf-8", "surrogateescape"))
    return 0


def _show_environment(ctx: Context, _options: Options, _names: list[str]) -> int:
    return _print(ctx, ["LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])


def _set_property(ctx: Context, _options: Options, names: list[str]) -> int:
    """Write the properties to a drop-in, as the manager keeps them over a reboot, and take them in."""
    if ctx.cred.uid != 0:
        return jobs.denied(ctx, "set unit properties on", names[0] if names else "")
    if len(names) < 2:
        return _too_few(ctx)
    full = full_name(names[0])
    if unit_file(ctx.machine, full).load_state == "not-found":
        ctx.stderr.write(
            f"Failed to set unit properties on {full}: Unit {full} not found.\n".encode("utf-8", "surrogateescape")
        )
        return 1
    folder = f"/etc/systemd/system.control/{full}.d"
    for path in ("/etc/systemd/system.control", folder):
        if not ctx.files.exists(path):
            ctx.files.mkdir(path)
    for setting in names[1:]:
        name = setting.split("=", 1)[0]
        ctx.files.write(
            f"{folder}/50-{name}.conf",
            f'# This is a drop-in unit file extension, created via "systemctl set-property"\n[Service]\n'
            f"{setting}\n".encode("utf-8", "surrogateescape"),
        )
    manager.daemon_reload(ctx.machine)
    return 0


_READING = {
    "list-units": _list_units, "list-unit-files": _list_unit_files, "list-timers": _list_timers,
    "list-sockets": _list_sockets, "list-jobs": _list_jobs, "list-dependencies": _list_dependencies, "status": _status,
    "show": _show, "cat": _cat, "is-active": _is_active, "is-failed": _is_failed, "is-enabled": _is_enabled,
    "is-system-running": _is_system_running, "daemon-reload": _daemon_reload, "daemon-reexec": _daemon_reload,
    "reset-failed": _reset_failed, "kill": _kill, "edit": _edit, "get-default": _get_default,
    "set-default": _set_default, "show-environment": _show_environment, "set-property": _set_property,
}  # fmt: skip
