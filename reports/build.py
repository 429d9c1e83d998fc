"""The report of one or more runs, on disk: pages, plots, tables, and the episodes' data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.background import Background
from reports.export import as_csv, as_json
from reports.figures import Planned, figure_out
from reports.html import Story, pages
from reports.html.episodes import viewer_files
from reports.html.links import INDEX, links_for
from reports.html.words import headline
from reports.manifest import MANIFEST, FileEntry, Signer, described, remove_others, written
from reports.plots import draw
from reports.reading import Watch, unwatched
from reports.regressions import Change
from reports.table import Table
from reports.trends import run_names
from scenario_dsl.writing import write_file

_RECORDS_A_FILE = 200
"""About so many records go into one chunk: only for saying how far the writing is."""


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


def build_report(
    run_folders: Sequence[Path],
    out: Path,
    *,
    baseline: Path | None = None,
    backgrounds: Sequence[Background] = (),
    plans: Sequence[Planned | None] = (),
    signer: Signer | None = None,
    watch: Watch = unwatched,
) -> ReportFiles:
    """Read the runs, taken together, and write `out`: index.html and the other pages, tables, plots, data, report.json.

    baseline: an earlier run to hold this one against. plans: what was to be played, for each run that has one; its
    records are held against it. signer: makes the envelope that lies beside report.json.

    The same records give the same bytes. Each file is replaced whole, pages last, so that an interrupted build leaves
    working pages; what an earlier report left and this one has not is removed. Raises RecordsError (not a run, damaged,
    or not what was planned) and HostError (cannot write).
    """
    figures = figure_out(run_folders, baseline=baseline, plans=plans, watch=watch)
    watch(100, 100, "drawing")
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
    entries = tuple(_write_all(out, parts, len(figures.reading.kept), watch))
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


def _write_all(out: Path, parts: Iterator[tuple[str, bytes]], records: int, watch: Watch) -> Iterator[FileEntry]:
    for number, (path, data) in enumerate(parts):
        share = 100 * (number + 1) // max(number + 1, records // _RECORDS_A_FILE)
        watch(share, 100, f"writing {path.split('/')[0]}")
        yield written(out, path, data)


def _table_files(tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    for table in tables:
        yield f"tables/{table.name}.csv", as_csv(table).encode()
        yield f"tables/{table.name}.json", as_json(table).encode()
