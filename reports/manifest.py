"""`report.json`: what a report is of, and the sha256 of every file in it. Its own digest names the whole report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from reports.frames import Frames
from scenario_dsl.errors import AuthorError
from scenario_dsl.writing import write_file, writing_to

MANIFEST = "report.json"
ENVELOPE = "report.dsse.json"
FORMAT: Literal["breakfix-report/1"] = "breakfix-report/1"


class ReportError(AuthorError):
    """A folder that is no report, or one that does not say what its records say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file by its path in the report's folder: sha256 (hex) and size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a report is of. `runs` and `baseline` are names; `records` is the digest of the evidence.

    `bundles`: (pack, version, digest). `files` are sorted by path and leave out the manifest and its envelope.
    """

    runs: tuple[str, ...]
    baseline: str | None
    records: str
    bundles: tuple[tuple[str, str, str], ...]
    files: tuple[FileEntry, ...]

    @property
    def data(self) -> bytes:
        """The manifest's one way to be written."""
        return (json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True) + "\n").encode()

    @property
    def digest(self) -> str:
        """sha256 (hex) of `data`: the report's own digest, which covers every byte of it."""
        return hashlib.sha256(self.data).hexdigest()


Signer: TypeAlias = Callable[[Path, Manifest], None]
"""Signs a report that was just written into the folder."""


def described(frames: Frames, runs: Sequence[str], baseline: str | None, entries: Sequence[FileEntry]) -> Manifest:
    """The manifest of a report on these records, with these files."""
    packs = frames.trials[["pack", "pack_version", "bundle_digest"]].drop_duplicates()
    bundles = sorted((str(pack), str(version), str(digest)) for pack, version, digest in packs.itertuples(index=False))
    return Manifest(
        runs=tuple(runs),
        baseline=baseline,
        records=frames.records_digest,
        bundles=tuple(bundles),
        files=tuple(sorted(entries, key=lambda entry: entry.path)),
    )


def written(out: Path, path: str, data: bytes) -> FileEntry:
    """Write one file of a report, and what the manifest says of it. Raises HostError."""
    write_file(out / path, data)
    return FileEntry(path=path, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def remove_others(out: Path, manifest: Manifest) -> None:
    """Remove what the manifest of an earlier report in the folder lists and this one does not, and its signature."""
    try:
        earlier = read_manifest(out)
    except ReportError:
        return
    kept = {entry.path for entry in manifest.files}
    with writing_to(out):
        for path in (*(entry.path for entry in earlier.files if entry.path not in kept), ENVELOPE):
            (out / path).unlink(missing_ok=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a report's folder. Raises ReportError."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise ReportError(f"{folder}: not a report: it has no {MANIFEST}") from error
    try:
        told: dict[str, Any] = json.loads(data)
        if told.pop("format") != FORMAT:
            raise ReportError(f"{folder / MANIFEST}: is not of the format {FORMAT}")
        manifest = Manifest(
            runs=tuple(told["runs"]),
            baseline=told["baseline"],
            records=told["records"],
            bundles=tuple((pack, version, digest) for pack, version, digest in told["bundles"]),
            files=tuple(FileEntry(**entry) for entry in told["files"]),
        )
        canonical = manifest.data == data
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{folder / MANIFEST}: is not a report's manifest") from error
    if not canonical or not all(_inside(entry.path) for entry in manifest.files):
        raise ReportError(f"{folder / MANIFEST}: is not a report's manifest as one is written")
    return manifest


def _inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\\" not in path
