"""Two ways to meet the same trouble, side by side: for the terminal and as a page of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from breakfix.cli.output import Advance
from compiler.verdict import GateFact, Verdict
from runners.prove.case import Case
from runners.records import TrialRecord, judge
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import ResolvedScenario

_GAP = " │ "
_LONGEST_OUTPUT = 3
"""Lines of a command's output that are shown; where there are more, the last ones."""
_SIGNS = {"pass": "✓", "fail": "✗", "harm": "☠", "unknown": "?", "not-applicable": "–"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two: what was done, and what came of it."""

    intervention: Intervention
    record: TrialRecord

    @property
    def verdict(self) -> Verdict:
        return judge([self.record])


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    scenario: ResolvedScenario
    bad: Side
    gold: Side

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """What each check said: (check and world, to bad, to gold). What a side's facts do not hold is empty."""
        said = [
            {f"{fact.check} in {fact.world}": f"{_SIGNS[fact.finding]} {fact.reason}" for fact in facts}
            for facts in (_facts(self.bad.record), _facts(self.gold.record))
        ]
        names = dict.fromkeys((*said[1], *said[0]))
        return tuple((name, said[0].get(name, ""), said[1].get(name, "")) for name in names)


def contrast(case: Case, habit: str | None, advance: Advance) -> Contrast:
    """Play both in the scenario's primary and through the gate, side by side where the backend's worlds mostly wait.

    habit: None chooses the scenario's own that comes furthest, and so looks most like a repair. advance: told what was
    played. Raises AuthorError for an unknown habit.
    """
    named = [each for each in case.scenario.bad if habit in (None, each.name)]
    if not named:
        known = ", ".join(f"`{each.name}`" for each in case.scenario.bad) or "none"
        raise AuthorError(f"scenario `{case.scenario.name}` has no bad habit `{habit}`; its own are: {known}")
    played = count(1)
    advance(0, len(named) + 1, "")

    def side(intervention: Intervention) -> Side:
        found = Side(intervention=intervention, record=case.intervene(case.primary, intervention))
        advance(next(played), len(named) + 1, intervention.name)
        return found

    gold, *sides = case.each(side, (case.scenario.gold, *named))
    return Contrast(scenario=case.scenario, bad=min(sides, key=lambda side: _ORDER.index(side.verdict)), gold=gold)


_ORDER: tuple[Verdict, ...] = ("VERIFIED", "RECOVERED_UNPROVEN", "UNKNOWN", "HARMFUL", "NOT_RECOVERED")


def lines(found: Contrast, width: int) -> Iterator[str]:
    """The two in two columns, together at most `width` characters wide."""
    column = max((width - len(_GAP)) // 2, 30)
    yield from textwrap.wrap(f"{found.scenario.title}. {found.scenario.worlds[0].complaint}", width)
    yield ""
    yield from _beside([f"BAD: {found.bad.intervention.name}"], ["GOLD"], column)
    yield from _beside(["─" * column], ["─" * column], column)
    yield from _beside([*_done(found.bad)], [*_done(found.gold)], column)
    for name, bad, gold in found.rows():
        yield ""
        yield f"{name}:"
        yield from _beside([bad], [gold], column)
    yield ""
    yield from _beside([f"verdict: {found.bad.verdict}"], [f"verdict: {found.gold.verdict}"], column)


def page(found: Contrast) -> str:
    """One HTML page that needs nothing else."""
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("contrast.html.j2").render(
        scenario=found.scenario,
        complaint=found.scenario.worlds[0].complaint,
        sides=(found.bad, found.gold),
        rows=found.rows(),
    )


def as_document(found: Contrast) -> dict[str, object]:
    """The same as plain data."""
    return {
        "scenario": found.scenario.name,
        **{
            name: {
                "name": side.intervention.name,
                "verdict": side.verdict,
                "commands": [turn.text for turn in side.record.turns if turn.kind == "run"],
                "facts": [
                    {"check": fact.check, "world": fact.world, "finding": fact.finding, "reason": fact.reason}
                    for fact in _facts(side.record)
                ],
            }
            for name, side in (("bad", found.bad), ("gold", found.gold))
        },
    }


def _facts(record: TrialRecord) -> tuple[GateFact, ...]:
    """Of two facts about the same, one by policy and one by intervention, the later one: that of the replay."""
    return tuple({(fact.check, fact.world): fact for fact in record.facts}.values())


def _done(side: Side) -> Iterator[str]:
    if side.intervention.hypothesis:
        yield f"because {side.intervention.hypothesis.strip()}"
    for turn in side.record.turns:
        if turn.kind == "run":
            yield f"$ {turn.text}"
            output = turn.output.splitlines()
            yield from (f"    {line}" for line in output[-_LONGEST_OUTPUT:])
        elif turn.kind == "answer":
            yield f"answers: {turn.text}"


def _beside(left: Sequence[str], right: Sequence[str], column: int) -> Iterator[str]:
    wrapped = [[line for text in side for line in textwrap.wrap(text, column) or [""]] for side in (left, right)]
    for one, other in zip_longest(*wrapped, fillvalue=""):
        yield f"{one:<{column}}{_GAP}{other}".rstrip()
