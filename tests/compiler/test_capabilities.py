from __future__ import annotations

from dataclasses import replace

from compiler.capabilities import CAPABILITIES, lacking
from compiler.resolve import resolve
from scenario_dsl.model import Probe
from scenario_dsl.modules import MODULES
from scenario_dsl.probes import PROBES
from tests.compiler.libraries import INVESTIGATION, MOUNT, RECOVERY, SYSTEM, library


def test_the_tables_speak_of_modules_and_probe_types_that_exist() -> None:
    for capabilities in CAPABILITIES.values():
        assert set(capabilities.lacks_modules) <= set(MODULES)
        assert set(capabilities.lacks_probes) <= set(PROBES)
        assert set(capabilities.modules) | set(capabilities.lacks_modules) == set(MODULES)
        assert set(capabilities.probes) | set(capabilities.lacks_probes) == set(PROBES)
    assert set(CAPABILITIES["sim"].modules) == set(MODULES)


def test_a_lack_names_the_fault_and_the_reason_once() -> None:
    settings = replace(MOUNT, witness=(Probe(type="sysctl", arguments={"key": "vm.swappiness", "equals": "0"}),))
    known = library()
    scenario = resolve(RECOVERY, replace(known, faults={**known.faults, MOUNT.name: settings}))
    lacks = lacking(scenario, SYSTEM, "container")
    assert [(lack.kind, lack.name, lack.user, lack.world) for lack in lacks] == [
        ("probe", "sysctl", "fault unmount", "primary")
    ]
    assert str(lacks[0]).startswith("fault unmount (world primary) uses the probe sysctl: most kernel settings")
    assert lacking(scenario, SYSTEM, "sim") == ()
    assert lacking(resolve(INVESTIGATION, library()), SYSTEM, "container") == ()


def test_a_probe_of_the_healthy_system_is_needed_too() -> None:
    system = replace(SYSTEM, healthy=(Probe(type="sysctl", arguments={"key": "net.ipv4.ip_forward", "equals": "0"}),))
    (lack,) = lacking(resolve(INVESTIGATION, library()), system, "container")
    assert str(lack).startswith("system web-server (world primary) uses the probe sysctl: most kernel settings")


def test_a_backend_that_is_not_there_is_a_lack() -> None:
    (lack,) = lacking(resolve(INVESTIGATION, library()), SYSTEM, "moon")
    assert "there are sim, container, kernel" in lack.reason
