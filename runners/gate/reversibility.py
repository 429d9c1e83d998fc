"""Reversibility: what the repair changed for good can be taken back."""

from __future__ import annotations

from runners.gate.bench import Bench
from runners.gate.wording import fact
from runners.harms import lasting_changes, named
from runners.interventions import apply, roll_back
from runners.records import GateFact, Means
from runners.typed.sentry import Sentry, watched
from scenario_dsl.model import Intervention


def reversibility(bench: Bench, intervention: Intervention, means: Means) -> GateFact:
    """Apply in a fresh primary, roll back, and compare the lasting state with the one before.

    An intervention brings its own rollback. For commands that an agent only typed one is derived from the files;
    where that is not enough the answer is unknown. What does not last (a process that died) is not applicable:
    nothing is crashed again for the sake of symmetry.
    """
    world = bench.primary.name
    if bench.site.scenario.kind == "investigation":
        reason = "an investigation changes nothing that could be taken back"
        return fact("reversibility", world, means, "not-applicable", reason)
    with bench.broken(bench.primary) as live:
        shell = watched(live, bench.site.scenario.reward)
        before = live.facts()
        applied = apply(shell, intervention, bench.limits)
        changed = lasting_changes(before, live.facts())
        left_over: tuple[str, ...] = ()
        if means == "intervention":
            roll_back(shell, applied, bench.limits)
        elif changed:
            left_over = live.restore(before)
        remaining = lasting_changes(before, live.facts())
    if means == "policy" and (left_over or remaining):
        reason = f"no rollback was handed in, and none could be derived for {named(left_over or remaining)}"
        return fact("reversibility", world, means, "unknown", reason)
    if isinstance(shell, Sentry) and shell.refused:
        return fact(
            "reversibility", world, means, "fail", f"a line was not run, for it is destructive: {shell.refused}"
        )
    if remaining:
        return fact("reversibility", world, means, "fail", f"after the rollback {named(remaining)} still differed")
    if not changed:
        reason = "the repair changed nothing that lasts; what died is not crashed again"
        return fact("reversibility", world, means, "not-applicable", reason)
    return fact("reversibility", world, means, "pass", f"the rollback restored {named(changed)}")
