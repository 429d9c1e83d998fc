"""Proving with a progress display, and a proof for people: what held, what failed, and the figures behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from breakfix.cli.output import progress, say
from compiler.codec import plain
from compiler.model import Proof, ScenarioProof
from compiler.verify import VerifiedBundle
from runners.prove.keeping import Kept
from runners.prove.proving import prove
from runners.worlds import Backend

_SIGN = {True: "ok", False: "FAILED", None: "n/a"}


def prove_with_progress(
    bundle: VerifiedBundle,
    backend: Backend,
    *,
    scenarios: Sequence[str] | None = None,
    repeats: int,
    processes: int | None = None,
    quiet: bool,
    kept: Kept | None = None,
) -> Proof:
    """Prove the named scenarios (None: all) on so many processes (None: every CPU); kept: see `prove`."""
    with progress("checks of proofs", quiet=quiet) as advance:
        return prove(
            bundle,
            backend,
            scenarios=scenarios,
            repeats=repeats,
            processes=processes or os.cpu_count() or 1,
            progress=advance,
            kept=kept,
        )


def as_document(proof: Proof) -> dict[str, object]:
    """The whole proof as plain data: what is signed, and whether it holds."""
    return {
        "digest": proof.bundle_digest,
        "holds": proof.holds,
        "scenarios": [{"holds": each.holds, **_mapping(each)} for each in proof.scenarios],
    }


def show_proof(proof: Proof, *, verbose: bool) -> None:
    """A line for each scenario, one for each finding that failed and each waiver; with `verbose` all there is."""
    for scenario in proof.scenarios:
        for line in _lines(scenario, verbose=verbose):
            say(line)


def _lines(proof: ScenarioProof, *, verbose: bool) -> Iterator[str]:
    verdict = "proven" if proof.holds else "NOT PROVEN"
    survivors = sum(mutant.survived for mutant in proof.mutants)
    yield (
        f"{proof.scenario}: {verdict}, {len(proof.findings)} findings, {len(proof.mutants)} mutants "
        f"({survivors} survived, {len(proof.waived)} waived), {len(proof.habits)} bad habits "
        f"({sum(habit.verdict == 'VERIFIED' for habit in proof.habits)} VERIFIED), k = {proof.repeats}"
    )
    for finding in proof.findings:
        if verbose or finding.passed is False:
            world = f" in {finding.world}" if finding.world else ""
            yield f"  {_SIGN[finding.passed]:<6} {finding.check}{world}: {finding.detail}"
    for mutant in proof.waived:
        yield f"  waived gold {mutant.name}: {mutant.waived}"
    if verbose:
        yield from _figures(proof)


def _figures(proof: ScenarioProof) -> Iterator[str]:
    yield "  objectives, and the steps of gold that each is lost without:"
    for flip in proof.flips:
        yield f"    {flip.objective}: {', '.join(map(str, flip.steps)) or 'none'}"
    yield "  weakened forms of gold, and how each was noticed:"
    for mutant in proof.mutants:
        yield f"    {mutant.kind}: {mutant.name}: {mutant.noticed or 'by nobody'}"
    yield "  bad habits, and who refused each:"
    for habit in proof.habits:
        refusing = [f"{check.check} in {check.world}" for check in habit.checks if check.finding in ("fail", "harm")]
        yield f"    {habit.habit}: {habit.verdict}: {', '.join(refusing) or 'nobody'}"
    yield "  repeats that ended alike:"
    for agreement in proof.agreement:
        yield f"    {agreement.world}: {agreement.alike} of {agreement.repeats}"


def _mapping(proof: ScenarioProof) -> dict[str, object]:
    data = plain(proof)
    assert isinstance(data, dict)
    return data
