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
class Flip:
    """The steps of gold (from 1) without which an objective of the primary is not met in the end."""

    objective: str
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A weakened form of gold. `noticed`: how the graders saw it, None where they did not; `waived`: why the author
    accepts that."""

    name: str
    kind: str
    noticed: str | None
    waived: str | None = None

    @property
    def survived(self) -> bool:
        return self.noticed is None and self.waived is None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check of the gate said in one world."""

    check: str
    world: str
    finding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitProof:
    """What the gate said to one bad habit, check by check. `general`: it is none of the scenario's own."""

    habit: str
    general: bool
    verdict: str
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How many of so many repeats in one world, each with a seed of its own, ended as the first did."""

    world: str
    alike: int
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioProof:
    """All that proving found out about one scenario. It holds when no finding says otherwise.

    image: `sha256:…` of what its worlds were started from; empty where worlds are started from nothing but the bundle.
    """

    scenario: str
    backend: str
    repeats: int
    findings: tuple[Finding, ...]
    image: str = ""
    flips: tuple[Flip, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    habits: tuple[HabitProof, ...] = ()
    agreement: tuple[Agreement, ...] = ()

    @property
    def waived(self) -> tuple[Mutant, ...]:
        """The mutants that nobody notices and the author accepts."""
        return tuple(mutant for mutant in self.mutants if mutant.waived is not None)

    @property
    def holds(self) -> bool:
        return bool(self.findings) and all(finding.passed is not False for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What `prove` found out about one bundle, bound to its digest. It holds when every scenario's does."""

    bundle_digest: str
    scenarios: tuple[ScenarioProof, ...]

    def waived(self, scenario: str) -> int:
        """How many mutants of a scenario its author waives."""
        return sum(len(proof.waived) for proof in self.scenarios if proof.scenario == scenario)

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
