"""All figures of a report, from records alone and before anything is drawn: what `breakfix verify` makes again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.coverage import still_missing
from reports.frames import Frames, attempts_frame, frames_of
from reports.reading import Reading, Watch, read, together, unwatched
from reports.regressions import Change, changes, regression_table
from reports.table import Table
from reports.tables import Tables, named, named_like, tabulate
from reports.trends import run_names, trend_table
from runners.records import Trial

Planned = Iterable[tuple[str, Trial]]
"""A run's planned trials with their ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is made of the records. `changes` are empty without a baseline; `missing` counts unrecorded trials."""

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


def figure_out(
    run_folders: Sequence[Path],
    *,
    baseline: Path | None = None,
    plans: Sequence[Planned | None] = (),
    watch: Watch = unwatched,
) -> Figures:
    """All figures of these runs. Raises RecordsError."""
    readings = [read(folder, watch) for folder in run_folders]
    watch(100, 100, "computing figures")
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
