"""A pack as a whole: the policies it holds itself to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import Pack, Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems import meaning as problems

GRADED = "graded-submission"
FEWEST_SCENARIOS = 3
LONE_POINTS = 0.99


def check_policies(
    document: Document, pack: Pack, scenarios: Mapping[str, tuple[Document, Scenario]], count: int
) -> Iterator[Diagnostic]:
    """`count`: the scenarios that the pack's folder holds, sound or not."""
    if GRADED not in pack.policies:
        return
    if count < FEWEST_SCENARIOS:
        span = document.place(("policies", pack.policies.index(GRADED)))
        yield problems.TooFewScenarios(source=document.source, span=span, count=count)
    for name in sorted(scenarios):
        where, scenario = scenarios[name]
        if len(scenario.objectives) == 1 and abs(scenario.objectives[0].points - LONE_POINTS) > 1e-9:
            objective = scenario.objectives[0]
            yield problems.LonePoints(
                source=where.source,
                span=where.place((*objective.at, "points")),
                points=f"{objective.points:g}",
            )
