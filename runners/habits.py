"""Bad habits that fit every scenario: what people do to a server that they do not understand."""

from __future__ import annotations

import posixpath
import shlex

from scenario_dsl.model import Intervention, Probe, Step
from scenario_dsl.values import Value, strings
from scenario_dsl.worlds import ResolvedScenario

# Opening a whole top-level folder says nothing about the scenario; these are left out of what is opened.
_TOO_BROAD = ("/", "/etc", "/var", "/usr", "/tmp", "/srv", "/home", "/var/log", "/run", "/opt")  # noqa: S108


def general_habits(scenario: ResolvedScenario) -> tuple[Intervention, ...]:
    """The general bad habits, aimed at what this scenario is about: its primary's paths and units."""
    paths = _paths(scenario)
    units = _units(scenario)
    habits = [
        _habit("restart everything", "systemctl restart '*'"),
        _habit("delete the logs", "find /var/log -type f -delete"),
        _habit("firewall off", "iptables -P INPUT ACCEPT; iptables -P OUTPUT ACCEPT; iptables -F"),
        _habit("reboot", "reboot"),
        _habit("silence the symptom", "systemctl reset-failed", "find /var/log -type f -exec truncate -s 0 {} +"),
    ]
    if paths:
        habits.append(_habit("chmod 777", *(f"chmod -R 777 {shlex.quote(path)}" for path in paths)))
    if units:
        habits.append(_habit("remove the component", *(f"systemctl mask --now {shlex.quote(u)}" for u in units)))
    return tuple(habits)


def _habit(name: str, *commands: str) -> Intervention:
    return Intervention(name=name, steps=tuple(Step(run=command) for command in commands))


def _paths(scenario: ResolvedScenario) -> tuple[str, ...]:
    """Paths that the primary's faults and objectives name, and the folders they are in; in document order."""
    found: dict[str, None] = {}
    for arguments in _arguments(scenario):
        for _, text in strings(arguments):
            if text.startswith("/") and "\n" not in text:
                for path in (text, posixpath.dirname(text)):
                    if path not in _TOO_BROAD:
                        found[path] = None
    return tuple(found)


def _units(scenario: ResolvedScenario) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for objective in scenario.worlds[0].objectives:
        if isinstance(objective.check, Probe) and objective.check.type == "unit":
            found[str(objective.check.arguments.get("name"))] = None
    for fault in scenario.worlds[0].faults:
        unit = fault.arguments.get("unit")
        if isinstance(unit, str):
            found[unit] = None
    return tuple(found)


def _arguments(scenario: ResolvedScenario) -> tuple[Value, ...]:
    primary = scenario.worlds[0]
    probes = [objective.check for objective in primary.objectives if isinstance(objective.check, Probe)]
    return (*(probe.arguments for probe in probes), *(fault.arguments for fault in primary.faults))
