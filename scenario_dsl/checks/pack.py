"""The policies that a pack holds itself to."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import Pack, Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems import packs as problems

GRADED = "graded-submission"
FEWEST_SCENARIOS = 3
LONE_POINTS = 0.99


def check_scenario_count(document: Document, pack: Pack, count: int) -> Iterator[Diagnostic]:
    """`document`: the pack's own; `count`: the scenarios that its folder holds, sound or not."""
    if GRADED in pack.policies and count < FEWEST_SCENARIOS:
        span = document.place(("policies", pack.policies.index(GRADED)))
        yield problems.TooFewScenarios(source=document.source, span=span, count=count)


def check_lone_points(document: Document, scenario: Scenario, pack: Pack) -> Iterator[Diagnostic]:
    if GRADED not in pack.policies or len(scenario.objectives) != 1:
        return
    objective = scenario.objectives[0]
    if abs(objective.points - LONE_POINTS) > 1e-9:
        span = document.place((*objective.at, "points"))
        yield problems.LonePoints(source=document.source, span=span, points=f"{objective.points:g}")
