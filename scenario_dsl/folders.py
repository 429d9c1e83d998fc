"""Where a pack's documents lie, and the tree of files that a system brings along."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenario_dsl.model import SystemFile
from scenario_dsl.schema import DocumentKind
from scenario_dsl.source import Unreadable, read_bytes

PACK_FILE, SYSTEM_FILE, TREE, INSTALLED = "pack.yml", "system.yml", "files", "installed.txt"
MAX_TREE_FILE = 4 << 20
_SUFFIXES = (".yml", ".yaml")
_INSTALLED_LINE = re.compile(r"\d{1,12} (/[^/ ]+)+|(/[^/ ]+)+ -> \S+|(/[^/ ]+)+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFolder:
    """The documents that a pack's folder holds, each list in order of name."""

    folder: Path
    scenarios: tuple[Path, ...]
    faults: tuple[Path, ...]
    systems: tuple[Path, ...]


def look_into(folder: Path) -> PackFolder:
    return PackFolder(
        folder=folder,
        scenarios=_documents(folder / "scenarios"),
        faults=_documents(folder / "faults"),
        systems=tuple(each / SYSTEM_FILE for each in entries(folder / "systems") if os.path.isdir(each)),
    )


def _documents(folder: Path) -> tuple[Path, ...]:
    return tuple(each for each in entries(folder) if each.suffix in _SUFFIXES)


def entries(folder: Path) -> tuple[Path, ...]:
    """What a folder holds, hidden names left out, in order of name; nothing where it cannot be listed."""
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return ()
    return tuple(folder / name for name in names if not name.startswith("."))


def pack_around(file: Path) -> tuple[Path, DocumentKind] | None:
    """The pack that an absolute path lies in, and what a document there must be."""
    parents = file.parents
    if file.name == PACK_FILE:
        return file.parent, "pack"
    if len(parents) > 1 and os.path.lexists(parents[1] / PACK_FILE):
        if parents[0].name == "scenarios":
            return parents[1], "scenario"
        if parents[0].name == "faults":
            return parents[1], "fault"
    if (
        file.name == SYSTEM_FILE
        and len(parents) > 2
        and parents[1].name == "systems"
        and os.path.lexists(parents[2] / PACK_FILE)
    ):
        return parents[2], "system"
    return None


class TreeFault(Exception):  # noqa: N818 (it reads as what it is)
    """A file of a system's tree that cannot be taken: its path on the machine, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def system_files(tree: Path, listed: Sequence[SystemFile]) -> tuple[tuple[SystemFile, ...], tuple[TreeFault, ...]]:
    """The files of a system: those of its tree, with the attributes that the document lists for them, by path."""
    files: dict[str, SystemFile] = {}
    faults: list[TreeFault] = []
    for path, place in _walk(tree):
        try:
            files[path] = _tree_file(path, place)
        except TreeFault as fault:
            faults.append(fault)
    for entry in listed:
        found = files.get(entry.path)
        if found is not None and entry.type == "file" and entry.content is None:
            entry = replace(entry, content=found.content)
        files[entry.path] = entry
    return tuple(files[path] for path in sorted(files)), tuple(faults)


def installed(folder: Path) -> str:
    """What a system's folder says of the operating system that it stands on, a line a file; "" where it says nothing.

    Raises TreeFault.
    """
    place = folder / INSTALLED
    if not os.path.lexists(place):
        return ""
    try:
        text = read_bytes(place, MAX_TREE_FILE).decode("utf-8")
    except UnicodeDecodeError:
        raise TreeFault(INSTALLED, "it is not UTF-8") from None
    except Unreadable as error:
        raise TreeFault(INSTALLED, error.detail or error.kind) from None
    for number, line in enumerate(text.splitlines(), start=1):
        if not _INSTALLED_LINE.fullmatch(line):
            raise TreeFault(f"{INSTALLED}:{number}", "it is none of `SIZE /PATH`, `/PATH -> TARGET` and `/PATH/`")
    return text


def _walk(tree: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(tree):
        # An installer compiles the Python of an installed pack where it lies: that is no part of the system.
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted([*names, *linked]):
            # Git keeps no empty folder without such a file.
            if name != ".gitkeep":
                place = Path(folder, name)
                yield "/" + place.relative_to(tree).as_posix(), place


def _tree_file(path: str, place: Path) -> SystemFile:
    if os.path.islink(place):
        try:
            return SystemFile(path=path, type="link", target=os.readlink(place))
        except OSError as error:
            raise TreeFault(path, error.strerror or "it cannot be read") from None
    try:
        return SystemFile(path=path, content=read_bytes(place, MAX_TREE_FILE).decode("utf-8"))
    except UnicodeDecodeError:
        raise TreeFault(path, "it is not UTF-8") from None
    except Unreadable as error:
        raise TreeFault(path, error.detail or error.kind) from None
