"""A toy host: files and services as plain values, a handful of commands. Small enough to reason about every verdict."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.model import PackContent
from runners.worlds import CommandResult, Facts, Observation, TaskFailure, WorldError
from scenario_dsl.model import Probe, Task
from scenario_dsl.worlds import ResolvedScenario, World

COMMAND_SECONDS = 0.1


_MODE = "100644:0:0"
"""What all files of the toy have; their content stands for its own digest."""


@dataclass
class Machine:
    """A unit runs only while its configuration says `good`; every five seconds a client asks the unit `web`."""

    files: dict[str, str]
    units: dict[str, int]
    failed: set[str] = field(default_factory=set)
    seed: int = 0
    now: float = 0.0
    pids: int = 100
    requests_failed: int = 0
    observed: int = 0
    others: dict[str, str] = field(default_factory=dict)
    scheduled: dict[str, str] = field(default_factory=dict)

    def start(self, unit: str) -> bool:
        if unit not in self.units:
            return False
        if self.files.get(f"/etc/{unit}.conf") != "good":
            self.units[unit] = 0
            self.failed.add(unit)
            return False
        if self.units[unit] == 0:
            self.pids += 1
            self.units[unit] = self.pids
        self.failed.discard(unit)
        return True

    def stop(self, unit: str) -> None:
        if self.units.get(unit):
            self.units[unit] = 0

    def advance(self, seconds: float) -> None:
        before = int(self.now // 5)
        self.now += seconds
        if not self.units.get("web"):
            self.requests_failed += int(self.now // 5) - before


class ToyWorld:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.closed = False

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        code, text = 0, ""
        begun = self.machine.now
        for part in [command] if command.startswith(("leave ", "later ")) else command.split(";"):
            self.machine.advance(COMMAND_SECONDS)
            code, text = self._run(shlex.split(part))
        if command == "kill -9 world":
            raise WorldError("the toy fell over")
        output = text.encode("utf-8", "surrogateescape")
        return CommandResult(
            output=output[:output_bytes],
            stdout=output[:output_bytes] if code == 0 else b"",
            stderr=b"",
            exit_code=code,
            seconds=self.machine.now - begun,
            truncated=len(output) > output_bytes,
            prompt=self.prompt(),
        )

    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        self.machine.observed += len(probes)
        return tuple(self._observe(probe) for probe in probes)

    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        for task in tasks:
            arguments = task.arguments
            if task.module == "copy":
                self.machine.files[str(arguments["dest"])] = str(arguments["content"])
            elif task.module == "file":
                self.machine.files.pop(str(arguments["path"]), None)
            elif task.module == "systemd" and arguments["state"] == "stopped":
                self.machine.stop(str(arguments["name"]))
                self.machine.failed.add(str(arguments["name"]))
            elif task.module == "systemd":
                self.machine.start(str(arguments["name"]))
            else:
                return TaskFailure(task=task.name, message=f"no module {task.module}")
        return None

    def wait(self, seconds: float) -> None:
        self.machine.advance(seconds)

    def elapsed(self) -> float:
        return self.machine.now

    def facts(self) -> Facts:
        return Facts(
            persistent={
                path: f"{_MODE}:{text}" for path, text in self.machine.files.items() if not path.startswith("/var/log/")
            },
            processes={unit: str(pid) for unit, pid in self.machine.units.items() if pid},
            unsalted={"/etc/shadow": re.sub(r"\$\d+", "$", self.machine.files.get("/etc/shadow", ""))},
            others=dict(self.machine.others),
            scheduled=dict(self.machine.scheduled),
            requests_failed=self.machine.requests_failed,
        )

    def restore(self, before: Facts) -> tuple[str, ...]:
        stuck = tuple(path for path in sorted(self.machine.files) if path.startswith("/proc/"))
        kept = {path: text for path, text in self.machine.files.items() if path.startswith("/var/log/")}
        files = {path: digest.removeprefix(f"{_MODE}:") for path, digest in before.persistent.items()}
        self.machine.files = {**files, **kept}
        return stuck

    def prompt(self) -> str:
        return f"toy:{self.machine.now:g}# "

    def close(self) -> None:
        self.closed = True

    def _run(self, words: list[str]) -> tuple[int, str]:
        machine = self.machine
        match words:
            case ["true"] | []:
                return 0, ""
            case ["pwd"]:
                return 0, "/root\n"
            case ["echo", *rest]:
                return 0, " ".join(rest) + "\n"
            case ["sleep", seconds]:
                machine.advance(float(seconds))
                return 0, ""
            case ["test", "-n", value]:
                return (0 if value else 1), ""
            case ["test", "-z", value]:
                return (1 if value else 0), ""
            case ["is-time", value]:
                return (0 if re.fullmatch(r"\d\d:\d\d", value) else 1), ""
            case ["passwd", user]:
                machine.pids += 1
                others = re.sub(rf"{user}:\$\d+:", "", machine.files.get("/etc/shadow", ""))
                machine.files["/etc/shadow"] = f"{user}:${machine.pids}:{others}"
                return 0, ""
            case ["leave", *line]:
                machine.pids += 1
                machine.others[str(machine.pids)] = " ".join(line)
                return 0, ""
            case ["later", *line]:
                machine.scheduled[" ".join(line)] = "crontab"
                return 0, ""
            case ["healthy"]:
                return (1 if machine.failed else 0), ""
            case ["failed"]:
                return 0, "".join(f"{unit}\n" for unit in sorted(machine.failed))
            case ["cat", path]:
                found = machine.files.get(path)
                return (1, f"cat: {path}: No such file or directory\n") if found is None else (0, found + "\n")
            case ["write", path, text]:
                machine.files[path] = text
                return 0, ""
            case ["append", path, text]:
                machine.files[path] = machine.files.get(path, "") + text
                return 0, ""
            case ["rm", path]:
                return (0, "") if machine.files.pop(path, None) is not None else (1, "no such file\n")
            case ["systemctl", "restart", "*"]:
                for unit in machine.units:
                    machine.stop(unit)
                    machine.start(unit)
                return 0, ""
            case ["systemctl", verb, unit]:
                if verb in ("stop", "restart"):
                    machine.stop(unit)
                started = machine.start(unit) if verb in ("start", "restart") else True
                return (0, "") if started else (1, f"Job for {unit}.service failed\n")
            case ["bytes"]:
                return 0, "\udcff\udcfe"
            case [name, *_]:
                return 127, f"{name}: command not found\n"
        return 0, ""

    def _observe(self, probe: Probe) -> Observation:
        arguments, machine = probe.arguments, self.machine
        if probe.type == "unit":
            name = str(arguments["name"])
            state = "active" if machine.units.get(name) else "failed" if name in machine.failed else "inactive"
            return Observation(holds=state == arguments["state"], detail=f"{name} is {state}")
        if probe.type == "file":
            path = str(arguments["path"])
            text = machine.files.get(path)
            if "exists" in arguments:
                return Observation(holds=(text is not None) == arguments["exists"], detail=f"{path}: {text!r}")
            wanted = str(arguments["contains"])
            return Observation(holds=text is not None and re.search(wanted, text) is not None, detail=f"{path}: {text}")
        if probe.type == "memory":  # holds or not by the copy of the world: a flaky probe
            return Observation(holds=machine.seed % 2 == 0, detail=f"seed {machine.seed}")
        raise WorldError(f"no probe {probe.type}")


class ToyBackend:
    name = "toy"

    def __init__(self, unsupported: str | None = None) -> None:
        self._unsupported = unsupported

    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        return self._unsupported

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        units = ("app", "web", "worker")
        machine = Machine(
            files={f"/etc/{unit}.conf": "good" for unit in units} | {"/var/log/syslog": "quiet"},
            units={unit: index for index, unit in enumerate(units, start=1)},
            seed=seed,
        )
        return ToyWorld(machine)
