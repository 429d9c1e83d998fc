"""Values to what a page shows of them: texts, sort keys and the small bars under a rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from reports.statistics import Estimate
from reports.table import Heading, Table, Value
from reports.text import shortened

_LONGEST = 160
NUMERIC = ("rate", "gap", "rating", "count", "number", "chance", "points")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A small mark beside an agent's name."""

    text: str
    doc: str
    warn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One cell. `text` None: nothing to tell. `value`, `low` and `high` (0 to 1) are there where a bar is drawn.

    `href`: where its text leads; `parts`: instead of one text several, each with where it leads.
    """

    column: str
    kind: str
    text: str | None
    sort: str
    header: bool = False
    value: str | None = None
    low: str = ""
    high: str = ""
    interval: str = ""
    evidence: str = ""
    href: str | None = None
    parts: tuple[tuple[str, str | None], ...] = ()
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHeading:
    name: str
    title: str
    kind: str
    doc: str
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A table as the page shows it."""

    name: str
    title: str
    caption: str
    headings: tuple[ShownHeading, ...]
    rows: tuple[tuple[Shown, ...], ...]


Link = Callable[[str, str], str | None]
"""(column, text of the cell) to where it leads, or None."""


def view(
    table: Table,
    *,
    header: str,
    link: Link,
    hidden: Sequence[str] = (),
    only: Callable[[dict[str, Value]], bool] = lambda _row: True,
    tags: Mapping[str, tuple[Tag, ...]] = MappingProxyType({}),
) -> View:
    """The table without its `hidden` columns and the rows that `only` refuses.

    Cells of the column `header` head their rows, with their tags.
    """
    names = [heading.name for heading in table.headings]
    kept = [index for index, heading in enumerate(table.headings) if heading.name not in hidden]
    headings = tuple(
        ShownHeading(
            name=heading.name,
            title=heading.title,
            kind=heading.kind,
            doc=heading.doc,
            sort="number" if heading.kind in NUMERIC else "text",
        )
        for heading in (table.headings[index] for index in kept)
    )
    rows = tuple(
        tuple(_cell(table.headings[index], row[index], header=header, link=link, tags=tags) for index in kept)
        for row in table.rows
        if only(dict(zip(names, row, strict=True)))
    )
    return View(name=table.name, title=table.title, caption=table.caption, headings=headings, rows=rows)


def percent(share: float) -> str:
    """A share for people. Only what is exactly all or nothing reads 100% or 0%."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def _cell(heading: Heading, value: Value, *, header: str, link: Link, tags: Mapping[str, tuple[Tag, ...]]) -> Shown:
    column, kind = heading.name, heading.kind
    if value is None or (isinstance(value, Estimate) and value.value is None):
        return Shown(column=column, kind=kind, text=None, sort="")
    if isinstance(value, Estimate):
        return _estimate(column, kind, value)
    if kind == "chance" and isinstance(value, float):
        text = "<0.001" if value < 0.001 else f"{value:.3f}"
        return Shown(column=column, kind=kind, text=text, sort=repr(value))
    if isinstance(value, float):
        return Shown(column=column, kind=kind, text=f"{value:.4g}", sort=repr(value))
    if kind == "trials":
        parts = tuple((part, link("trial", part)) for part in str(value).split())
        return Shown(column=column, kind=kind, text=str(value), sort=str(value), parts=parts)
    # A name may be empty or a page long; the row has to stay a row.
    text = shortened(str(value), _LONGEST) or "(empty)"
    is_header = column == header
    own = tags.get(str(value), ()) if is_header else ()
    href = link(column, str(value)) if kind == "name" else None
    return Shown(column=column, kind=kind, text=text, sort=str(value), header=is_header, href=href, tags=own)


def _estimate(column: str, kind: str, estimate: Estimate) -> Shown:
    assert estimate.value is not None, "an estimate without a value is shown as a dash"
    parts = [f"{estimate.successes} of {estimate.n}" if estimate.successes is not None else f"n = {estimate.n}"]
    if estimate.missing:
        parts.append(f"{estimate.missing} undecided")
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        scale = 1 if kind == "rating" else 100
        interval = f"{_signed(scale * estimate.low)}–{_signed(scale * estimate.high)}"
    if kind == "rating":
        text = f"{estimate.value:.0f}"
        return Shown(
            column=column, kind=kind, text=text, sort=repr(estimate.value), interval=interval, evidence=", ".join(parts)
        )
    return Shown(
        column=column,
        kind=kind,
        text=f"{_signed(100 * estimate.value)} pt" if kind == "gap" else percent(estimate.value),
        sort=repr(estimate.value),
        value=_place(estimate.value),
        low=_place(estimate.low),
        high=_place(estimate.high),
        interval=interval,
        evidence=", ".join(parts),
    )


def _signed(number: float) -> str:
    """A whole number, with a minus sign proper and no negative zero."""
    return f"{round(number) or 0}".replace("-", "−")


def _place(share: float | None) -> str:
    """A position on a bar, from 0 to 1."""
    return "" if share is None else f"{min(1.0, max(0.0, share)):.4g}"
