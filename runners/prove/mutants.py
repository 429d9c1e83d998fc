"""Point 6: would the grader notice if the solution were less than it is? And does every cascade ever fire?"""

from __future__ import annotations

from dataclasses import replace

from compiler.model import Finding
from runners.gate.bench import Bench
from runners.harms import appeared, lasting_changes, restarted
from runners.interventions import apply
from runners.prove.case import Case, finding, full, lost, why_not_verified
from runners.records import TrialRecord
from scenario_dsl.model import Answer, Intervention, Probe


def mutants(case: Case) -> tuple[Finding, ...]:
    """Drop each step of gold that changes or answers something: the score must fall or the gate must refuse.

    Each state and each answer that is worth points must be lost with some step; otherwise no step earns it.
    """
    if not full(case.gold(case.primary), case.primary):
        return (finding("mutants", case.primary, False, "gold itself does not earn everything: nothing can be shown"),)
    findings: list[Finding] = []
    flipped: set[str] = set()
    effective = _effective_steps(case)
    for index, step in enumerate(case.scenario.gold.steps):
        if step.discover is not None:
            # Without what it discovers, later steps would be nonsense: that shows nothing about the grader.
            continue
        losses, seen = _play_without(case, index)
        flipped.update(losses)
        said = _step_text(case.scenario.gold, index)
        if seen is not None:
            findings.append(finding("mutants", case.primary, True, f"without step {index + 1} ({said}): {seen}"))
        elif index in effective:
            detail = f"nobody notices when step {index + 1} ({said}) is left out: sharpen an objective that it serves"
            findings.append(finding("mutants", case.primary, False, detail))
    if not findings:
        findings.append(finding("mutants", case.primary, False, "no step of gold changes or answers anything"))
    for objective in case.primary.objectives:
        if isinstance(objective.check, Probe | Answer) and objective.name not in flipped:
            detail = f"objective `{objective.name}` is met whichever single step of gold is left out: sharpen it"
            findings.append(finding("mutants", case.primary, False, detail))
    return tuple(findings)


def cascades(case: Case) -> tuple[Finding, ...]:
    """Every cascade fired in something that was played before; so this check comes last."""
    if not case.primary.cascades:
        return (finding("mutants", case.primary, None, "the scenario has no cascades"),)
    return tuple(
        finding(
            "mutants",
            case.primary,
            case.fired(cascade.name),
            f"cascade `{cascade.name}` {'fires' if case.fired(cascade.name) else 'never fires, whoever plays'}",
        )
        for cascade in case.primary.cascades
    )


def _effective_steps(case: Case) -> frozenset[int]:
    """Indexes of gold's steps that answer, that can be undone, or that visibly changed the primary."""
    steps = case.scenario.gold.steps
    effective = {index for index, step in enumerate(steps) if step.answer is not None or step.undo is not None}
    bench = Bench(site=case.site, limits=case.scenario.limits, seed=0)
    with bench.broken(case.primary) as live:
        last = live.facts()

        def compare(index: int) -> None:
            nonlocal last
            now = live.facts()
            if lasting_changes(last, now) or restarted(last, now) or appeared(last, now):
                effective.add(index)
            last = now

        apply(live, case.scenario.gold, case.scenario.limits, compare)
    return frozenset(effective)


def _play_without(case: Case, index: int) -> tuple[frozenset[str], str | None]:
    """The objectives of the primary that are lost without the step, and how it was noticed (None: it was not)."""
    gold = case.scenario.gold
    steps = tuple(step for number, step in enumerate(gold.steps) if number != index)
    mutant = replace(gold, name=f"gold without step {index + 1}", steps=steps)
    noticed: str | None = None
    losses: frozenset[str] = frozenset()
    for world in case.broken_worlds:
        record = case.intervene(world, mutant)
        if world is case.primary:
            losses = frozenset(lost(record)) - frozenset(lost(case.gold(world)))
        noticed = noticed or _noticed(case, world.name, record)
    return losses, noticed


def _noticed(case: Case, world: str, record: TrialRecord) -> str | None:
    if not full(record, case.scenario.world(world)):
        return f"{record.score:g} points in `{world}`"
    if record.outcome != "Passed":
        return record.facts[0].reason
    return why_not_verified(record) if world == case.primary.name else None


def _step_text(gold: Intervention, index: int) -> str:
    step = gold.steps[index]
    text = step.run if step.run is not None else f"answer {step.answer}"
    first = text.strip().splitlines()[0] if text.strip() else text
    return f"`{first}`"
