"""Point 6: would the graders notice if the solution were less than it is? And does every cascade ever fire?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from compiler.model import Flip, Mutant
from runners.crowding import Once
from runners.gate.bench import Bench
from runners.harms import appeared, lasting_changes, restarted
from runners.interventions import apply
from runners.prove.case import Case, Established, finding, full, lost, why_not_verified
from runners.prove.mutants import Mutation, dropped, mutations
from runners.records import TrialRecord
from runners.worlds import Crowded
from scenario_dsl.model import Answer, Objective, Probe

MOST_WAIVED = 10
"""One in so many mutants may be waived."""


class _Effects(NamedTuple):
    """steps: indexes of gold's steps that answer, that can be undone, or that visibly changed the primary; bindings:
    what it found there."""

    steps: frozenset[int]
    bindings: Mapping[str, str]


class _Seen(NamedTuple):
    """What came of playing a mutant: the objectives of the primary that it loses, and how it was noticed, if it was."""

    losses: frozenset[str]
    noticed: str | None


def mutants(case: Case) -> tuple[Established, ...]:
    """Each weakened form of gold must lose points or be refused by the gate, or its author must say why not.

    Each state and each answer that is worth points must be lost with some step; otherwise no step earns it.
    """
    flips: dict[str, list[int]] = {}
    effects = Once(partial(_effects, case))
    weakened = tuple(dropped(case.scenario.gold))
    # Side by side, for where worlds are slow each way through all of this takes minutes.
    alone: tuple[Callable[[], dict[Mutation, _Seen]], ...] = (
        lambda: _played(case, _others(case, effects()), lambda each: _play(case, each)),
        lambda: _played(case, weakened, lambda each: _play_without(case, each, effects)),
    )
    first, without = case.each(lambda part: part(), alone)
    if not full(case.gold(case.primary), case.primary):
        return (finding("mutants", case.primary, False, "gold itself does not earn everything: nothing can be shown"),)
    played: list[tuple[Mutation, _Seen]] = []
    effective = effects().steps
    for mutation, seen in without.items():
        for name in sorted(seen.losses):
            flips.setdefault(name, []).append(mutation.steps[0] + 1)
        # A step that only looks may be left out unnoticed.
        if seen.noticed is not None or mutation.steps[0] in effective:
            played.append((mutation, seen))
    # What a step changes may be of no lasting account (a log, say) and still be worth points.
    earning = {number - 1 for objective in _worth(case) for number in flips.get(objective.name, ())}
    others = _others(case, effects()._replace(steps=effective | earning))
    more = _played(case, [each for each in others if each not in first], lambda each: _play(case, each))
    played += [(each, first[each] if each in first else more[each]) for each in others]
    return (
        *(Flip(objective=objective.name, steps=tuple(flips.get(objective.name, ()))) for objective in _worth(case)),
        *(_told(case, mutation, seen) for mutation, seen in played),
        *_survivors(case, played, flips),
        *_waivers(case, played),
        *_unearned(case, flips),
    )


def cascades(case: Case) -> tuple[Established, ...]:
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


def _survivors(
    case: Case, played: list[tuple[Mutation, _Seen]], flips: Mapping[str, list[int]]
) -> Iterator[Established]:
    missed = [mutation for mutation, seen in played if seen.noticed is None]
    for mutation in missed:
        if mutation.name not in case.scenario.waivers:
            detail = (
                f"nobody notices gold {mutation.name}{_text(case, mutation)}: sharpen {_blunt(case, mutation, flips)}"
            )
            yield finding("mutants", case.primary, False, detail)
    if not played:
        yield finding("mutants", case.primary, False, "no step of gold changes or answers anything")
    noticed = len(played) - len(missed)
    yield finding("mutants", case.primary, True, f"{noticed} of {len(played)} weakened forms of gold are noticed")


def _waivers(case: Case, played: list[tuple[Mutation, _Seen]]) -> Iterator[Established]:
    names = {mutation.name for mutation, seen in played if seen.noticed is None}
    for name in case.scenario.waivers:
        if name not in names:
            yield finding("mutants", case.primary, False, f"the waiver `{name}` is for nothing that goes unnoticed")
    waived = len(names & case.scenario.waivers.keys())
    if waived * MOST_WAIVED > len(played):
        detail = f"{waived} of {len(played)} weakened forms of gold are waived; at most one in {MOST_WAIVED} may be"
        yield finding("mutants", case.primary, False, detail)


def _unearned(case: Case, flips: Mapping[str, list[int]]) -> Iterator[Established]:
    for objective in _worth(case):
        if objective.name not in flips:
            detail = f"objective `{objective.name}` is met whichever single step of gold is left out: sharpen it"
            yield finding("mutants", case.primary, False, detail)


def _worth(case: Case) -> Iterator[Objective]:
    """The objectives that a step has to earn: states and answers."""
    return (each for each in case.primary.objectives if isinstance(each.check, Probe | Answer))


def _told(case: Case, mutation: Mutation, seen: _Seen) -> Mutant:
    waived = case.scenario.waivers.get(mutation.name) if seen.noticed is None else None
    return Mutant(name=mutation.name, kind=mutation.kind, noticed=seen.noticed, waived=waived)


def _blunt(case: Case, mutation: Mutation, flips: Mapping[str, list[int]]) -> str:
    """The objective that the changed step serves: one that is lost without it, or else the next that gold meets."""
    numbers = {index + 1 for index in mutation.steps}
    served = [name for name, steps in flips.items() if numbers & {*steps}]
    if not served:
        later = [name for name, steps in flips.items() if max(steps) > min(numbers)]
        served = later or [objective.name for objective in _worth(case)][-1:]
    return f"objective `{served[0]}`, or add one that this step serves"


def _text(case: Case, mutation: Mutation) -> str:
    if mutation.kind != "dropped step":
        return ""
    step = case.scenario.gold.steps[mutation.steps[0]]
    text = (step.run if step.run is not None else f"answer {step.answer}").strip()
    return f" (`{text.splitlines()[0] if text else text}`)"


def _others(case: Case, effects: _Effects) -> tuple[Mutation, ...]:
    system = case.site.content.systems[case.scenario.system]
    return tuple(mutations(case.scenario, system, effects.steps, effects.bindings))


def _played(case: Case, mutations: Sequence[Mutation], play: Callable[[Mutation], _Seen]) -> dict[Mutation, _Seen]:
    return dict(zip(mutations, case.each(play, mutations), strict=True))


def _effects(case: Case) -> _Effects:
    """Gold in the primary, step by step; twice where the machine's own jobs may change something just then."""
    steps = case.scenario.gold.steps
    meant = {index for index, step in enumerate(steps) if step.answer is not None or step.undo is not None}
    # One after the other: those who wait for this hold worlds open.
    traced = [_traced(case) for _ in range(2 if isinstance(case.site.backend, Crowded) else 1)]
    seen = set.intersection(*(set(each.steps) for each in traced))
    return _Effects(frozenset(meant | seen), traced[0].bindings)


def _traced(case: Case) -> _Effects:
    """The steps after which something was another than before."""
    effective = set[int]()
    bench = Bench(site=case.site, limits=case.scenario.limits, seed=0)
    with bench.broken(case.primary) as live:
        last = live.facts()

        def compare(index: int) -> None:
            nonlocal last
            now = live.facts()
            if lasting_changes(last, now) or restarted(last, now) or appeared(last, now):
                effective.add(index)
            last = now

        applied = apply(live, case.scenario.gold, case.scenario.limits, compare)
    return _Effects(frozenset(effective), applied.bindings)


def _play(case: Case, mutation: Mutation) -> _Seen:
    """In the primary, whose gate looks into every other world; where that says nothing, in each twin by itself."""
    return _look_further(case, mutation, case.intervene(case.primary, mutation.intervention))


def _play_without(case: Case, mutation: Mutation, effects: Callable[[], _Effects]) -> _Seen:
    """What only looked may be left out unnoticed, so nobody looks further than the episode that may need it."""

    def matters() -> bool:
        return mutation.steps[0] in effects().steps

    record = case.intervene(case.primary, mutation.intervention, gate=matters)
    if matters():
        return _look_further(case, mutation, record)
    points = None if full(record, case.primary) else f"{record.score:g} points in `{case.primary.name}`"
    return _Seen(_losses(case, record), points)


def _look_further(case: Case, mutation: Mutation, record: TrialRecord) -> _Seen:
    noticed = _noticed(case, record)
    for world in case.broken_worlds[1:]:
        noticed = noticed or _noticed(case, case.intervene(world, mutation.intervention))
    return _Seen(_losses(case, record), noticed)


def _losses(case: Case, record: TrialRecord) -> frozenset[str]:
    return frozenset(lost(record)) - frozenset(lost(case.gold(case.primary)))


def _noticed(case: Case, record: TrialRecord) -> str | None:
    world = case.scenario.world(record.trial.world)
    if not full(record, world):
        return f"{record.score:g} points in `{world.name}`"
    if record.outcome != "Passed":
        return record.facts[0].reason
    return why_not_verified(record) if world is case.primary else None
