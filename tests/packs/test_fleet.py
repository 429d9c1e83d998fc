"""The fleet: a healthy one is what its controller's project says, and only containers can play it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader

from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.backends.sim import SimBackend
from scenario_dsl.library import load_library

PACKS = Path(__file__).parents[2] / "packs"
SYSTEMS = PACKS / "fleet" / "systems"
PROJECT = SYSTEMS / "edge-control/files/srv/edge"
CONFIG = "etc/nginx/conf.d/site.conf"


def rendered(role: str, **variables: Any) -> str:
    """As Ansible's template module does it."""
    folder = PROJECT / "roles" / role / "templates"
    environment = Environment(loader=FileSystemLoader(folder), trim_blocks=True)
    return environment.get_template("site.conf.j2").render(**variables) + "\n"


def test_the_pack_is_sound_and_the_sim_says_why_it_cannot_play_it() -> None:
    content = verify_under_ephemeral_key(compile_pack(load_library(PACKS / "fleet", [PACKS]))).content
    assert set(content.systems) == {"edge-control", "edge-lb", "edge-web"}
    reason = SimBackend().unsupported(content, content.scenarios["drifted-fleet"])
    assert reason is not None
    assert "it simulates one machine" in reason


def test_the_machines_have_what_the_project_says() -> None:
    values = yaml.safe_load((PROJECT / "group_vars/web.yml").read_text())
    assert rendered("web", **values) == (SYSTEMS / "edge-web/files" / CONFIG).read_text()
    described = yaml.safe_load((SYSTEMS / "edge-control/system.yml").read_text())["nodes"]
    machines = {name: {"ansible_host": node["address"].partition("/")[0]} for name, node in described.items()}
    web = [name for name in machines if name.startswith("web-")]
    balancer = rendered("balancer", groups={"web": web}, hostvars=machines)
    assert balancer == (SYSTEMS / "edge-lb/files" / CONFIG).read_text()
    inventory = (PROJECT / "inventory.ini").read_text()
    for name, machine in machines.items():
        assert f"{name} ansible_host={machine['ansible_host']}\n" in inventory
