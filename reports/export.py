"""Tables as CSV and JSON, and files that appear whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from pathlib import Path

from reports.statistics import Estimate
from reports.tables import Heading, Table, Value
from reports.text import spreadsheet_safe
from scenario_dsl.errors import HostError

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


def write_whole(path: Path, text: str) -> None:
    """Write a file so that readers see the old content or the new one, never a part. Raises HostError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _cannot(path, error) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise _cannot(path, error) from error


def _cannot(path: Path, error: OSError) -> HostError:
    return HostError(
        f"{path}: cannot be written: {error.strerror}", remedy="name another folder, or make room and grant access"
    )


def _names(heading: Heading) -> list[str]:
    parts = _ESTIMATE_PARTS if heading.kind in ("rate", "gap") else ("",)
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
