"""systemctl list-units, list-unit-files, list-timers, list-jobs, list-sockets and list-dependencies."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from functools import lru_cache

from runners.sim.format import relative
from runners.sim.machine import Machine
from runners.sim.systemctl.facts import PRESET, icon, timestamp
from runners.sim.systemctl.timers import activates, last_trigger, next_elapse
from runners.sim.systemd import unitfile
from runners.sim.systemd.manager import UnitError, is_enabled, known, unit_file
from runners.sim.systemd.service import START_TIMEOUT, waits
from runners.sim.systemd.unitfile import UnitFile

_LEGEND = (
    "",
    "LOAD   = Reflects whether the unit definition was properly loaded.",
    "ACTIVE = The high-level unit activation state, i.e. generalization of SUB.",
    "SUB    = The low-level unit activation state, values depend on unit type.",
)
_INSTALLED = "To show all installed unit files use 'systemctl list-unit-files'."
_ORDER = ("automount", "device", "mount", "path", "scope", "service", "slice", "socket", "swap", "target", "timer")


def matching(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Names that any of the patterns matches; a pattern without a suffix is a service's."""
    if not patterns:
        return list(names)
    return [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def _by_kind(name: str) -> tuple[int, str]:
    kind = name.rsplit(".", 1)[-1]
    return (_ORDER.index(kind) if kind in _ORDER else 0), name


@lru_cache(maxsize=256)
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names, key=_by_kind))


def list_units(
    machine: Machine, patterns: Sequence[str], *, states: Sequence[str], kinds: Sequence[str], everything: bool,
    legend: bool, plain: bool,
) -> list[str]:  # fmt: skip
    """`states` filters by load, active or sub state.

    Without it, and without `everything`, resting units are left out.
    """
    rows = []
    wanted = set(states)
    for name in _in_order(tuple(matching(known(machine), patterns))):
        unit, state = unit_file(machine, name), machine.systemd.get(name)
        if kinds and name.rsplit(".", 1)[-1] not in kinds:
            continue
        words = (unit.load_state, state.active, state.sub)
        if wanted and wanted.isdisjoint(words):
            continue
        if not states and not everything and not patterns and state.active == "inactive":
            continue
        bad = state.active == "failed" or unit.load_state in ("not-found", "error", "bad-setting", "masked")
        rows.append(("●" if bad else " ", name, *words, unit.description))
    return _units_table(rows, everything=everything, filtered=bool(states), legend=legend, plain=plain)


def _units_table(
    rows: Sequence[tuple[str, ...]], *, everything: bool, filtered: bool, legend: bool, plain: bool
) -> list[str]:
    titles = (" ", "UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION")
    shown = [titles, *rows] if legend else list(rows)
    widths = [max(len(row[column]) for row in shown) for column in range(5)] if shown else []
    out = []
    for row in shown:
        cells = " ".join(f"{cell:<{width}}" for cell, width in zip(row[1:5], widths[1:], strict=True))
        lead = "" if plain else f"{row[0]} "
        out.append(f"{lead}{cells} {row[5]}".rstrip() if row is titles else f"{lead}{cells} {row[5]}")
    if not legend:
        return out
    if rows:
        out += _LEGEND
    count = f"{len(rows)} loaded units listed."
    if filtered:
        return [*out, count]
    return [*out, count if everything else f"{count} Pass --all to see loaded but inactive units, too.", _INSTALLED]


def list_unit_files(
    machine: Machine, patterns: Sequence[str], *, states: Sequence[str], kinds: Sequence[str], legend: bool
) -> list[str]:
    view = machine.view()
    rows = []
    for name in sorted(matching(unitfile.names(view), patterns), key=_by_kind):
        if kinds and name.rsplit(".", 1)[-1] not in kinds:
            continue
        try:
            state = "disabled" if name.endswith("@.service") else is_enabled(machine, name)
        except UnitError:
            state = "bad"
        if states and state not in states:
            continue
        rows.append((name, state, "-" if state in ("static", "alias", "generated") else PRESET))
    titles = ("UNIT FILE", "STATE", "PRESET")
    shown = [titles, *rows] if legend else rows
    widths = [max(len(row[column]) for row in shown) for column in range(2)] if shown else []
    out = [f"{row[0]:<{widths[0]}} {row[1]:<{widths[1]}} {row[2]}" for row in shown]
    if legend:
        out += ["", f"{len(rows)} unit files listed."]
    return out


def list_timers(machine: Machine, patterns: Sequence[str], *, everything: bool, legend: bool) -> list[str]:
    now = machine.clock.now
    timers = []
    for name in matching(known(machine), patterns):
        if name.endswith(".timer") and (everything or machine.systemd.get(name).active == "active"):
            timers.append((next_elapse(machine, name) or float("inf"), name))
    rows = []
    for due, name in sorted(timers):
        last = last_trigger(machine, name)
        rows.append((
            timestamp(machine, due) if due != float("inf") else "-",
            f"{relative(due - now)} left" if due != float("inf") else "-",
            timestamp(machine, last) if last else "-",
            f"{relative(now - last)} ago" if last else "-",
            name,
            activates(machine, name),
        ))  # fmt: skip
    titles = ("NEXT", "LEFT", "LAST", "PASSED", "UNIT", "ACTIVATES")
    return _plain_table(titles, rows, "timers", everything=everything, legend=legend)


def list_jobs(machine: Machine) -> list[str]:
    """Jobs that go on: starts of services that have not said yet that they are ready."""
    waiting = [
        (str(event.order), str(event.argument[0]))
        for event in machine.events
        if event.kind == START_TIMEOUT and isinstance(event.argument, tuple)
    ]
    rows = [(number, unit, "start", "running") for number, unit in waiting if waits(machine, unit)]
    if not rows:
        return ["No jobs running."]
    table = [("JOB", "UNIT", "TYPE", "STATE"), *rows]
    wide, wider, widest = (max(len(row[column]) for row in table) for column in range(3))
    shown = [f"{row[0]:>{wide}} {row[1]:<{wider}} {row[2]:<{widest}} {row[3]}" for row in table]
    return [*shown, "", f"{len(rows)} jobs listed."]


def list_sockets(machine: Machine, patterns: Sequence[str], *, everything: bool, legend: bool) -> list[str]:
    rows = []
    for name in matching(known(machine), patterns):
        if name.endswith(".socket") and (everything or machine.systemd.get(name).active == "active"):
            unit = unit_file(machine, name)
            service = unit.get("Socket", "Service") or name.removesuffix(".socket") + ".service"
            for key in ("ListenStream", "ListenDatagram", "ListenFIFO"):
                rows += [(address, name, service) for address in unit.all("Socket", key)]
    return _plain_table(("LISTEN", "UNIT", "ACTIVATES"), sorted(rows), "sockets", everything=everything, legend=legend)


def _plain_table(
    titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], noun: str, *, everything: bool, legend: bool
) -> list[str]:
    shown = [titles, *rows] if legend and rows else list(rows)
    widths = [max(len(row[column]) for row in shown) for column in range(len(titles))] if shown else []
    out = [" ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    if legend:
        out += [*([""] if rows else []), f"{len(rows)} {noun} listed."]
        if not everything:
            out.append(f"Pass --all to see loaded but inactive {noun}, too.")
    return out


def list_dependencies(machine: Machine, unit: UnitFile, *, reverse: bool, everything: bool) -> list[str]:
    """What a unit requires and wants (or what does so with it), targets opened out."""
    out = [unit.name]

    def below(name: str) -> list[str]:
        if reverse:
            return [
                other for other in known(machine)
                if name in _needs(unit_file(machine, other)) or name in wants_links(machine, other)
            ]  # fmt: skip
        return sorted({*_needs(unit_file(machine, name)), *wants_links(machine, name)}, key=_by_kind)

    def walk(name: str, lead: str, path: tuple[str, ...]) -> None:
        names = [other for other in below(name) if other not in path]
        for index, other in enumerate(names):
            last = index == len(names) - 1
            # What keeps no state of its own (slices, targets of a booted system) is simply there.
            dot = icon(machine.systemd.get(other)) if other in known(machine) or other.endswith(".service") else "●"
            out.append(f"{dot} {lead}{'└─' if last else '├─'}{other}")
            if other.endswith(".target") or everything:
                walk(other, lead + ("  " if last else "│ "), (*path, other))

    walk(unit.name, "", (unit.name,))
    return out


def _needs(unit: UnitFile) -> list[str]:
    named = [word for key in ("Requires", "BindsTo", "Requisite", "Wants") for word in unit.words("Unit", key)]
    return [*named, "system.slice"] if unit.kind == "service" else named


def wants_links(machine: Machine, name: str) -> list[str]:
    """Units linked into the .wants and .requires folders of a target."""
    view = machine.view()
    found: dict[str, None] = {}
    for folder in unitfile.SEARCH:
        for suffix in ("wants", "requires"):
            try:
                names = view.names(f"{folder}/{name}.{suffix}")
            except OSError:
                continue
            found |= dict.fromkeys(names)
    return list(found)
