"""The manifest: what a bundle says of itself, and the sha256 of everything else in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compiler.codec import Malformed, dump, load, load_value
from compiler.layout import FORMAT, MANIFEST, is_bundle_path, sha256
from compiler.refusals import Altered, BadManifest, BadPath, Extra, Missing, UnknownFormat
from scenario_dsl.model import Difficulty, Kind, Split
from scenario_dsl.worlds import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file: its sha256 (hex) and its size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldEntry:
    """One world; `file` is the part of a path that stands for its name."""

    name: str
    role: Role
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEntry:
    """One scenario. `folder` is its part of a path; `digest` covers its own files and its system's."""

    name: str
    folder: str
    system: str
    kind: Kind
    difficulty: Difficulty
    split: Split
    digest: str
    worlds: tuple[WorldEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry:
    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackEntry:
    name: str
    version: str
    title: str
    license: str
    canary: str
    policies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`files` are sorted by path and leave out the manifest itself."""

    format: Literal["breakfix-bundle/1"]
    pack: PackEntry
    systems: tuple[SystemEntry, ...]
    scenarios: tuple[ScenarioEntry, ...]
    files: tuple[FileEntry, ...]


def entries(files: Mapping[str, bytes]) -> tuple[FileEntry, ...]:
    """What the manifest lists for these files."""
    return tuple(FileEntry(path=path, sha256=sha256(files[path]), size=len(files[path])) for path in sorted(files))


def digest_of(entries: Mapping[str, str]) -> str:
    """One sha256 over path -> sha256 of several files."""
    return sha256(dump(entries))


def read_manifest(data: bytes) -> Manifest:
    """The manifest from its bytes, which must be canonical. Raises UnknownFormat or BadManifest."""
    try:
        header = load_value(data)
        if isinstance(header, Mapping) and isinstance(header.get("format"), str) and header["format"] != FORMAT:
            raise UnknownFormat(str(header["format"]), FORMAT)
        manifest = load(Manifest, data)
    except Malformed as error:
        raise BadManifest(f"is not a manifest: {error.reason} (at {error.where})") from error
    if dump(manifest) != data:
        raise BadManifest("is not in canonical form: bytes were added or a key is in it twice")
    paths = [entry.path for entry in manifest.files]
    for path in paths:
        if not is_bundle_path(path):
            raise BadPath(path)
    if len(set(paths)) != len(paths):
        raise BadManifest("lists a file twice")
    if paths != sorted(paths) or MANIFEST in paths:
        raise BadManifest("its list of files is not sorted, or lists the manifest itself")
    return manifest


def check_files(files: Mapping[str, bytes]) -> Manifest:
    """Do the files equal what their manifest lists, no more and no less? Raises Missing, Extra, Altered, BadPath, …"""
    if MANIFEST not in files:
        raise Missing(MANIFEST)
    manifest = read_manifest(files[MANIFEST])
    listed = {entry.path: entry for entry in manifest.files}
    for path, data in files.items():
        if path == MANIFEST:
            continue
        if path not in listed:
            raise Extra(path) if is_bundle_path(path) else BadPath(path)
        entry, found = listed[path], sha256(data)
        if found != entry.sha256 or len(data) != entry.size:
            raise Altered(path, found, entry.sha256)
    for path in listed:
        if path not in files:
            raise Missing(path)
    return manifest
