"""Proving with a progress display, and a proof for people: what held, what failed, what did not apply."""

from __future__ import annotations

import os
from collections.abc import Sequence

from breakfix.cli.output import progress, say
from compiler.model import Proof, ScenarioProof
from compiler.verify import VerifiedBundle
from runners.prove.proving import prove
from runners.worlds import Backend

_SIGN = {True: "ok", False: "FAILED", None: "n/a"}


def prove_with_progress(
    bundle: VerifiedBundle,
    backend: Backend,
    *,
    scenarios: Sequence[str] = (),
    repeats: int,
    processes: int | None = None,
    quiet: bool,
) -> Proof:
    """Prove the named scenarios (none: all) on so many processes (None: every CPU)."""
    total = len(scenarios) or len(bundle.content.scenarios)
    done = 0
    with progress("scenarios proven", quiet=quiet) as advance:

        def report(proof: ScenarioProof) -> None:
            nonlocal done
            done += 1
            advance(done, total, proof.scenario)

        advance(0, total)
        return prove(
            bundle,
            backend,
            scenarios=scenarios,
            repeats=repeats,
            processes=processes or os.cpu_count() or 1,
            progress=report,
        )


def proof_rows(proof: Proof) -> list[dict[str, object]]:
    """Every finding as plain data."""
    return [
        {
            "scenario": scenario.scenario,
            "check": finding.check,
            "world": finding.world,
            "passed": finding.passed,
            "detail": finding.detail,
        }
        for scenario in proof.scenarios
        for finding in scenario.findings
    ]


def show_proof(proof: Proof, *, verbose: bool) -> None:
    """A line for each scenario and a line for each finding that failed; with `verbose`, for every finding."""
    for scenario in proof.scenarios:
        verdict = "proven" if scenario.holds else "NOT PROVEN"
        say(f"{scenario.scenario}: {verdict}, {len(scenario.findings)} findings, k = {scenario.repeats}")
        for finding in scenario.findings:
            if verbose or finding.passed is False:
                world = f" in {finding.world}" if finding.world else ""
                say(f"  {_SIGN[finding.passed]:<6} {finding.check}{world}: {finding.detail}")
