"""A small real system and one repair on it, by hand: what the runners need of the simulated server, and no more."""

from __future__ import annotations

from dataclasses import replace

from compiler.bundle import assemble
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from scenario_dsl.model import Intervention, Limits, Step, System, SystemFile, Task
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario, World
from tests.runners.cases import PACK, contains, repair, service, steps, unit, write

UNITS = ("app", "web", "worker")
UNIT_FILE = """[Unit]
Description=The {name}

[Service]
ExecStartPre=/usr/bin/grep -q good /etc/{name}.conf
ExecStart=/usr/sbin/cron -f

[Install]
WantedBy=multi-user.target
"""

SYSTEM = System(
    name="toy",
    title="A small server",
    files=(
        SystemFile(path="/etc/passwd", content="root:x:0:0:root:/root:/bin/bash\n"),
        SystemFile(path="/etc/group", content="root:x:0:\nadm:x:4:\n"),
        SystemFile(path="/etc/shadow", content="root:*:19000:0:99999:7:::\n", mode="0640"),
        SystemFile(path="/root", type="directory"),
        SystemFile(path="/tmp", type="directory", mode="1777"),
        SystemFile(path="/var/log/syslog", content="quiet\n"),
        *(SystemFile(path=f"/etc/{name}.conf", content="good\n") for name in UNITS),
        *(
            SystemFile(path=f"/lib/systemd/system/{name}.service", content=UNIT_FILE.format(name=name))
            for name in UNITS
        ),
    ),
    settings={
        "hostname": "box",
        "programs": {"/usr/sbin/cron": "cron"},
        "units": {"enabled": UNITS, "running": UNITS},
        "volatile": ("/var/log/**", "/run/**", "/tmp/**", "/proc/**"),
    },
    healthy=tuple(unit(name) for name in UNITS),
)

GOLD = Intervention(
    name="gold",
    hypothesis="a unit does not start because its configuration was damaged",
    falsifier='test -z "$(systemctl list-units --state=failed --plain --no-legend)"',
    steps=(
        Step(
            discover="unit",
            run="systemctl list-units --state=failed --plain --no-legend | head -n 1 | cut -d. -f1",
        ),
        Step(
            run="echo good > /etc/{{ unit }}.conf",
            only_if="grep -q bad /etc/{{ unit }}.conf",
            undo="echo bad > /etc/{{ unit }}.conf",
        ),
        Step(run="systemctl start {{ unit }}", undo="systemctl stop {{ unit }}"),
    ),
)


def broken_config(name: str) -> ResolvedFault:
    path = f"/etc/{name}.conf"
    restart = Task(name="it notices", module="shell", arguments={"cmd": f"systemctl restart {name} || true"})
    return ResolvedFault(
        fault="broken_config",
        arguments={"unit": name},
        inject=(write(path, "bad\n"), restart),
        revert=(write(path, "good\n"), service(name, "started")),
        witness=(contains(path, "^bad$"), unit(name, "failed")),
    )


def small_repair() -> ResolvedScenario:
    """The toy host's repair with real commands in it."""
    base = repair()

    def real(world: World) -> World:
        if world.role == "control":
            return world
        return replace(world, faults=(broken_config(str(world.parameters["unit"])),))

    return replace(
        base,
        worlds=tuple(real(world) for world in base.worlds),
        gold=GOLD,
        bad=(
            Intervention(name="known name", steps=steps("echo good > /etc/app.conf", "systemctl restart app")),
            Intervention(name="only restart", steps=steps("systemctl restart app")),
            Intervention(name="stop the web", steps=steps("systemctl stop web", "echo good > /etc/app.conf")),
        ),
        limits=Limits(commands=15, seconds=600.0, output_bytes=4000),
    )


def small_bundle() -> VerifiedBundle:
    return verify_under_ephemeral_key(assemble(PACK, (SYSTEM,), (small_repair(),)))
