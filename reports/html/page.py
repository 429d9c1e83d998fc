"""The page: what it says in words, and the template filled in.

Everything that comes from records passes through jinja2's autoescape; only our own style, script and SVGs are markup.
The Content-Security-Policy allows our one script by its hash, so that nothing else could run even if it got in.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports import statistics
from reports.frames import Frames
from reports.html.cells import Tag, percent, view
from reports.plots import PALETTE, VERDICTS, Plot, labelled
from reports.statistics import Estimate
from reports.table import Table
from reports.tables import Tables
from reports.text import printable, shortened

_HERE = Path(__file__).parent
_BREAKS = "/:=_@"
_AT_BREAKS = re.compile(f"([{_BREAKS}])")
_VERDICT_COLOURS = ("verified", "unproven", "lost", "harmful", "unknown")

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
        "Verdicts",
        "follow from the gate's facts alone. A missing world or an unmade check gives UNKNOWN, never green.",
    ),
)


def render(frames: Frames, tables: Tables, plots: Sequence[Plot]) -> str:
    """The page as text. `frames` are `named` ones."""
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        finalize=_fit,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = _breakable
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    board = tables.leaderboard
    tags = _tags(board)
    views = {
        "leaderboard": view(board, header="agent", hidden=_idle(board), tags=tags),
        "scenarios": view(tables.scenario, header="scenario", hidden=("graded",), tags={}),
        "objectives": view(tables.objectives, header="scenario", tags={}),
        "gate": view(tables.gate, header="scenario", hidden=("reasons",), tags={}),
        "consistency": view(tables.consistency, header="agent", tags={}),
    }
    return environment.get_template("page.html.j2").render(
        headline=headline(tables),
        deck=_deck(frames, tables),
        tally=_tally(frames, tables),
        views=views,
        plots=[
            {"name": p.name, "title": p.title, "note": p.note, "wide": p.wide, "markup": Markup(labelled(p))}  # noqa: S704 (our own SVG, its texts escaped)
            for p in plots
        ],
        verdicts=list(zip(VERDICTS, _VERDICT_COLOURS, strict=True)),
        method=METHOD,
        facts=_facts(frames),
        coded=("Bundles", "Records"),
        style=Markup(_variables() + (_HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704 (our own file)
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def headline(tables: Tables) -> str:
    """The run in one sentence."""
    if not tables.agents:
        return "No attempts were recorded."
    best = _figure(tables.leaderboard, "verified", 0)
    leader = _name(tables, 0)
    if best.value is None:
        return "No attempt could be hosted."
    if best.value == 0:
        return "Nothing was verified yet."
    if len(tables.agents) == 1:
        return f"{leader}: {percent(best.value)} of {best.n} attempts verified."
    return f"{leader} leads with {percent(best.value)} of its attempts verified."


def _deck(frames: Frames, tables: Tables) -> str:
    """The widest transfer gap, in a sentence or two: what the leaderboard is there to show."""
    if not tables.agents:
        return "These records hold no trial."
    if frames.attempts["errored"].all():
        return "Every attempt errored: that is our infrastructure's doing, and says nothing of the agents."
    places = [place for place in range(len(tables.agents)) if _figure(tables.leaderboard, "transfer_gap", place).value]
    if not places:
        return "No agent recovered machines without proof: what was recovered was verified."
    widest = max(places, key=lambda place: (_figure(tables.leaderboard, "transfer_gap", place).value or 0.0, -place))
    recovered = _figure(tables.leaderboard, "recovered", widest).value or 0.0
    verified = _figure(tables.leaderboard, "verified", widest).value or 0.0
    return (
        f"Machine recovered, understanding not proven: {_name(tables, widest)} brings back {percent(recovered)} of its "
        f"machines, and {percent(verified)} of its attempts stand up to the gate."
    )


def _tally(frames: Frames, tables: Tables) -> list[tuple[str, str]]:
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


def _facts(frames: Frames) -> list[tuple[str, list[str]]]:
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
                agent + _joined([] if trusted else ["ran apart"], ["in training"] if training else [])
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


def _fit(value: object) -> object:
    """Whatever the template is about to print: text from records loses what cannot or should not be printed."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _joined(*marks: list[str]) -> str:
    found = [mark for group in marks for mark in group]
    return f" ({', '.join(found)})" if found else ""


def _tags(board: Table) -> dict[str, tuple[Tag, ...]]:
    """agent -> its marks: how its episodes came about, and whether its bundles were proven."""
    tags = {}
    for agent, mode, proof in zip(board.column("agent"), board.column("mode"), board.column("proven"), strict=True):
        marks = [Tag(text=str(mode), doc="How its records came about: played live, or replayed")]
        if proof != "proven":
            marks.append(Tag(text="unproven", doc="A bundle it ran carried no proof that held", warn=True))
        tags[str(agent)] = tuple(marks)
    return tags


def _idle(board: Table) -> list[str]:
    """Columns that are shown otherwise, or say nothing in this run."""
    silent = [name for name in ("unsupported", "cost_per_verified") if not any(board.column(name))]
    return ["graded", "proven", "mode", *silent]


def _figure(board: Table, name: str, place: int) -> Estimate:
    value = board.column(name)[place]
    assert isinstance(value, Estimate), f"{name} is a rate"
    return value


def _name(tables: Tables, place: int) -> str:
    return shortened(tables.agents[place], 60)


def _breakable(text: str) -> Markup:
    """The text, escaped, with places where a long name may go on in the next line."""
    return Markup("").join(
        part + Markup("<wbr>") if part in _BREAKS else part for part in _AT_BREAKS.split(printable(text))
    )


def _variables() -> str:
    """The colours that page and plots share."""
    colours = "".join(f"--{name}:light-dark({light},{dark});" for name, light, dark in PALETTE.values())
    return f":root{{{colours}}}\n"
