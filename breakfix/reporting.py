"""What a report is told beyond the records: what was to be played, and what a bundle says of its scenarios."""

from __future__ import annotations

from pathlib import Path

from compiler.verify import VerifiedBundle
from reports.background import Background, Finding
from reports.figures import Planned
from runners.store import PLAN_FILE, read_plan


def planned(run: Path) -> Planned | None:
    """The run's planned trials with their ids; None for records without a plan beside them. Raises RunFolderError."""
    if not (run / PLAN_FILE).is_file():
        return None
    return ((job.trial_id, job.trial) for job in read_plan(run).jobs())


def backgrounds(bundle: VerifiedBundle) -> list[Background]:
    """Each scenario's title, complaint and proof."""
    proofs = {} if bundle.proof is None else {proof.scenario: proof for proof in bundle.proof.scenarios}
    found = []
    for name, scenario in bundle.content.scenarios.items():
        proof = proofs.get(name)
        findings = () if proof is None else proof.findings
        found.append(
            Background(
                bundle_digest=bundle.digest,
                scenario=name,
                title=scenario.title,
                complaint=scenario.worlds[0].complaint,
                repeats=0 if proof is None else proof.repeats,
                findings=tuple(
                    Finding(check=each.check, world=each.world, passed=each.passed, detail=each.detail)
                    for each in findings
                ),
            )
        )
    return found
