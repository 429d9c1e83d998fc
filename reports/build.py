"""The report of one or more runs, on disk: pages, plots, tables, and the episodes' data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.background import Background
from reports.coverage import still_missing
from reports.export import as_csv, as_json
from reports.frames import Frames, attempts_frame, frames_of
from reports.html import Story, pages
from reports.html.episodes import viewer_files
from reports.html.links import INDEX, links_for
from reports.html.words import headline
from reports.manifest import MANIFEST, Signer, described, remove_others, written
from reports.plots import draw
from reports.reading import Reading, read, together
from reports.regressions import Change, changes, regression_table
from reports.table import Table
from reports.tables import Tables, named, named_like, tabulate
from reports.trends import run_names, trend_table
from runners.records import Trial
from scenario_dsl.writing import write_file

Planned = Iterable[tuple[str, Trial]]
"""A run's planned trials with their ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """What was written, and what a command line says of it.

    `changes` are empty without a baseline; `missing` counts planned trials that have no record yet.
    """

    page: Path
    tables: tuple[Path, ...]
    plots: tuple[Path, ...]
    headline: str
    leaderboard: Table
    changes: tuple[Change, ...]
    missing: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is made of the records alone, before anything is drawn: what `verify` makes again."""

    reading: Reading
    frames: Frames
    tables: Tables
    trends: Table | None
    regressions: Table | None
    changes: tuple[Change, ...]
    missing: int

    def all(self) -> tuple[Table, ...]:
        """Every table of the report, in the order it is shown."""
        return (*self.tables.all(), *(table for table in (self.trends, self.regressions) if table is not None))


def build_report(
    run_folders: Sequence[Path],
    out: Path,
    *,
    baseline: Path | None = None,
    backgrounds: Sequence[Background] = (),
    plans: Sequence[Planned | None] = (),
    signer: Signer | None = None,
) -> ReportFiles:
    """Read the runs, taken together, and write `out`: index.html and the other pages, tables, plots, data, report.json.

    baseline: an earlier run to hold this one against. plans: what was to be played, for each run that has one; its
    records are held against it. signer: makes the envelope that lies beside report.json.

    The same records give the same bytes. Each file is replaced whole, pages last, so that an interrupted build leaves
    working pages; what an earlier report left and this one has not is removed. Raises RecordsError (not a run, damaged,
    or not what was planned) and HostError (cannot write).
    """
    figures = figure_out(run_folders, baseline=baseline, plans=plans)
    tables, frames = figures.tables, figures.frames
    plots = draw(tables, frames.attempts, figures.trends)
    names = run_names(run_folders)
    story = Story(
        frames=frames,
        tables=tables,
        plots=plots,
        links=links_for(tables.agents, tables.scenarios),
        runs=names,
        missing=figures.missing,
        backgrounds={(each.bundle_digest, each.scenario): each for each in backgrounds},
        trends=figures.trends,
        baseline=None if baseline is None else run_names([baseline])[0],
        changes=figures.changes,
        regressions=figures.regressions,
    )
    table_files = dict(_table_files(figures.all()))
    plot_files = {f"plots/{plot.name}.svg": plot.standalone.encode() for plot in plots}
    parts: Iterator[tuple[str, bytes]] = (
        file
        for group in (viewer_files(figures.reading, frames), table_files.items(), plot_files.items(), pages(story))
        for file in group
    )
    entries = tuple(written(out, path, data) for path, data in parts)
    manifest = described(frames, names, story.baseline, entries)
    remove_others(out, manifest)
    write_file(out / MANIFEST, manifest.data)
    if signer is not None:
        signer(out, manifest)
    return ReportFiles(
        page=out / INDEX,
        tables=tuple(out / path for path in table_files),
        plots=tuple(out / path for path in plot_files),
        headline=headline(tables),
        leaderboard=tables.leaderboard,
        changes=figures.changes,
        missing=figures.missing,
        digest=manifest.digest,
    )


def figure_out(
    run_folders: Sequence[Path], *, baseline: Path | None = None, plans: Sequence[Planned | None] = ()
) -> Figures:
    """All figures of these runs. Raises RecordsError."""
    readings = [read(folder) for folder in run_folders]
    pairs = zip(readings, plans, strict=bool(plans))
    missing = sum(still_missing(reading, planned) for reading, planned in pairs if planned is not None)
    reading = together(readings)
    frames = named(frames_of(reading))
    trends = None
    if len(readings) > 1:
        nights = [named_like(attempts_frame(one), frames.attempts) for one in readings]
        trends = trend_table(run_names(run_folders), nights)
    made: tuple[Change, ...] = ()
    if baseline is not None:
        made = changes(named_like(attempts_frame(read(baseline)), frames.attempts), frames)
    return Figures(
        reading=reading,
        frames=frames,
        tables=tabulate(frames),
        trends=trends,
        regressions=None if baseline is None else regression_table(made),
        changes=made,
        missing=missing,
    )


def _table_files(tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    for table in tables:
        yield f"tables/{table.name}.csv", as_csv(table).encode()
        yield f"tables/{table.name}.json", as_json(table).encode()
