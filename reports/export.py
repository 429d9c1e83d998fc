"""Tables as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

from reports.statistics import Estimate
from reports.table import Heading, Table, Value
from reports.text import spreadsheet_safe

ESTIMATED = ("rate", "gap", "rating")
"""Kinds of column whose cells are estimates."""
_ESTIMATE_PARTS = ("", "_low", "_high", "_n", "_missing")


def as_csv(table: Table) -> str:
    """One line per row; a rate becomes five columns (value, `_low`, `_high`, `_n`, `_missing`). Empty means none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for heading in table.headings for name in _names(heading)])
    for row in table.rows:
        writer.writerow(
            [cell for heading, value in zip(table.headings, row, strict=True) for cell in _cells(heading, value)]
        )
    return out.getvalue()


def as_json(table: Table) -> str:
    """An object: name, title, columns with their documentation, and rows. Rates are objects; null means none."""
    names = [heading.name for heading in table.headings]
    value = {
        "name": table.name,
        "title": table.title,
        "columns": [{"name": h.name, "title": h.title, "kind": h.kind, "doc": h.doc} for h in table.headings],
        "rows": [{n: _plain(cell) for n, cell in zip(names, row, strict=True)} for row in table.rows],
    }
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def _names(heading: Heading) -> list[str]:
    parts = _ESTIMATE_PARTS if heading.kind in ESTIMATED else ("",)
    return [heading.name + part for part in parts]


def _cells(heading: Heading, value: Value) -> list[str]:
    if isinstance(value, Estimate):
        return [_text(part) for part in (value.value, value.low, value.high, value.n, value.missing)]
    return [_text(value)] + [""] * (len(_names(heading)) - 1)


def _text(value: str | int | float | bool | None) -> str:
    if isinstance(value, str):
        return spreadsheet_safe(value)
    return "" if value is None else str(value)


def _plain(value: Value) -> object:
    if isinstance(value, Estimate):
        return {
            "value": value.value,
            "low": value.low,
            "high": value.high,
            "n": value.n,
            "successes": value.successes,
            "missing": value.missing,
        }
    return value
