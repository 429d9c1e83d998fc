"""Is a report what it says? Its files against its manifest, and its tables against the records they are made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.export import as_csv, as_json
from reports.figures import Planned, figure_out
from reports.manifest import ENVELOPE, MANIFEST, Manifest, ReportError, read_manifest

_OWN = (MANIFEST, ENVELOPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A report that stood up to it. `tables` were made again from the records, byte for byte; none without runs."""

    manifest: Manifest
    files: int
    tables: int


def check_files(folder: Path) -> Manifest:
    """The manifest, once every file is as it lists it and no other lies there. Raises ReportError."""
    manifest = read_manifest(folder)
    listed = {entry.path: entry for entry in manifest.files}
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    for path in found:
        if path not in listed and path not in _OWN:
            raise ReportError(f"{folder / path}: is no part of the report")
    for path, entry in listed.items():
        if path not in found:
            raise ReportError(f"{folder / path}: is missing from the report")
        data = (folder / path).read_bytes()
        if len(data) != entry.size or hashlib.sha256(data).hexdigest() != entry.sha256:
            raise ReportError(f"{folder / path}: is not the file that the report was made with")
    return manifest


def check_report(
    folder: Path, runs: Sequence[Path], *, baseline: Path | None = None, plans: Sequence[Planned | None] = ()
) -> Checked:
    """Check the files; make all tables again from the runs, where these are given, and compare.

    Raises ReportError, which says what differs, and RecordsError for runs that cannot be read.
    """
    manifest = check_files(folder)
    if not runs:
        return Checked(manifest=manifest, files=len(manifest.files), tables=0)
    if (baseline is None) != (manifest.baseline is None):
        wanted = f"its baseline was {manifest.baseline}" if baseline is None else "it was made without a baseline"
        raise ReportError(f"{folder}: cannot be made again from these runs: {wanted}")
    figures = figure_out(runs, baseline=baseline, plans=plans)
    if figures.frames.records_digest != manifest.records:
        raise ReportError(
            f"{folder}: is about other records: sha256:{manifest.records}, "
            f"these runs have sha256:{figures.frames.records_digest}"
        )
    made = {table.name: table for table in figures.all()}
    stored = {entry.path for entry in manifest.files if entry.path.startswith("tables/")}
    if stored != {f"tables/{name}.{kind}" for name in made for kind in ("csv", "json")}:
        raise ReportError(f"{folder}: has other tables than its records give")
    for name, table in made.items():
        text, path = as_json(table), folder / "tables" / f"{name}.json"
        if path.read_bytes() != text.encode():
            raise ReportError(f"{path}: is not what the records give: {_first_difference(path, text)}")
        if path.with_suffix(".csv").read_bytes() != as_csv(table).encode():
            raise ReportError(f"{path.with_suffix('.csv')}: is not what the records give")
    return Checked(manifest=manifest, files=len(manifest.files), tables=len(made))


def _first_difference(path: Path, made: str) -> str:
    """The first cell that differs, in words."""
    try:
        told, rows = json.loads(path.read_bytes()).get("rows"), json.loads(made)["rows"]
        for number, (here, there) in enumerate(zip(told, rows, strict=True), start=1):
            for column in there:
                if here.get(column) != there[column]:
                    return f"row {number}, {column}: {json.dumps(here.get(column))}, not {json.dumps(there[column])}"
    except (ValueError, TypeError, AttributeError):
        return "it is not even of the same shape"
    return "its headings differ"
