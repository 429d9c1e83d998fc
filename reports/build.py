"""The report of one or more runs, on disk: a page, its plots and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.export import as_csv, as_json
from reports.frames import load
from reports.html import render
from reports.html.page import headline
from reports.plots import draw
from reports.table import Table
from reports.tables import named, tabulate
from scenario_dsl.writing import write_file


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """What was written, and the two things a command line says of it: the headline and the leaderboard."""

    page: Path
    tables: tuple[Path, ...]
    plots: tuple[Path, ...]
    headline: str
    leaderboard: Table


def build_report(run_folders: Sequence[Path], out: Path) -> ReportFiles:
    """Read the runs, taken together, and write `out`/index.html, `out`/tables/* and `out`/plots/*.

    The same records give the same bytes. Each file is replaced whole, the page last, so that an interrupted build
    leaves a working page. Raises RecordsError (not a run, or damaged) and HostError (cannot write).
    """
    frames = named(load(*run_folders))
    tables = tabulate(frames)
    plots = draw(tables, frames.attempts)
    page = render(frames, tables, plots)
    written: list[Path] = []
    for table in tables.all():
        for suffix, text in (("csv", as_csv(table)), ("json", as_json(table))):
            path = out / "tables" / f"{table.name}.{suffix}"
            write_file(path, text.encode())
            written.append(path)
    drawn = tuple(out / "plots" / f"{plot.name}.svg" for plot in plots)
    for path, plot in zip(drawn, plots, strict=True):
        write_file(path, plot.standalone.encode())
    write_file(out / "index.html", page.encode())
    return ReportFiles(
        page=out / "index.html",
        tables=tuple(written),
        plots=drawn,
        headline=headline(tables),
        leaderboard=tables.leaderboard,
    )
