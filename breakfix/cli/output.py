"""How the command line speaks: JSON for scripts, short lines for people, progress for long work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from scenario_dsl.errors import BreakfixError, HostError


def emit(data: object) -> None:
    """One JSON document on standard output."""
    json.dump(data, sys.stdout, indent=2, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


def say(text: str) -> None:
    """One line for a person, on standard output."""
    sys.stdout.write(text + "\n")


def failure(error: BreakfixError) -> None:
    """What went wrong, on standard error, with the remedy where there is one."""
    sys.stderr.write(f"{error}\n" if "\n" in str(error) else f"error: {error}\n")
    if isinstance(error, HostError):
        sys.stderr.write(f"  = help: {error.remedy}\n")


class Advance(Protocol):
    """Report progress: so many done of so many, with an optional word on what is going on."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Iterator[Advance]:
    """A progress bar on a terminal, a line every tenth elsewhere, nothing when quiet. It writes to standard error."""
    if quiet:
        yield _silent
    elif sys.stderr.isatty():
        with _bar(title) as advance:
            yield advance
    else:
        yield _lines(title)


def _silent(done: int, total: int, note: str = "") -> None:
    """Says nothing."""


def _lines(title: str) -> Advance:
    shown = -1

    def advance(done: int, total: int, note: str = "") -> None:
        nonlocal shown
        tenth = 10 * done // total if total else 10
        if tenth > shown:
            shown = tenth
            sys.stderr.write(f"{title}: {done}/{total}{'  ' + note if note else ''}\n")
            sys.stderr.flush()

    return advance


@contextmanager
def _bar(title: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, note="")

        def advance(done: int, total: int, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note)

        yield advance


def table(rows: list[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """A plain table on standard output: column key -> heading. Numbers are set to the right."""
    cells = [[str(heading) for heading in columns.values()]]
    cells += [["" if row.get(key) is None else str(row[key]) for key in columns] for row in rows]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    right = [bool(rows) and all(_is_number(row.get(key)) for row in rows) for key in columns]
    for line in cells:
        padded = [
            cell.rjust(width) if on_right else cell.ljust(width)
            for cell, width, on_right in zip(line, widths, right, strict=True)
        ]
        say("  ".join(padded).rstrip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value[:1].isdigit())
