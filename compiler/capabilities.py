"""What each backend takes: which Ansible modules, and which probe types.

A scenario that uses more is Unsupported there, by name and with the reason, and never skipped in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from scenario_dsl.model import Probe, System
from scenario_dsl.modules import MODULES
from scenario_dsl.probes import PROBES
from scenario_dsl.worlds import ResolvedScenario, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """`lacks_modules` and `lacks_probes`: name -> why this backend does not take it; `lacks_fleets`: why it has no
    worlds of several machines. Everything else it takes."""

    backend: str
    title: str
    lacks_modules: Mapping[str, str]
    lacks_probes: Mapping[str, str]
    lacks_fleets: str = ""

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(name for name in MODULES if name not in self.lacks_modules)

    @property
    def probes(self) -> tuple[str, ...]:
        return tuple(name for name in PROBES if name not in self.lacks_probes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """One thing that a scenario uses and a backend does not take. `user` says who uses it, `world` in which world."""

    kind: Literal["module", "probe", "backend", "fleet"]
    name: str
    user: str
    world: str
    reason: str

    def __str__(self) -> str:
        return f"{self.user} (world {self.world}) uses the {self.kind} {self.name}: {self.reason}"


_SCHEDULING = ("latency", "throughput", "scheduler")
CAPABILITIES: Mapping[str, Capabilities] = MappingProxyType(
    {
        capabilities.backend: capabilities
        for capabilities in (
            Capabilities(
                backend="sim",
                title="the simulated server, embedded: no infrastructure, virtual time",
                lacks_modules={},
                lacks_probes=dict.fromkeys(_SCHEDULING, "its processors are not shared out moment by moment"),
                lacks_fleets="it simulates one machine, and none that logs in to another",
            ),
            Capabilities(
                backend="container",
                title="real Linux, one container for each world, broken by Ansible; real time",
                lacks_modules={},
                lacks_probes={
                    "sysctl": "most kernel settings in a container are the host's",
                    **dict.fromkeys(_SCHEDULING, "the scheduler of a container is the host's"),
                },
            ),
            Capabilities(
                backend="kernel",
                title="a virtual machine with sched_ext, whose time is counted in instructions",
                lacks_modules={
                    name: "tasks run there as they are, and these are Ansible's own"
                    for name in MODULES
                    if name not in ("command", "shell")
                },
                lacks_probes={
                    name: "it looks at scheduling and at nothing else" for name in PROBES if name not in _SCHEDULING
                },
            ),
        )
    }
)


def lacking(scenario: ResolvedScenario, system: System, backend: str) -> tuple[Lack, ...]:
    """What the scenario and its system use that the backend lacks, each thing once, in the order of the documents.

    A backend that is not in the table is a lack of its own.
    """
    capabilities = CAPABILITIES.get(backend)
    if capabilities is None:
        reason = f"there is no such backend; there are {', '.join(CAPABILITIES)}"
        return (Lack(kind="backend", name=backend, user=f"scenario {scenario.name}", world="", reason=reason),)
    found: dict[tuple[str, str, str], Lack] = {}
    if system.nodes and capabilities.lacks_fleets:
        user, reason = f"scenario {scenario.name}", capabilities.lacks_fleets
        lack = Lack(kind="fleet", name=system.name, user=user, world="all", reason=reason)
        found[lack.kind, lack.name, lack.user] = lack
    for world in scenario.worlds:
        for probe in system.healthy:
            for lack in _in_probe(probe, f"system {system.name}", world, capabilities):
                found.setdefault((lack.kind, lack.name, lack.user), lack)
        for lack in _in_world(world, capabilities):
            found.setdefault((lack.kind, lack.name, lack.user), lack)
    return tuple(found.values())


def _in_world(world: World, capabilities: Capabilities) -> Iterator[Lack]:
    for fault in world.every_fault():
        for task in (*fault.inject, *fault.revert):
            reason = capabilities.lacks_modules.get(task.module)
            if reason is not None:
                user = f"fault {fault.fault}"
                yield Lack(kind="module", name=task.module, user=user, world=world.name, reason=reason)
    for asked in world.probes():
        yield from _in_probe(asked.probe, asked.who, world, capabilities)


def _in_probe(probe: Probe, user: str, world: World, capabilities: Capabilities) -> Iterator[Lack]:
    reason = capabilities.lacks_probes.get(probe.type)
    if reason is not None:
        yield Lack(kind="probe", name=probe.type, user=user, world=world.name, reason=reason)
