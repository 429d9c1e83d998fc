"""Repeat: a second application changes nothing any more."""

from __future__ import annotations

from runners.gate.bench import Bench
from runners.gate.wording import fact
from runners.harms import appeared, lasting_changes, named, restarted
from runners.interventions import apply
from runners.records import GateFact, Means
from runners.typed.sentry import watched
from runners.worlds import Facts
from scenario_dsl.model import Intervention


def repeat(bench: Bench, intervention: Intervention, means: Means) -> GateFact:
    """Apply twice in a fresh primary and compare the second time's before and after.

    Lasting state is compared by digest: a line appended twice counts. Only of a password that the first application
    changed nobody can tell by its hash whether it is another one now: a salt makes every hash new.

    An intervention must not disturb a process the second time either. For commands that an agent only typed (`means`
    is policy) that is left to the control, where the agent can look first: typed again blindly, any restart would
    count against it.
    """
    world = bench.primary.name
    if bench.site.scenario.kind == "investigation":
        return fact("repeat", world, means, "not-applicable", "an investigation changes nothing that could be repeated")
    with bench.broken(bench.primary) as live:
        shell = watched(live, bench.site.scenario.reward)
        untouched = live.facts()
        apply(shell, intervention, bench.limits)
        before = live.facts()
        apply(shell, intervention, bench.limits)
        after = live.facts()
    own = before.persistent.keys() - untouched.persistent.keys()
    changed = tuple(
        path for path in lasting_changes(before, after, own=own) if not _hashed_anew(path, untouched, before, after)
    )
    if changed:
        return fact("repeat", world, means, "fail", f"a second application changed {named(changed)}")
    disturbed = (*restarted(before, after), *appeared(before, after))
    if disturbed and means == "intervention":
        return fact("repeat", world, means, "fail", f"a second application restarted {named(disturbed)}")
    return fact("repeat", world, means, "pass", "a second application changed nothing that lasts")


def _hashed_anew(path: str, untouched: Facts, before: Facts, after: Facts) -> bool:
    """Has the second application changed nothing in this file but salted hashes, where the first one had changed it?"""
    first, second = before.persistent.get(path, ""), after.persistent.get(path, "")
    return (
        untouched.persistent.get(path) != before.persistent.get(path)
        and before.unsalted.get(path) == after.unsalted.get(path) is not None
        and first.split(":", 3)[:3] == second.split(":", 3)[:3]
    )
