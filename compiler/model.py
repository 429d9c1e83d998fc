"""What the compiler makes of concrete worlds: bundles, proofs, and the typed content of a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenario_dsl.model import System
from scenario_dsl.worlds import ResolvedScenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A compiled pack, in memory and not yet trusted: path inside the bundle -> bytes, manifest included.

    `digest` is the sha256 (hex) of the canonical manifest, which lists the sha256 of every other file.
    """

    name: str
    version: str
    digest: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that proving established, or failed to.

    `check` names which of the eight points (healthy, witnessed, nop, gold, bad, mutants, revert, repeat); `passed` is
    None where it does not apply to this scenario, and `detail` then says why.
    """

    check: str
    world: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioProof:
    scenario: str
    backend: str
    repeats: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        return bool(self.findings) and all(finding.passed is not False for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What `prove` found out about one bundle, bound to its digest. It holds when every scenario's does."""

    bundle_digest: str
    scenarios: tuple[ScenarioProof, ...]

    @property
    def holds(self) -> bool:
        return bool(self.scenarios) and all(scenario.holds for scenario in self.scenarios)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackContent:
    """The typed content of a bundle: what runners read once its bytes are verified."""

    name: str
    version: str
    digest: str
    canary: str
    policies: tuple[str, ...]
    systems: Mapping[str, System]
    scenarios: Mapping[str, ResolvedScenario]
