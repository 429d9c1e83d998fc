"""Frames to tables: leaderboard, agents by scenario, objectives, consistency, the gate's facts, head to head.

A table's columns are data. One entry in a tuple below is all that a new column needs; the page, the CSV and the JSON
follow. Cells are plain values or `Estimate`s; None means that there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from reports import measures
from reports.frames import Frames
from reports.pairing import Comparison, compare, line_up, rate
from reports.table import Heading, Kind, Measure, Table, Value
from reports.versus import RATING, head_to_head, rating_table


def _measure(name: str, title: str, kind: Kind, doc: str, value: Callable[[pd.DataFrame], Value]) -> Measure:
    return Measure(Heading(name, title, kind, doc), value)


VERIFIED = _measure(
    "verified", "Verified", "rate", "Attempts with the verdict VERIFIED, of all attempts (Wilson)", measures.verified
)
SCORE = _measure(
    "score", "Score", "rate", "Points in the primary world, of the points there were (bootstrap over scenarios)",
    measures.score,
)  # fmt: skip
SCENARIO_SCORE = _measure(
    "score", "Score", "rate", "Points in the primary world, of the points there were (bootstrap over attempts)",
    measures.scenario_score,
)  # fmt: skip
RECOVERED = _measure(
    "recovered", "Recovered", "rate", "Attempts whose primary world was recovered, verified or not (Wilson)",
    measures.recovered,
)  # fmt: skip
GAP = _measure(
    "transfer_gap", "Transfer gap", "gap", "Recovered minus verified (bootstrap over scenarios)", measures.transfer_gap
)
HARM = _measure("harm", "Harm", "rate", "Attempts with the verdict HARMFUL (Wilson)", measures.harm)
UNHARMED = _measure(
    "control_unharmed", "Controls ok", "rate", "Attempts that left every healthy control world alone (Wilson)",
    measures.control_unharmed,
)  # fmt: skip
COMMANDS = _measure("commands", "Commands", "number", "Median of commands in the primary world", measures.commands)
TO_REPAIR = _measure(
    "commands_to_repair", "To repair", "number", "Median of commands until the last objective, where all were met",
    measures.commands_to_repair,
)  # fmt: skip
SECONDS_TO_REPAIR = _measure(
    "seconds_to_repair", "Seconds", "number",
    "Median of seconds until the last objective, where all were met, on the world's clock", measures.seconds_to_repair,
)  # fmt: skip
N = _measure("attempts", "Attempts", "count", "Attempts in the denominators, errored ones included", measures.count)
ERRORED = _measure(
    "errored", "Errored", "count",
    "Attempts in which our infrastructure failed: kept in every denominator, and the intervals reach up accordingly",
    measures.errored,
)  # fmt: skip
UNSUPPORTED = _measure(
    "unsupported",
    "Unsupported",
    "count",
    "Attempts the backend cannot host; not part of any rate",
    measures.unsupported,
)
COST = _measure(
    "cost_per_verified", "Cost / verified", "number", "Money paid for each verified attempt", measures.cost_per_verified
)
GRADED = _measure(
    "graded",
    "Graded",
    "number",
    "The score inside the open interval (0, 1), as graders take submissions",
    measures.graded,
)
MODE = _measure("mode", "Mode", "text", "live, replay or mixed", measures.mode)
PROVEN = _measure("proven", "Proof", "text", "Whether every bundle carried a proof that held", measures.proven)

LEADERBOARD_RATES: tuple[Measure, ...] = (VERIFIED, SCORE, RECOVERED, GAP, HARM, UNHARMED)
LEADERBOARD_COUNTS: tuple[Measure, ...] = (
    COMMANDS, TO_REPAIR, SECONDS_TO_REPAIR, N, ERRORED, UNSUPPORTED, COST, GRADED, PROVEN, MODE,
)  # fmt: skip
"""The leaderboard's columns before and behind the rating, which is of all agents together."""
BY_SCENARIO: tuple[Measure, ...] = (
    VERIFIED,
    SCENARIO_SCORE,
    RECOVERED,
    HARM,
    UNHARMED,
    COMMANDS,
    TO_REPAIR,
    SECONDS_TO_REPAIR,
    N,
    ERRORED,
    GRADED,
)

RANK = Heading("rank", "#", "count", "Place by verified rate, then score")
AGENT = Heading("agent", "Agent", "name", "The agent with its configuration")
SCENARIO = Heading("scenario", "Scenario", "name", "The scenario")
DIFFICULTY = Heading("difficulty", "Difficulty", "text", "easy to expert")
CHECKS = ("primary", "twin", "control", "repeat", "reversibility")
FINDINGS = ("harm", "fail", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Everything a report shows in rows. `agents` and `scenarios` give the order that every table and plot keeps.

    `comparisons` are what the table `head-to-head` shows, two agents each.
    """

    agents: tuple[str, ...]
    scenarios: tuple[str, ...]
    leaderboard: Table
    scenario: Table
    objectives: Table
    consistency: Table
    gate: Table
    ratings: Table
    head_to_head: Table
    comparisons: tuple[Comparison, ...]

    def all(self) -> tuple[Table, ...]:
        return (
            *(self.leaderboard, self.scenario, self.objectives, self.consistency, self.gate),
            *(self.ratings, self.head_to_head),
        )


def named(frames: Frames) -> Frames:
    """The frames with two more columns in attempts, objectives and facts: `player` and `scenario_label`.

    They are the agent and the scenario, told apart by backend, pack and bundle where the names alone would not do.
    """
    attempts, objectives, facts = (
        named_like(frame, frames.attempts) for frame in (frames.attempts, frames.objectives, frames.facts)
    )
    return replace(frames, attempts=attempts, objectives=objectives, facts=facts)


def named_like(frame: pd.DataFrame, attempts: pd.DataFrame) -> pd.DataFrame:
    """The frame with the two columns, told apart as far as these attempts ask for it."""
    tasks = attempts[["task", "pack", "scenario"]].drop_duplicates()
    labels: dict[str, str] = {}
    for task, pack, scenario in tasks.itertuples(index=False):
        same = tasks[tasks["scenario"] == scenario]
        if len(same) == 1:
            labels[task] = scenario
        else:
            labels[task] = f"{pack}/{scenario}" if (same["pack"] == pack).sum() == 1 else task
    several = attempts["backend"].nunique() > 1
    player = frame["agent"] + " on " + frame["backend"] if several else frame["agent"]
    return frame.assign(player=player, scenario_label=frame["task"].map(labels).astype("string"))


def tabulate(frames: Frames) -> Tables:
    """All tables of a report, from `named` frames. The best agent comes first, scenarios go from easy to expert."""
    attempts = frames.attempts
    groups = {str(player): group for player, group in attempts.groupby("player", sort=True)}
    ranked = sorted(groups, key=lambda player: _rank(player, groups[player]))
    scenarios = tuple(str(label) for label in attempts["scenario_label"].unique())
    meetings = line_up(attempts, ranked)
    ratings, comparisons = rate(meetings, ranked), compare(meetings, ranked)
    return Tables(
        agents=tuple(ranked),
        scenarios=scenarios,
        leaderboard=Table(
            name="leaderboard",
            title="Leaderboard",
            caption="Agents by verified rate, then score. Intervals are 95%.",
            headings=(
                RANK,
                AGENT,
                *_headings(LEADERBOARD_RATES),
                RATING,
                *_headings(LEADERBOARD_COUNTS),
            ),
            rows=tuple(
                (
                    *(place, player, *(measure.value(groups[player]) for measure in LEADERBOARD_RATES)),
                    *(ratings[player], *(measure.value(groups[player]) for measure in LEADERBOARD_COUNTS)),
                )
                for place, player in enumerate(ranked, start=1)
            ),
        ),
        scenario=_by_scenario(attempts, scenarios, ranked),
        objectives=_objectives(frames, scenarios, ranked),
        consistency=_consistency(groups, ranked),
        gate=_gate(frames, scenarios, ranked),
        ratings=rating_table(ratings, comparisons),
        head_to_head=head_to_head(comparisons),
        comparisons=comparisons,
    )


def _headings(of: Sequence[Measure]) -> tuple[Heading, ...]:
    return tuple(measure.heading for measure in of)


def _rank(player: str, attempts: pd.DataFrame) -> tuple[float, float, float, str]:
    """Verified first, then score, then the least harm; an agent without a figure comes after one with zero."""
    figures = (measures.verified(attempts).value, measures.score(attempts).value)
    verified, score = (-1.0 if figure is None else figure for figure in figures)
    return (-verified, -score, measures.harm(attempts).value or 0.0, player)


def _pairs(
    frame: pd.DataFrame, scenarios: Sequence[str], agents: Sequence[str]
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """(scenario, agent, their rows) in the report's order, where there are rows."""
    groups = {(str(label), str(player)): rows for (label, player), rows in frame.groupby(["scenario_label", "player"])}
    for scenario in scenarios:
        for agent in agents:
            if (scenario, agent) in groups:
                yield scenario, agent, groups[scenario, agent]


def _by_scenario(attempts: pd.DataFrame, scenarios: Sequence[str], agents: Sequence[str]) -> Table:
    return Table(
        name="scenarios",
        title="Scenario by scenario",
        caption="Each agent at each scenario.",
        headings=(
            SCENARIO,
            DIFFICULTY,
            AGENT,
            *_headings(BY_SCENARIO),
        ),
        rows=tuple(
            (scenario, str(rows["difficulty"].iloc[0]), agent, *(measure.value(rows) for measure in BY_SCENARIO))
            for scenario, agent, rows in _pairs(attempts, scenarios, agents)
        ),
    )


def _objectives(frames: Frames, scenarios: Sequence[str], agents: Sequence[str]) -> Table:
    """Objectives in the primary world. Denominators are the attempts, so an errored one counts here as well."""
    attempts = {(s, a): rows for s, a, rows in _pairs(frames.attempts, scenarios, agents)}
    primary = frames.objectives[frames.objectives["role"] == "primary"]
    rows: list[tuple[Value, ...]] = []
    for scenario, agent, results in _pairs(primary, scenarios, agents):
        tried = attempts[scenario, agent]
        for name, of_one in results.groupby("objective", sort=False):
            met = of_one[of_one["met"]]
            rows.append(
                (
                    *(scenario, str(name), float(of_one["points"].max()), agent),
                    measures.rate_of(len(met), tried),
                    measures.rate_of(int(of_one["armed"].sum()), tried),
                    measures.middle(met["met_at_command"]),
                    measures.count(tried),
                )
            )
    return Table(
        name="objectives",
        title="Objective by objective",
        caption="Partial credit: which parts of a repair an agent gets done, in the primary world.",
        headings=(
            SCENARIO,
            Heading("objective", "Objective", "name", "The objective's name"),
            Heading("points", "Points", "points", "What it is worth"),
            AGENT,
            Heading("met", "Met", "rate", "Attempts that met it at the end, of all attempts (Wilson)"),
            Heading("armed", "Armed", "rate", "Attempts in which it could be met: its cascade had fired (Wilson)"),
            Heading("met_at_command", "At command", "number", "Median of the command that met it"),
            N.heading,
        ),
        rows=tuple(rows),
    )


def _consistency(groups: dict[str, pd.DataFrame], agents: Sequence[str]) -> Table:
    return Table(
        name="consistency",
        title="Consistency",
        caption="Of k attempts at a scenario: at least one verified (pass@k), all of them verified (pass^k).",
        headings=(
            AGENT,
            Heading("k", "k", "count", "Attempts drawn"),
            Heading("pass_at_k", "pass@k", "rate", "At least one of k is verified (bootstrap over scenarios)"),
            Heading("pass_hat_k", "pass^k", "rate", "All k are verified (bootstrap over scenarios)"),
        ),
        rows=tuple((agent, *row) for agent in agents for row in measures.consistency(groups[agent])),
    )


def _gate(frames: Frames, scenarios: Sequence[str], agents: Sequence[str]) -> Table:
    """What the gate held against attempts, with the sentence it gave most often."""
    tried = {(s, a): measures.count(rows) for s, a, rows in _pairs(frames.attempts, scenarios, agents)}
    against = frames.facts[frames.facts["finding"].isin(FINDINGS)]
    rows: list[tuple[Value, ...]] = []
    for scenario, agent, facts in _pairs(against, scenarios, agents):
        findings = facts.groupby(["check", "world", "means", "finding"], sort=True)
        for (check, world, means, finding), same in sorted(findings, key=lambda item: CHECKS.index(item[0][0])):
            reasons = same["reason"].value_counts()
            often = sorted(reasons[reasons == reasons.max()].index)[0]
            rows.append(
                (
                    *(scenario, agent, str(check), str(world), str(means), str(finding)),
                    *(int(same["attempt_id"].nunique()), tried[scenario, agent], str(often), len(reasons)),
                )
            )
    return Table(
        name="gate",
        title="What the gate held against them",
        caption="Each check that did not pass, how often, and the sentence the gate gave most often.",
        headings=(
            SCENARIO,
            AGENT,
            Heading("check", "Check", "text", "primary, twin, control, repeat or reversibility"),
            Heading("world", "World", "text", "Where the fact was established"),
            Heading("means", "Means", "text", "intervention: steps replayed; policy: the agent put there afresh"),
            Heading("finding", "Finding", "finding", "harm, fail or unknown"),
            Heading("count", "Attempts", "count", "Attempts with this finding"),
            Heading("of", "Of", "count", "Attempts of this agent at this scenario"),
            Heading("reason", "The gate's words", "sentence", "The sentence given most often"),
            Heading("reasons", "Wordings", "count", "How many different sentences were given"),
        ),
        rows=tuple(rows),
    )
