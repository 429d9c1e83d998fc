"""One world on a host with sched_ext: its services, its shell, its scheduler. Its time is the host's own clock."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runners.cutting import cut
from runners.guarding import guarded
from runners.kernel.host import Host
from runners.kernel.probes import evaluate
from runners.kernel.recipe import Service
from runners.worlds import CommandResult, Facts, Observation, TaskFailure, WorldError
from scenario_dsl.model import Probe, Task
from scenario_dsl.values import Value

_guarded = guarded("the host")
_KEPT = 4 << 20
_TIMED_OUT = 124
_LONGEST_WAIT = 1.0
"""Seconds of its own that a host waits at the most. What it is asked for is how it schedules a load that goes on and
on: a second of that shows what a minute does, and the clock is put forward by the rest."""


class KernelWorld:
    """Open from the moment it is made. Raises WorldError for whatever goes wrong on our side."""

    def __init__(self, host: Host, services: tuple[Service, ...], *, closed: Callable[[], str]) -> None:
        """closed: called once, to take the world away and give its host back; returns how the scheduler was left."""
        self._host, self._closed, self._skipped = host, closed, 0.0
        self.left = ""
        try:
            self._opened = float(host.open(services)["opened"])
            self._prompt = str(host.ask("prompt")["prompt"])
        except BaseException:
            closed()
            raise

    @_guarded
    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        keep = max(_KEPT, 4 * output_bytes)
        said = self._host.ask("run", patience=4 * seconds, command=_typed(command), seconds=seconds, keep=keep)
        texts = {key: base64.b64decode(said[key]) for key in ("output", "stdout", "stderr")}
        kept = {key: cut(data, output_bytes) for key, data in texts.items()}
        self._prompt = str(said["prompt"])
        return CommandResult(
            output=kept["output"],
            stdout=kept["stdout"],
            stderr=kept["stderr"],
            exit_code=_TIMED_OUT if said["timed_out"] else int(said["exit_code"]),
            seconds=float(said["seconds"]),
            truncated=bool(said["dropped"]) or kept["output"] != texts["output"],
            timed_out=bool(said["timed_out"]),
            prompt=self._prompt,
        )

    def prompt(self) -> str:
        return self._prompt

    @_guarded
    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        measured = self._host.ask("measure")
        ours = failure(measured["scheduler"])
        if ours is not None:
            raise WorldError(ours)
        return tuple(evaluate(probe, measured, self._host.quiet) for probe in probes)

    @_guarded
    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        """Run the tasks' programs as root; see `runners.kernel.unsupported` for which tasks there can be."""
        for task in tasks:
            done = self._host.ask("apply", argv=program(task), patience=60)
            if done["code"] and not task.ignore_errors:
                return TaskFailure(task=task.name, message=str(done["said"]))
        return None

    def wait(self, seconds: float) -> None:
        here = min(seconds, _LONGEST_WAIT)
        self._host.ask("wait", patience=here, seconds=here)
        self._skipped += seconds - here

    def age(self, seconds: float) -> None:
        self.wait(seconds)

    @_guarded
    def elapsed(self) -> float:
        return float(self._host.ask("clock")["now"]) - self._opened + self._skipped

    @_guarded
    def facts(self) -> Facts:
        return _facts(self._host.ask("facts"))

    @_guarded
    def restore(self, before: Facts) -> tuple[str, ...]:
        self._host.ask("restore", persistent=dict(before.persistent))
        now = self.facts().persistent
        return tuple(
            name for name in sorted({*now, *before.persistent}) if now.get(name) != before.persistent.get(name)
        )

    def close(self) -> None:
        closed, self._closed = self._closed, lambda: self.left
        self.left = closed()


def failure(scheduler: Mapping[str, Any]) -> str | None:
    """What went wrong with a scheduler that no request can bring about, or None."""
    if not scheduler["watched"]:
        return "the watchdog of the scheduler is gone"
    return next((event.partition(" ")[2] for event in scheduler["events"] if " the loader " in event), None)


def program(task: Task) -> list[str]:
    """What a task of the modules `command` and `shell` runs."""
    if task.module == "shell":
        return ["/bin/sh", "-c", _text(task.arguments.get("cmd"))]
    argv = task.arguments.get("argv")
    return [_text(word) for word in argv] if isinstance(argv, tuple) else shlex.split(_text(task.arguments.get("cmd")))


def _text(value: Value) -> str:
    return "" if value is None else str(value)


def _facts(said: dict[str, Any]) -> Facts:
    return Facts(
        persistent=said["persistent"],
        processes=said["processes"],
        others=said["others"],
        requests_failed=int(said["requests_failed"]),
    )


def _typed(command: str) -> str:
    """As it comes through a terminal: what is no character is lost."""
    return command.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "")
