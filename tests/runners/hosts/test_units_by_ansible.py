"""Ansible's systemd and service modules: the real ones on a real systemd, and those of the simulated server.

The same tasks one after the other on the small system in a container and in the simulator. After each of them both say
what changed, what failed, and what systemctl then tells of the unit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from runners.backends.container import ContainerBackend
from runners.hosts import playbooks
from runners.hosts.world import ContainerWorld
from runners.sim.build import boot
from runners.sim.machine import Machine
from runners.sim.shell.running import run_job
from runners.sim.tasks.play import apply
from runners.system import SystemSpec
from scenario_dsl.model import Task
from scenario_dsl.values import freeze
from tests.conformance.worlds import library, open_small
from tests.engine import built

pytestmark = pytest.mark.engine

_BAD_UNIT = "[Service]\nExecStart=/usr/bin/nothing-there\n"
_UNIT = "[Unit]\nDescription=Naps\n[Service]\nExecStart=/usr/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"
TASKS: list[tuple[str, dict[str, Any]]] = [
    ("systemd", {"name": "nginx", "state": "started"}),
    ("systemd", {"name": "nginx", "state": "stopped"}),
    ("systemd", {"name": "nginx", "state": "stopped"}),
    ("systemd", {"name": "nginx.service", "state": "started"}),
    ("systemd", {"name": "nginx", "state": "restarted"}),
    ("systemd", {"name": "nginx", "state": "reloaded"}),
    ("systemd", {"name": "nginx", "enabled": False}),
    ("systemd", {"name": "nginx", "enabled": False}),
    ("systemd", {"name": "nginx", "enabled": True}),
    ("systemd", {"name": "nginx", "enabled": True, "state": "stopped"}),
    ("systemd", {"name": "nginx", "state": "reloaded"}),
    ("systemd", {"name": "nginx", "masked": True}),
    ("systemd", {"name": "nginx", "masked": True}),
    ("systemd", {"name": "nginx", "state": "started"}),
    ("systemd", {"name": "nginx", "masked": False, "state": "started"}),
    ("systemd", {"name": "no-such-unit", "state": "started"}),
    ("systemd", {"name": "no-such-unit", "state": "stopped"}),
    ("systemd", {"name": "no-such-unit", "enabled": True}),
    ("systemd", {"daemon_reload": True}),
    ("copy", {"dest": "/etc/systemd/system/naps.service", "content": _UNIT}),
    ("systemd", {"name": "naps", "state": "started", "daemon_reload": True}),
    ("systemd", {"name": "naps", "enabled": True}),
    ("systemd", {"name": "naps", "state": "restarted", "enabled": False}),
    ("copy", {"dest": "/etc/systemd/system/naps.service", "content": _BAD_UNIT}),
    ("systemd", {"name": "naps", "state": "restarted", "daemon_reload": True}),
    ("systemd", {"name": "naps", "state": "stopped"}),
    ("systemd", {"name": "naps", "enabled": True}),
    ("file", {"path": "/etc/systemd/system/naps.service", "state": "absent"}),
    ("systemd", {"daemon_reload": True}),
    ("systemd", {"name": "naps", "state": "started"}),
    ("service", {"name": "redis-server", "state": "started"}),
    ("service", {"name": "redis-server", "state": "stopped"}),
    ("service", {"name": "redis-server", "state": "stopped", "enabled": False}),
    ("service", {"name": "redis-server", "state": "started", "enabled": True}),
    ("service", {"name": "redis-server", "state": "restarted"}),
    ("service", {"name": "no-such-unit", "state": "started"}),
    ("systemd", {"name": "worker", "state": "stopped", "masked": True}),
    ("systemd", {"name": "worker", "state": "started"}),
    ("systemd", {"name": "worker", "masked": False}),
    ("systemd", {"name": "worker", "state": "started"}),
]


def test_units_agree(tmp_path: Path) -> None:
    built("small")
    live = open_small(ContainerBackend())
    assert isinstance(live, ContainerWorld)
    try:
        real = _play_real(live, tmp_path)
    finally:
        live.close()
    machine = boot(SystemSpec.of(library().systems["small"]), run_job=run_job)
    simulated = [_play_sim(machine, module, arguments) for module, arguments in TASKS]
    differences = [
        f"{number}. {module} {arguments}: real {one}, simulated {other}"
        for number, ((module, arguments), one, other) in enumerate(zip(TASKS, real, simulated, strict=True))
        if one != other
    ]
    assert not differences, "\n".join(differences)


def _look(arguments: Mapping[str, Any]) -> str:
    """How the unit stands, in systemctl's words."""
    name = str(arguments.get("name", "naps")).removesuffix(".service")
    return f"systemctl is-active {name} 2>&1; systemctl is-enabled {name} 2>/dev/null; true"


def _outcome(result: Mapping[str, Any], looked: Mapping[str, Any]) -> tuple[bool, bool, str]:
    return bool(result.get("changed")), bool(result.get("failed")), str(looked["stdout"])


def _play_real(live: ContainerWorld, folder: Path) -> list[tuple[bool, bool, str]]:
    tasks: list[dict[str, Any]] = []
    for number, (module, arguments) in enumerate(TASKS):
        tasks.append({module: arguments, "register": f"did_{number}", "ignore_errors": True})
        tasks.append({"shell": {"cmd": _look(arguments)}, "register": f"saw_{number}"})
    everything = "[" + ", ".join(f"[did_{number}, saw_{number}]" for number in range(len(TASKS))) + "]"
    out = folder / "results.json"
    tasks.append({"copy": {"content": "{{ " + everything + " | to_json }}", "dest": str(out)},
                  "delegate_to": "controller"})  # fmt: skip
    (folder / "play.yml").write_text(yaml.safe_dump([{"hosts": "worlds", "gather_facts": False, "tasks": tasks}]))
    (folder / "hosts").write_text(
        f"[worlds]\n{live._box.container} ansible_connection=engine ansible_python_interpreter=/usr/bin/python3\n"
        f"[others]\ncontroller ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    )
    plugins = Path(playbooks.__file__).parent / "ansible_plugins"
    program = shutil.which("ansible-playbook", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert program is not None
    done = subprocess.run(
        [program, "-i", str(folder / "hosts"), str(folder / "play.yml")],
        env={**os.environ, "ANSIBLE_CONNECTION_PLUGINS": str(plugins), "ANSIBLE_HOME": str(folder / "home"),
             "ANSIBLE_PIPELINING": "True", "ANSIBLE_DEPRECATION_WARNINGS": "false", "LC_ALL": "C.UTF-8",
             "BREAKFIX_RECORDING": str(folder / "recording"), "BREAKFIX_SECONDS": "300",
             "DOCKER_HOST": live._engine.url},
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return [_outcome(did, saw) for did, saw in json.loads(out.read_text())]


def _play_sim(machine: Machine, module: str, arguments: dict[str, Any]) -> tuple[bool, bool, str]:
    did, saw = (
        apply(machine, Task(name="", module=name, arguments=freeze(given)), {}).registered()
        for name, given in ((module, arguments), ("shell", {"cmd": _look(arguments)}))
    )
    assert isinstance(did, dict)
    assert isinstance(saw, dict)
    return _outcome(did, saw)
