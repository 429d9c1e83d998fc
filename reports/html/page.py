"""The pages of a report: the leaderboard's, one for each agent, one for each scenario, and the viewer of episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from reports.background import Background
from reports.frames import Frames
from reports.html import words
from reports.html.cells import Tag, View, percent, view
from reports.html.heat import heat_map
from reports.html.links import EPISODES, INDEX, Links
from reports.html.sheet import Sheets
from reports.plots import VERDICTS, Plot, labelled
from reports.regressions import Change
from reports.statistics import Estimate
from reports.table import Table, Value
from reports.tables import Tables
from reports.versus import power_notes

_VERDICT_COLOURS = ("verified", "unproven", "lost", "harmful", "unknown")
_KEY = tuple(zip(VERDICTS, _VERDICT_COLOURS, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that the pages tell. `frames` are `named`; `trends` are there for several runs, `changes` with a baseline.

    `missing` counts planned trials without a record: the run goes on, or was broken off.
    """

    frames: Frames
    tables: Tables
    plots: tuple[Plot, ...]
    links: Links
    runs: tuple[str, ...]
    missing: int
    backgrounds: Mapping[tuple[str, str], Background]
    trends: Table | None
    baseline: str | None
    changes: tuple[Change, ...]
    regressions: Table | None


def pages(story: Story) -> Iterator[tuple[str, bytes]]:
    """(path in the report's folder, bytes) of every page."""
    sheets = Sheets()
    yield INDEX, _index(sheets, story)
    within = replace(story.links, up="../")
    for agent, path in story.links.agents.items():
        yield path, _agent(sheets, story, agent, within)
    for scenario, path in story.links.scenarios.items():
        yield path, _scenario(sheets, story, scenario, within)
    yield EPISODES, sheets.fill("episodes.html.j2", links=story.links, viewer=True, title="Episodes")


def _index(sheets: Sheets, story: Story) -> bytes:
    tables, board, links = story.tables, story.tables.leaderboard, story.links
    tags = _tags(board)
    views = {
        "leaderboard": view(board, header="agent", link=links.of, hidden=_idle(board), tags=tags),
        "scenarios": view(tables.scenario, header="scenario", link=links.of, hidden=("graded",)),
        "objectives": view(tables.objectives, header="scenario", link=links.of),
        "gate": view(tables.gate, header="scenario", link=links.of, hidden=("reasons",)),
        "consistency": view(tables.consistency, header="agent", link=links.of),
        "head-to-head": view(tables.head_to_head, header="first", link=links.of),
        "ratings": view(tables.ratings, header="agent", link=links.of),
    }
    if story.trends is not None:
        views["trends"] = view(story.trends, header="run", link=links.of)
    if story.regressions is not None:
        views["regressions"] = view(story.regressions, header="agent", link=links.of, only=_called)
    return sheets.fill(
        "index.html.j2",
        links=links,
        title=words.headline(tables),
        deck=words.deck(story.frames, tables),
        tally=words.tally(story.frames, tables),
        missing=f"{story.missing:,}" if story.missing else "",
        views=views,
        notes=power_notes(tables.comparisons, tables.agents),
        heat=heat_map(tables, links),
        plots=_shown(story.plots),
        key=_KEY,
        method=words.METHOD,
        facts=[("Runs", list(story.runs)), *words.facts(story.frames)],
        coded=("Bundles", "Records"),
        baseline=story.baseline,
        verdict=_regression_words(story.changes),
    )


def _agent(sheets: Sheets, story: Story, agent: str, links: Links) -> bytes:
    tables = story.tables

    def mine(row: dict[str, Value]) -> bool:
        return agent in (row.get("agent"), row.get("first"), row.get("second"))

    views = [
        view(tables.scenario, header="scenario", link=links.of, hidden=("agent", "graded"), only=mine),
        view(tables.objectives, header="scenario", link=links.of, hidden=("agent",), only=mine),
        view(tables.gate, header="scenario", link=links.of, hidden=("agent", "reasons"), only=mine),
        view(tables.head_to_head, header="first", link=links.of, only=mine),
        view(tables.consistency, header="k", link=links.of, hidden=("agent",), only=mine),
    ]
    if story.trends is not None:
        views.insert(0, view(story.trends, header="run", link=links.of, hidden=("agent",), only=mine))
    if story.regressions is not None:
        views.insert(
            0,
            view(
                story.regressions,
                header="scenario",
                link=links.of,
                hidden=("agent",),
                only=lambda row: mine(row) and _called(row),
            ),
        )
    return _part(sheets, story, links, "Agent", agent, views, lines=(), row=_row(tables.leaderboard, "agent", agent))


def _scenario(sheets: Sheets, story: Story, scenario: str, links: Links) -> bytes:
    tables = story.tables

    def here(row: dict[str, Value]) -> bool:
        return row.get("scenario") == scenario

    trials = story.frames.trials
    labels = story.frames.attempts[["task", "scenario_label"]].drop_duplicates()
    tasks = labels[labels["scenario_label"] == scenario]["task"]
    own = trials[trials["task"].isin(tasks)]
    first = own.iloc[0]
    background = story.backgrounds.get((str(first["bundle_digest"]), str(first["scenario"])))
    worlds = own[["role", "world"]].drop_duplicates()
    lines = [
        ("Pack", f"{first['pack']} {first['pack_version']}"),
        ("Bundle", f"sha256:{first['bundle_digest']}"),
        ("Kind", f"{first['difficulty']} {first['kind']}, {first['split']}"),
        ("Worlds played", ", ".join(f"{world} ({role})" for role, world in worlds.itertuples(index=False))),
        ("Points", f"{first['full_score']:g}"),
    ]
    views = [
        view(tables.scenario, header="agent", link=links.of, hidden=("scenario", "difficulty", "graded"), only=here),
        view(tables.objectives, header="objective", link=links.of, hidden=("scenario",), only=here),
        view(tables.gate, header="agent", link=links.of, hidden=("scenario", "reasons"), only=here),
    ]
    views[0] = replace(views[0], title="Agents", caption="Each agent at this scenario.")
    if story.regressions is not None:
        views.append(
            view(
                story.regressions,
                header="agent",
                link=links.of,
                hidden=("scenario",),
                only=lambda row: here(row) and _called(row),
            )
        )
    return _part(
        sheets, story, links, "Scenario", scenario, views,
        lines=lines, row={}, background=background, proven=bool(first["proven"]),
    )  # fmt: skip


def _part(
    sheets: Sheets,
    story: Story,
    links: Links,
    what: str,
    name: str,
    views: Sequence[View],
    *,
    lines: Sequence[tuple[str, str]],
    row: Mapping[str, Value],
    background: Background | None = None,
    proven: bool | None = None,
) -> bytes:
    return sheets.fill(
        "part.html.j2",
        links=links,
        what=what,
        title=name,
        figures=_figures(row, story.tables.leaderboard),
        lines=lines,
        views=[each for each in views if each.rows],
        episodes=links.episodes(**{what.lower(): name}),
        background=background,
        proven=proven,
    )


def _row(table: Table, column: str, value: str) -> dict[str, Value]:
    names = [heading.name for heading in table.headings]
    place = names.index(column)
    return next(dict(zip(names, row, strict=True)) for row in table.rows if row[place] == value)


def _figures(row: Mapping[str, Value], board: Table) -> list[tuple[str, str, str, str]]:
    """(title, figure, interval, sentence) of an agent's row of the leaderboard."""
    found = []
    for heading in board.headings:
        value = row.get(heading.name)
        if heading.kind in ("rate", "gap", "rating") and isinstance(value, Estimate) and value.value is not None:
            if heading.kind == "rating":
                shown, spread = f"{value.value:.0f}", _spread(value, 1)
            else:
                shown = f"{100 * value.value:.0f} pt" if heading.kind == "gap" else percent(value.value)
                spread = _spread(value, 100)
            found.append((heading.title, shown, spread, heading.doc))
        elif heading.name in ("commands_to_repair", "seconds_to_repair", "cost_per_verified") and value is not None:
            found.append((heading.title, f"{value:.4g}", "", heading.doc))
    return found


def _spread(value: Estimate, scale: int) -> str:
    return "" if value.low is None or value.high is None else f"{scale * value.low:.0f}–{scale * value.high:.0f}"


def _shown(plots: Sequence[Plot]) -> list[dict[str, object]]:
    return [
        {"name": p.name, "title": p.title, "note": p.note, "wide": p.wide, "markup": Markup(labelled(p))}  # noqa: S704 (our own SVG, its texts escaped)
        for p in plots
    ]


def _tags(board: Table) -> dict[str, tuple[Tag, ...]]:
    """agent -> its marks: how its episodes came about, and whether its bundles were proven."""
    tags = {}
    for agent, mode, proof in zip(board.column("agent"), board.column("mode"), board.column("proven"), strict=True):
        marks = []
        if mode != "live":
            marks.append(Tag(text=str(mode), doc="How its records came about: played live, or replayed"))
        if proof != "proven":
            marks.append(Tag(text="unproven", doc="A bundle it ran carried no proof that held", warn=True))
        tags[str(agent)] = tuple(marks)
    return tags


def _idle(board: Table) -> list[str]:
    """Columns that are shown otherwise, or say nothing in this run."""
    silent = [name for name in ("unsupported", "cost_per_verified", "errored") if not any(board.column(name))]
    return ["graded", "proven", "mode", "commands", *silent]


def _called(row: dict[str, Value]) -> bool:
    return row["call"] != "unchanged" or row["scenario"] == "(all)"


def _regression_words(changes: Sequence[Change]) -> str:
    worse = sum(change.call == "regression" for change in changes)
    better = sum(change.call == "improvement" for change in changes)
    if not worse and not better:
        return "Nothing changed by more than chance."
    counts = ((worse, "regression"), (better, "improvement"))
    parts = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count]
    return f"{' and '.join(parts)} by more than chance."
