"""swapon, swapoff, chsh and systemd-analyze: small tools that answer from state that others keep."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.format import human_lsblk
from runners.sim.memory import swap_area
from runners.sim.process_info import meminfo
from runners.sim.systemd.manager import full_name
from runners.sim.systemd.units import known, read_unit
from runners.sim.tasks import accounts as files
from runners.sim.users import accounts

NAMES = ("swapon", "swapoff", "chsh", "systemd-analyze")
PATH = "/usr/sbin/swapon"


def main(ctx: Context) -> int:
    if ctx.name == "chsh":
        return _chsh(ctx)
    if ctx.name == "systemd-analyze":
        return _analyze(ctx)
    info = meminfo(ctx.machine)
    total, used = info["SwapTotal"], info["SwapTotal"] - info["SwapFree"]
    words = [word for word in ctx.args if not word.startswith("-")]
    if ctx.name == "swapon" and not words:
        if total:
            area = swap_area(ctx.machine)
            kind = "partition" if area.startswith("/dev/") else "file"
            wide = max(len(area), 4)
            ctx.line(f"{'NAME':<{wide}} {'TYPE':<{len(kind)}} {'SIZE':>5} {'USED':>4} PRIO")
            ctx.line(f"{area:<{wide}} {kind} {human_lsblk(total * 1024):>5} {human_lsblk(used * 1024):>4}   -2")
        return 0
    if ctx.cred.uid != 0:
        ctx.err("Not superuser.")
        return 1
    for word in words:
        if not ctx.files.exists(word):
            ctx.err(
                f"cannot open {word}: No such file or directory"
                if ctx.name == "swapon"
                else f"{word}: swapoff failed: No such file or directory"
            )
            return 255 if ctx.name == "swapon" else 32
    return 0


def _chsh(ctx: Context) -> int:
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


def _analyze(ctx: Context) -> int:
    verb, *names = [word for word in ctx.args if not word.startswith("-")] or ["time"]
    if verb == "time":
        ctx.line(
            "Startup finished in 1.912s (kernel) + 6.105s (userspace) = 8.017s \ngraphical.target "
            "reached after 6.098s in userspace."
        )
        return 0
    if verb != "verify":
        ctx.stderr.write(f"Unknown command verb {verb}.\n".encode("utf-8", "surrogateescape"))
        return 1
    status = 0
    for warning in _warnings(ctx, names):
        ctx.stderr.write(f"{warning}\n".encode("utf-8", "surrogateescape"))
    for name in names:
        unit = read_unit(ctx.machine.view(), full_name(name.rsplit("/", 1)[-1]))
        if unit.load_state == "not-found":
            ctx.stderr.write(
                f"Failed to prepare filename {name}: No such file or directory\n".encode("utf-8", "surrogateescape")
            )
            status = 1
        elif unit.load_state != "loaded":
            ctx.stderr.write(f"{unit.name}: {unit.problem}\n".encode("utf-8", "surrogateescape"))
            status = 1
        for line in unit.commands("ExecStart") if unit.load_state == "loaded" else ():
            if not ctx.files.access(line.path, 1):
                missing = "No such file or directory" if not ctx.files.exists(line.path) else "Permission denied"
                ctx.stderr.write(
                    f"{unit.name}: Command {line.path} is not executable: {missing}\n".encode(
                        "utf-8", "surrogateescape"
                    )
                )
                status = 1
    return status


def _warnings(ctx: Context, names: list[str]) -> list[str]:
    """What is wrong with the lines of the units named, and of those that come with the system's targets."""
    view = ctx.machine.view()
    loaded = [full_name(name.rsplit("/", 1)[-1]) for name in names]
    others = [name for name in known(ctx.machine) if name.endswith(".service")]
    found = (line for name in [*loaded, *others] for line in read_unit(view, name).warnings)
    return list(dict.fromkeys(found))
