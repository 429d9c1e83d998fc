"""systemd-analyze: how long the boot and each unit's start took, and what is wrong with unit files."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.machine import mix
from runners.sim.systemd.journal import entries
from runners.sim.systemd.manager import full_name
from runners.sim.systemd.unitfile import UnitFile
from runners.sim.systemd.units import known, read_unit

_STARTED = "Startup finished in "
_MAN, _NO_ENTRY, _NO_PROGRAM = "/usr/bin/man", 16, 1
"""How man(1) ends without a page, and what comes of it where there is no such program."""


def main(ctx: Context) -> int:
    verb, *names = [word for word in ctx.args if not word.startswith("-")] or ["time"]
    if verb == "time":
        return _time(ctx)
    if verb == "blame":
        return _blame(ctx)
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
        for page in _missing_pages(unit):
            code = _NO_ENTRY if ctx.files.exists(_MAN) else _NO_PROGRAM
            said = f"{unit.name}: Command 'man {page}' failed with code {code}\n"
            ctx.stderr.write(said.encode("utf-8", "surrogateescape"))
            status = 1
    return status


def _missing_pages(unit: UnitFile) -> tuple[str, ...]:
    """The manual pages that a unit names: this machine has none."""
    named = unit.words("Unit", "Documentation") if unit.load_state == "loaded" else ()
    return tuple(word.removeprefix("man:") for word in named if word.startswith("man:"))


def _warnings(ctx: Context, names: list[str]) -> list[str]:
    """What is wrong with the lines of the units named, and of those that come with the system's targets."""
    view = ctx.machine.view()
    loaded = [full_name(name.rsplit("/", 1)[-1]) for name in names]
    others = [name for name in known(ctx.machine) if name.endswith(".service")]
    found = (line for name in [*loaded, *others] for line in read_unit(view, name).warnings)
    return list(dict.fromkeys(found))


def _time(ctx: Context) -> int:
    """As the manager said when the boot was over."""
    said = next((entry.message for entry in entries(ctx.machine, pid=1) if entry.message.startswith(_STARTED)), "")
    if not said:
        ctx.stderr.write(b"Bootup is not yet finished. Please try again later.\n")
        return 1
    ctx.line(f"{said.rstrip('.')} ")
    userspace = said.split("+ ")[-1].split("s ")[0]
    ctx.line(f"multi-user.target reached after {float(userspace) - 0.012:.3f}s in userspace.")
    return 0


def _blame(ctx: Context) -> int:
    """Units that were started, the slowest first: how long each took to come up."""
    rows = []
    for name, state in sorted(ctx.machine.systemd.units.items()):
        if name.endswith((".service", ".mount")) and state.active_since:
            began = state.exec_started or state.active_since
            rows.append((max(state.active_since - began, 0.0) + 0.011 + mix(f"start of {name}") % 400 / 1000, name))
    shown = [(f"{took:.3f}s" if took >= 1 else f"{took * 1000:.0f}ms", name) for took, name in sorted(rows)[::-1]]
    width = max((len(took) for took, _ in shown), default=0)
    for took, name in shown:
        ctx.line(f"{took:>{width}} {name}")
    return 0
