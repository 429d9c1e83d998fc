"""What a report says in sentences: the headline, what stands out, and how the figures were made."""

from __future__ import annotations

from reports import statistics
from reports.frames import Frames
from reports.html.cells import percent
from reports.statistics import Estimate
from reports.table import Table
from reports.tables import Tables
from reports.text import shortened

METHOD = (
    (
        "Errored is ours, and stays in sight.",
        "An attempt that our infrastructure failed is tried again; if it stays errored, it is never dropped from a "
        "denominator. The figure counts it as no success, and the interval reaches up to where it would be had the "
        "attempt succeeded. The same holds for a verdict of UNKNOWN.",
    ),
    (
        "Rates",
        "have Wilson's score interval, 95%, over attempts.",
    ),
    (
        "Score and transfer gap",
        "have a bootstrap interval, 95%: whole scenarios are drawn with replacement, "
        f"{statistics.RESAMPLES:,} times, from a fixed seed. A single scenario says nothing about how scenarios vary, "
        "so it gets no interval; a handful says little, and their interval is narrower than it should be.",
    ),
    (
        "Score",
        "is the mean of points at each scenario, summed, of all the points those scenarios have to give.",
    ),
    (
        "pass@k and pass^k",
        "are exact over draws without replacement from the attempts at a scenario, then averaged over scenarios.",
    ),
    (
        "Head to head",
        "compares two agents on the attempts that both made, in the same worlds. “On these scenarios” is an exact sign "
        "test over attempts; “beyond these scenarios” flips the signs of whole scenarios, and so asks whether others "
        "like them would say the same. Both are corrected for all comparisons (Holm).",
    ),
    (
        "Ratings",
        "are Bradley–Terry: the better verdict wins, then the higher score. 1000 is the middle.",
    ),
    (
        "Verdicts",
        "follow from the gate's facts alone. A missing world or an unmade check gives UNKNOWN, never green.",
    ),
)


def headline(tables: Tables) -> str:
    """The run in one sentence."""
    if not tables.agents:
        return "No attempts were recorded."
    best = figure(tables.leaderboard, "verified", 0)
    leader = _name(tables, 0)
    if best.value is None:
        return "No attempt could be hosted."
    if best.value == 0:
        return "Nothing was verified yet."
    if len(tables.agents) == 1:
        return f"{leader}: {percent(best.value)} of {best.n} attempts verified."
    return f"{leader} leads with {percent(best.value)} of its attempts verified."


def deck(frames: Frames, tables: Tables) -> str:
    """The widest transfer gap, in a sentence or two: what the leaderboard is there to show."""
    if not tables.agents:
        return "These records hold no trial."
    if frames.attempts["errored"].all():
        return "Every attempt errored: that is our infrastructure's doing, and says nothing of the agents."
    places = [place for place in range(len(tables.agents)) if figure(tables.leaderboard, "transfer_gap", place).value]
    if not places:
        return "No agent recovered machines without proof: what was recovered was verified."
    widest = max(places, key=lambda place: (figure(tables.leaderboard, "transfer_gap", place).value or 0.0, -place))
    recovered = figure(tables.leaderboard, "recovered", widest).value or 0.0
    verified = figure(tables.leaderboard, "verified", widest).value or 0.0
    return (
        f"Machine recovered, understanding not proven: {_name(tables, widest)} brings back {percent(recovered)} of its "
        f"machines, and {percent(verified)} of its attempts stand up to the gate."
    )


def tally(frames: Frames, tables: Tables) -> list[tuple[str, str]]:
    """How much was played: numbers, each with its noun."""
    attempts = frames.attempts
    errored = int(attempts["errored"].sum())
    counts = [
        (len(tables.agents), "agent", "agents"),
        (len(tables.scenarios), "scenario", "scenarios"),
        (len(attempts), "attempt", "attempts"),
        (len(frames.trials), "trial", "trials"),
        (errored, "attempt errored", "attempts errored"),
    ]
    return [(f"{count:,}", one if count == 1 else many) for count, one, many in counts]


def facts(frames: Frames) -> list[tuple[str, list[str]]]:
    """What ran, as recorded. Nothing here knows of clocks or hosts."""
    trials = frames.trials
    packs = trials[["pack", "pack_version", "bundle_digest", "proven"]].drop_duplicates()
    agents = trials[["agent", "trusted", "training"]].drop_duplicates()
    plan = trials.groupby(["backend", "split", "role"]).size()
    seeds = [str(seed) for seed in sorted(trials["seed"].unique())]
    return [
        (
            "Bundles",
            [
                f"{pack} {version} sha256:{digest} ({'proven' if proven else 'unproven'})"
                for pack, version, digest, proven in packs.itertuples(index=False)
            ],
        ),
        (
            "Agents",
            [
                agent + _marks([] if trusted else ["ran apart"], ["in training"] if training else [])
                for agent, trusted, training in agents.itertuples(index=False)
            ],
        ),
        ("Trials", [f"{count:,} {role} on {backend}, {split}" for (backend, split, role), count in plan.items()]),
        ("Seeds", [shortened(", ".join(seeds), 200)]),
        ("Limits", list(frames.limits)),
        ("Mode", [f"{count:,} {mode}" for mode, count in trials.groupby("mode").size().items()]),
        ("Outcomes", [f"{count:,} {outcome}" for outcome, count in trials.groupby("outcome").size().items()]),
        ("Retries", [f"{frames.superseded:,} records were superseded by a retry"]),
        ("Records", [f"sha256:{frames.records_digest}"]),
    ]


def figure(board: Table, name: str, place: int) -> Estimate:
    """One rate of the leaderboard."""
    value = board.column(name)[place]
    assert isinstance(value, Estimate), f"{name} is a rate"
    return value


def _marks(*marks: list[str]) -> str:
    found = [mark for group in marks for mark in group]
    return f" ({', '.join(found)})" if found else ""


def _name(tables: Tables, place: int) -> str:
    return shortened(tables.agents[place], 60)
