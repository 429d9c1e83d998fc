"""Watching a run: a table of agents and packs, redrawn on a terminal, and a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from breakfix.cli.output import table
from runners.run import Progress
from runners.status import Row, Standing, read_status

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS: Mapping[str, str] = {
    "agent": "agent",
    "pack": "pack",
    "done": "done",
    "planned": "of",
    "passed": "passed",
    "errors": "errored",
    "tokens": "tokens",
    "cost": "cost",
}
_MOST_ROWS = 40
_SECONDS_BETWEEN_LINES = 60.0


def cells(row: Row) -> dict[str, str]:
    """A row as people read it."""
    errors = ", ".join(f"{count} {kind}" for kind, count in sorted(row.errors.items()) if count)
    return {
        "agent": row.agent,
        "pack": row.pack,
        "done": str(row.done),
        "planned": str(row.planned),
        "passed": str(row.passed),
        "errors": errors or "–",
        "tokens": str(row.tokens) if row.tokens else "–",
        "cost": cost(row),
    }


def cost(row: Row) -> str:
    """Money, with a `+` for what is not known; `?` where none of it is."""
    if not row.unpriced:
        return f"{row.cost:.4f}" if row.cost else "–"
    return f"{row.cost:.4f}+?" if row.cost else "?"


def show_table(rows: Sequence[Row]) -> None:
    """The table on standard output."""
    table([cells(row) for row in rows], _HEADINGS)


def line(standing: Standing, *, running: bool) -> str:
    """One line on all of it: done, rate, time left, cost, errors by kind."""
    total = standing.total
    now = time.time() if running else None
    parts = [f"{total.done}/{total.planned} done"]
    if total.errored:
        parts.append(cells(total)["errors"] + " errored")
    if (rate := standing.rate(now)) is not None:
        parts.append(f"{rate:.3g}/s")
        if running and (left := standing.eta(now)) is not None and total.open:
            parts.append(f"{duration(left)} left")
    if total.tokens:
        parts.append(f"{total.tokens} tokens")
    if total.tokens or total.cost:
        parts.append(f"cost {cost(total)}")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def watching(folder: Path, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """What to tell a run's progress to. It writes to standard error."""
    if quiet:
        yield _unseen
    elif sys.stderr.isatty():
        with _live(folder) as report:
            yield report
    else:
        yield _Lines(folder).report


def _unseen(progress: Progress) -> None:
    """Says nothing."""


class _Counted:
    """A run's standing, from what lay in its folder at the start and what came since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.standing: Standing | None = None

    def count(self, progress: Progress) -> Standing:
        if self.standing is None:
            # The first report is made before anything is written.
            self.standing = read_status(self._folder).standing
        now = time.time()
        for each in progress.lines:
            self.standing.add(each, now)
        return self.standing


class _Lines:
    """A plain line at every tenth of the run, and at least once a minute while something comes."""

    def __init__(self, folder: Path) -> None:
        self._counted = _Counted(folder)
        self._tenth = -1
        self._said = 0.0

    def report(self, progress: Progress) -> None:
        standing = self._counted.count(progress)
        tenth = 10 * progress.done // progress.planned
        if tenth > self._tenth or time.monotonic() - self._said > _SECONDS_BETWEEN_LINES:
            self._tenth, self._said = tenth, time.monotonic()
            sys.stderr.write(f"episodes: {line(standing, running=True)}\n")
            sys.stderr.flush()


@contextmanager
def _live(folder: Path) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.live import Live

    counted = _Counted(folder)

    def picture() -> Table | str:
        return "starting workers" if counted.standing is None else _drawn(counted.standing)

    with Live(console=Console(stderr=True), get_renderable=picture, refresh_per_second=2, transient=True):

        def report(progress: Progress) -> None:
            counted.count(progress)

        yield report


def _drawn(standing: Standing) -> Table:
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, caption=line(standing, running=True), caption_justify="left")
    for name, heading in _HEADINGS.items():
        drawn.add_column(heading, justify="left" if name in ("agent", "pack", "errors") else "right")
    rows = list(standing.rows.values())
    for row in rows[:_MOST_ROWS]:
        drawn.add_row(*cells(row).values())
    if len(rows) > _MOST_ROWS:
        drawn.add_row(f"… {len(rows) - _MOST_ROWS} more")
    return drawn
