"""wait_for: let time pass until a port listens (or no longer does), or a file is there (or gone)."""

from __future__ import annotations

import re
from collections.abc import Callable

from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, read_text
from runners.sim.tasks.lineinfile import compile_pattern
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value

_STATES = ("absent", "drained", "present", "started", "stopped")


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    arguments.exclusive("port", "path")
    port, path = arguments.integer("port"), arguments.path("path")
    state = arguments.choice("state", _STATES, "started")
    timeout, step = arguments.integer("timeout", 300) or 0, arguments.integer("sleep", 1) or 1
    wanted = state in ("present", "started")
    pattern = compile_pattern(arguments.text("search_regex"), re.MULTILINE)
    start = machine.clock.now
    machine.advance(arguments.integer("delay", 0) or 0)
    there = _asks(machine, arguments.text("host") or "127.0.0.1", port, path, pattern)
    if there is not None:
        while there() is not wanted:
            if machine.clock.now - start >= timeout:
                what = f"{arguments.text('host') or '127.0.0.1'}:{port}" if path is None else f"file {path}"
                raise ModuleFailure(
                    arguments.text("msg") or f"Timeout when waiting for {what}",
                    {"elapsed": int(machine.clock.now - start)},
                )
            machine.advance(step)
    elif "delay" not in arguments:
        machine.advance(timeout)
    values: dict[str, Value] = {
        "elapsed": int(machine.clock.now - start), "port": port, "path": path, "state": state,
    }  # fmt: skip
    return TaskResult(values=values)


def _asks(
    machine: Machine, host: str, port: int | None, path: str | None, pattern: re.Pattern[str] | None
) -> Callable[[], bool] | None:
    """The question to ask again and again; None when there is only time to pass."""
    if port is not None:
        return lambda: machine.processes.listener("tcp", port, "127.0.0.1" if host == "localhost" else host) is not None
    if path is not None:
        return lambda: (
            find(machine, path, follow=True) is not None
            and (pattern is None or pattern.search(read_text(machine, path)) is not None)
        )
    return None
