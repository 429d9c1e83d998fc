"""systemctl status."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from runners.sim.format import human_systemd, relative, span
from runners.sim.journal_lines import short_line
from runners.sim.machine import Machine
from runners.sim.process_info import command_line
from runners.sim.processes import Process
from runners.sim.systemctl import facts
from runners.sim.systemctl.timers import next_elapse, triggered_by
from runners.sim.systemd.journal import entries
from runners.sim.systemd.manager import UnitError, is_enabled, needs_reload, processes_of
from runners.sim.systemd.state import Entry, UnitState
from runners.sim.systemd.unitfile import UnitFile

_ORDER = ("ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop")


def collected(machine: Machine, unit: UnitFile) -> bool:
    """Has the manager forgotten the unit? It drops what is not running, did not fail and nothing refers to."""
    state = machine.systemd.get(unit.name)
    if state.active != "inactive" or unit.kind != "service" or triggered_by(machine, unit.name):
        return False
    try:
        return is_enabled(machine, unit.name) in ("static", "disabled")
    except UnitError:
        return True


def status_lines(machine: Machine, unit: UnitFile, *, lines: int, output: str, readable: bool) -> list[str]:
    """The block of one unit. `readable`: may the caller see the journal?"""
    forgotten = collected(machine, unit)
    state = UnitState(unit.name) if forgotten else machine.systemd.get(unit.name)
    described = unit.load_state in ("loaded", "bad-setting") and unit.description != unit.name
    out = [f"{facts.icon(state)} {unit.name}{f' - {unit.description}' if described else ''}"]
    out.append(f"     Loaded: {_loaded(machine, unit)}")
    out += _drop_ins(unit)
    out.append(f"     Active: {_active(machine, state)}")
    out += _duration(state)
    out += _triggers(machine, unit, state)
    docs = unit.words("Unit", "Documentation")
    out += [f"{'Docs: ' if index == 0 else '':>13}{doc}" for index, doc in enumerate(docs)]
    if unit.kind == "service" and unit.load_state != "not-found":
        out += _processes(machine, unit, state)
    elif unit.kind == "mount":
        out += [f"      Where: {unit.get('Mount', 'Where')}", f"       What: {unit.get('Mount', 'What')}"]
    if lines and readable:
        recent = recent_entries(machine, state, lines)
        if recent:
            out += ["", *(short_line(machine, entry) if output != "cat" else entry.message for entry in recent)]
    return out


def _loaded(machine: Machine, unit: UnitFile) -> str:
    if unit.load_state == "not-found":
        return f"not-found (Reason: Unit {unit.name} not found.)"
    if unit.load_state == "masked":
        return f"masked (Reason: Unit {unit.name} is masked.)"
    if unit.load_state in ("bad-setting", "error"):
        return f"{unit.load_state} (Reason: Unit {unit.name} has a bad unit file setting.)"
    if not unit.path:
        return "loaded"
    try:
        state = is_enabled(machine, unit.name)
    except UnitError:
        state = "transient"
    return f"loaded ({facts.shown_path(unit.path)}; {facts.file_state(state)})"


def _drop_ins(unit: UnitFile) -> list[str]:
    """Drop-in files by folder, as a small tree."""
    folders: dict[str, list[str]] = {}
    for path in unit.drop_ins:
        folders.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
    out = []
    for index, (folder, names) in enumerate(folders.items()):
        out.append(f"{'    Drop-In: ' if index == 0 else ' ' * 13}{folder}")
        out.append(f"{' ' * 13}└─{', '.join(names)}")
    return out


def _active(machine: Machine, state: UnitState) -> str:
    text = f"{state.active} ({state.sub})"
    if state.active == "failed":
        text = f"failed (Result: {state.result})"
    elif state.result != "success":
        text += f" (Result: {state.result})"
    since = state.changed if state.changed else machine.clock.boot if state.active == "active" else 0.0
    if state.active == "active" and state.active_since:
        since = state.active_since
    elif state.active in ("inactive", "failed") and state.inactive_since:
        since = state.inactive_since
    if since:
        text += f" since {facts.timestamp(machine, since)}; {relative(machine.clock.now - since)} ago"
    if state.condition_failed:
        text += f"\n{'Condition: ':>13}start condition failed at {facts.timestamp(machine, state.changed or since)}"
    return text


def _duration(state: UnitState) -> list[str]:
    if state.active in ("inactive", "failed") and state.active_since and state.inactive_since > state.active_since:
        return [f"   Duration: {span(state.inactive_since - state.active_since)}"]
    return []


def _triggers(machine: Machine, unit: UnitFile, state: UnitState) -> list[str]:
    if unit.kind == "timer":
        due = next_elapse(machine, unit.name)
        when = "n/a"
        if due is not None and state.active == "active":
            when = f"{facts.timestamp(machine, due)}; {relative(due - machine.clock.now)} left"
        target = unit.get("Timer", "Unit") or unit.name.removesuffix(".timer") + ".service"
        other = machine.systemd.get(target)
        return [f"    Trigger: {when}", f"   Triggers: {facts.icon(other)} {target}"]
    timers = triggered_by(machine, unit.name)
    return [
        f"{'TriggeredBy: ' if index == 0 else ' ' * 13}{facts.icon(machine.systemd.get(timer))} {timer}"
        for index, timer in enumerate(timers)
    ]


def _processes(machine: Machine, unit: UnitFile, state: UnitState) -> Iterator[str]:
    living = processes_of(machine, unit.name)
    main = machine.processes.get(state.main_pid) if state.main_pid else None
    starts = unit.commands("ExecStart")
    # What became of the commands is not carried over when the manager reads its files again.
    remembered = state.generation == machine.systemd.generation
    if remembered:
        ran = [(one.key, one.pid, one.command, facts.told(one.ended)) for one in state.ran]
        if state.exit_code and main is None and starts and unit.type != "forking":
            ran.append(("ExecStart", state.exec_pid, " ".join(starts[-1].argv), facts.ended(state)))
        for key, pid, command, how in sorted(ran, key=lambda one: _ORDER.index(one[0])):
            yield f"    Process: {pid} {key}={command} ({how})"
    if main is not None:
        yield f"   Main PID: {main.pid} ({main.name})"
    elif state.exit_code:
        yield f"   Main PID: {state.exec_pid} ({facts.ended(state)})"
    if state.status_text:
        yield f'     Status: "{state.status_text}"'
    if living:
        yield f"      Tasks: {facts.tasks(living)} (limit: {facts.tasks_limit(machine, unit)})"
        limit = unit.get("Service", "MemoryMax") or unit.get("Service", "MemoryLimit")
        size = unit.size("Service", "MemoryMax")
        maximum = f" (max: {human_systemd(size)})" if limit and size else ""
        yield f"     Memory: {human_systemd(facts.memory(living))}{maximum}"
    if living or state.exec_started:
        used = facts.cpu_seconds(machine, state)
        yield f"        CPU: {span(max(used, 0.001)) if state.exec_pid else '0'}"
    if living:
        yield f"     CGroup: {facts.cgroup(unit)}"
        yield from tree_lines(living, " " * 13)


def tree_lines(processes: Sequence[Process], lead: str) -> list[str]:
    """The processes of a cgroup, a corner before the last; a title with spaces stands in quotes."""
    width = max(len(str(process.pid)) for process in processes)
    out = []
    for index, process in enumerate(processes):
        corner = "└─" if index == len(processes) - 1 else "├─"
        out.append(f"{lead}{corner}{process.pid:>{width}} {_quoted(process)}")
    return out


def _quoted(process: Process) -> str:
    if process.state == "Z":
        return command_line(process)
    words = []
    for word in process.argv:
        if not word or any(character in " \t\n\"\\$`'" for character in word) or word != word.strip():
            word = '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
        word = word.replace("\n", "\\n").replace("\t", "\\t")
        words.append(word)
    return " ".join(words)


def recent_entries(machine: Machine, state: UnitState, lines: int) -> list[Entry]:
    """The last journal entries of the unit since it last left its inactive state."""
    since = state.starts[-1] if state.starts else max(state.exec_started - 1.0, 0.0)
    found = list(entries(machine, unit=state.name, since=since if since else None))
    return found[-lines:]


def warning(machine: Machine, name: str) -> str:
    """The line that a changed unit file earns, or nothing."""
    if not needs_reload(machine, name):
        return ""
    return (
        f"Warning: The unit file, source configuration file or drop-ins of {name} changed on disk. "
        "Run 'systemctl daemon-reload' to reload units."
    )


def exit_status(state: UnitState, load_state: str) -> int:
    """0 for what runs (or waits for its restart), 3 for what does not, 4 for what is not there."""
    if load_state == "not-found" and state.active in ("inactive", "failed"):
        return 4
    return 0 if state.active in ("active", "reloading") else 3
