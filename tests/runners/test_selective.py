"""What a backend cannot measure is not asked of the healthy system, and the proof says so."""

from __future__ import annotations

from dataclasses import replace

from compiler.bundle import assemble
from compiler.verify import verify_under_ephemeral_key
from runners.prove.proving import prove
from scenario_dsl.model import Probe
from tests.runners.cases import PACK, SYSTEM, contains, repair
from tests.runners.toy import ToyBackend


class Selective(ToyBackend):
    def measures(self, probe: Probe) -> bool:
        return probe.type != "sysctl"


def healthy_findings(backend: ToyBackend) -> list[tuple[bool | None, str]]:
    unknown = Probe(type="sysctl", arguments={"key": "a", "equals": "b"})
    system = replace(SYSTEM, healthy=(contains("/etc/web.conf", "good"), unknown))
    (proof,) = prove(verify_under_ephemeral_key(assemble(PACK, (system,), (repair(),))), backend, repeats=1).scenarios
    return [(found.passed, found.detail) for found in proof.findings if found.check == "healthy"]


def test_it_is_left_out() -> None:
    findings = healthy_findings(Selective())
    assert findings
    for passed, detail in findings:
        assert passed
        assert detail.endswith("probes hold and no request fails; 1 cannot be measured here")


def test_a_backend_that_measures_everything_is_asked_everything() -> None:
    assert all(detail == "no probe sysctl" for _, detail in healthy_findings(ToyBackend()))
