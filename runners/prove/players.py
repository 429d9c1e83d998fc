"""Points 3, 4, 5 and 8: who earns nothing, who earns everything, who must be refused, and does it always end alike."""

from __future__ import annotations

import math
from functools import partial
from itertools import cycle, islice

from compiler.model import Agreement, CheckResult, Finding, HabitProof
from runners.agents.nop import NopAgent
from runners.agents.protocol import Action, Answer, Run
from runners.agents.script import ScriptAgent
from runners.habits import general_habits
from runners.prove.case import Case, Established, finding, full, in_each, lost, why_not_verified
from runners.records import TrialRecord, judge
from runners.worlds import Computed, Crowded
from scenario_dsl.worlds import World

_IDLE = ("true", "pwd", "echo hello")
_PAUSE = 30
"""Seconds between such commands where time is virtual."""


def nop(case: Case) -> tuple[Finding, ...]:
    """Who does nothing scores zero and goes on scoring zero; so does who types without purpose."""
    return in_each(case, "nop", case.broken_worlds, lambda world: _nothing_earned(case, world))


def gold(case: Case) -> tuple[Finding, ...]:
    """The scenario's own solution earns everything where something is broken and harms nothing where nothing is."""
    return (
        *in_each(case, "gold", case.broken_worlds, lambda world: _all_earned(case, world)),
        *in_each(case, "gold", case.controls, lambda world: _unharmed(case, world)),
        *in_each(case, "gold", (case.primary,), lambda world: _verified(case, world)),
    )


def bad(case: Case) -> tuple[Established, ...]:
    """No bad habit is VERIFIED; the primary alone would have let some pass; each other world refuses one of those."""
    findings: list[Established] = []
    passed_primary: list[TrialRecord] = []
    habits = (*case.scenario.bad, *general_habits(case.scenario))
    records = case.each(lambda habit: case.intervene(case.primary, habit), habits)
    for number, (habit, record) in enumerate(zip(habits, records, strict=True)):
        findings.append(_habit(record, general=number >= len(case.scenario.bad)))
        verdict = judge([record])
        if record.facts[0].finding == "pass":
            passed_primary.append(record)
        detail = f"`{habit.name}`: {why_not_verified(record) or 'VERIFIED, though it understood nothing'}"
        findings.append(finding("bad", case.primary, verdict != "VERIFIED", detail))
    names = ", ".join(record.trial.agent.configuration for record in passed_primary)
    detail = f"would have passed here: {names}" if names else "no bad habit passes even the primary: nothing is shown"
    findings.append(finding("bad", case.primary, bool(passed_primary), detail))
    if len(case.scenario.worlds) == 1:
        findings.append(finding("bad", case.primary, False, "there is no twin and no control to refuse anything"))
    for world in case.scenario.worlds[1:]:
        refused = [
            record.trial.agent.configuration
            for record in passed_primary
            if any(fact.world == world.name and fact.finding in ("fail", "harm") for fact in record.facts)
        ]
        detail = f"refuses: {', '.join(refused)}" if refused else "refuses no bad habit that the primary passes"
        findings.append(finding("bad", world, bool(refused), detail))
    return tuple(findings)


def repeat(case: Case) -> tuple[Established, ...]:
    """Played again in other copies, with other seeds, everything ends alike."""
    agreement: list[Established] = []
    findings = in_each(case, "repeat", case.scenario.worlds, lambda world: _alike(case, world, agreement))
    return *agreement, *findings


def _nothing_earned(case: Case, world: World) -> Finding:
    idle = ScriptAgent(_idly(case, world))
    silent, busy = case.each(lambda play: play(), (partial(case.nop, world), partial(case.play, world, "idle", idle)))
    earned = [result.name for record in (silent, busy) for result in record.objectives if result.met]
    if earned:
        return finding("nop", world, False, f"doing nothing meets objective `{earned[0]}`")
    if _earned_between(case, busy):
        return finding("nop", world, False, "typing without purpose earns points in between")
    if silent.harms or busy.harms:
        return finding("nop", world, False, f"doing nothing counts as harm: {(*silent.harms, *busy.harms)[0]}")
    return finding("nop", world, True, "doing nothing earns nothing")


def _idly(case: Case, world: World) -> tuple[Action, ...]:
    """Commands that look at nothing and change nothing, in which every cascade's delay passes."""
    commands = case.scenario.limits.commands
    pauses = commands // (len(_IDLE) + 1)
    longest = max((cascade.after.seconds for cascade in world.cascades), default=0.0)
    pause = math.ceil(longest / max(1, pauses)) + 1 if isinstance(case.site.backend, Crowded | Computed) else _PAUSE
    typed = islice(cycle((*_IDLE, f"sleep {pause}")), commands)
    return (*(Run(command) for command in typed), Answer("?"))


def _all_earned(case: Case, world: World) -> Finding:
    record = case.gold(world)
    if not full(record, world):
        return finding("gold", world, False, f"gold does not meet `{'`, `'.join(lost(record))}`")
    if record.outcome != "Passed":
        return finding("gold", world, False, record.facts[0].reason)
    return finding("gold", world, True, f"full score with {record.commands} commands")


def _unharmed(case: Case, world: World) -> Finding:
    fact = case.gold(world).facts[0]
    return finding("gold", world, fact.finding == "pass", fact.reason)


def _verified(case: Case, world: World) -> Finding:
    against = why_not_verified(case.gold(world))
    return finding("gold", world, against is None, against or "gold is VERIFIED by the gate")


def _habit(record: TrialRecord, *, general: bool) -> HabitProof:
    checks = (CheckResult(check=fact.check, world=fact.world, finding=fact.finding) for fact in record.facts)
    return HabitProof(
        habit=record.trial.agent.configuration,
        general=general,
        verdict=judge([record]),
        checks=tuple(dict.fromkeys(checks)),
    )


def _alike(case: Case, world: World, agreement: list[Established]) -> Finding:
    others = (case.intervene(world, case.scenario.gold, seed=seed) for seed in range(1, case.repeats))
    endings = [_ending(record) for record in (case.gold(world), *others)]
    waiting = (case.play(world, "nop", NopAgent(), seed=seed) for seed in range(1, case.repeats))
    idle = [_ending(record) for record in (case.nop(world), *waiting)]
    alike = sum(ending == endings[0] and other == idle[0] for ending, other in zip(endings, idle, strict=True))
    agreement.append(Agreement(world=world.name, alike=alike, repeats=case.repeats))
    return finding("repeat", world, alike == case.repeats, f"{alike} of {case.repeats} repeats agree")


def _earned_between(case: Case, record: TrialRecord) -> bool:
    shaped = max(case.scenario.reward.per_command, 0.0)
    return any(turn.reward > shaped + 1e-9 for turn in record.turns)


def _ending(record: TrialRecord) -> tuple[object, ...]:
    met = tuple((result.name, result.met) for result in record.objectives)
    facts = tuple((fact.check, fact.world, fact.means, fact.finding) for fact in record.facts)
    return record.outcome, record.score, met, facts, bool(record.harms), record.cascades_fired
