"""The door of the language: folders and files in, a checked `Library` or diagnostics out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from scenario_dsl.checks.fault import check_fault
from scenario_dsl.checks.pack import check_lone_points, check_scenario_count
from scenario_dsl.checks.scenario import check_scenario
from scenario_dsl.checks.system import check_system
from scenario_dsl.diagnostics import Diagnostic, Diagnostics, closest, errors_in, ordered
from scenario_dsl.folders import (
    PACK_FILE,
    TREE,
    PackFolder,
    TreeFault,
    entries,
    installed,
    look_into,
    pack_around,
    system_files,
)
from scenario_dsl.loading import Loaded, load_document, rewarded
from scenario_dsl.model import Fault, Library, Pack, Scenario, System
from scenario_dsl.nodes import Document
from scenario_dsl.problems import packs as problems
from scenario_dsl.realise.known import Known
from scenario_dsl.schema import DocumentKind
from scenario_dsl.source import SourceText, Span

_T = TypeVar("_T")


def load_library(pack_dir: Path, search: Sequence[Path] = ()) -> Library:
    """All documents of a pack and of the packs it uses, checked; raises Diagnostics when any of them has an error.

    `search`: folders in which used packs are looked for, after the folder that the pack itself lies in.
    """
    reader = _Reader(search=tuple(search), absolute=pack_dir.is_absolute())
    reading = reader.read(_absolute(pack_dir))
    scenarios = reader.scenarios(reading, reading.folder.scenarios)
    found = (*reader.everything(reading), *_found_in(scenarios))
    if errors_in(found) or reading.pack is None:
        raise Diagnostics(found)
    loaded = tuple(each for each, _ in scenarios)
    return Library(
        pack=reading.pack,
        scenarios={scenario.name: scenario for scenario in _values(loaded, Scenario)},
        faults=dict(sorted(reading.known.faults.items())),
        systems=dict(sorted(reading.known.systems.items())),
        documents={**reading.known.documents, **_documents(loaded)},
    )


def check_paths(paths: Sequence[Path], search: Sequence[Path] = ()) -> tuple[Diagnostic, ...]:
    """Everything wrong with files and folders, in order of file and position; empty when all is well.

    A folder is a pack, or holds packs or documents. A file inside a pack is judged within it, and only what concerns
    that file is returned; elsewhere a document is judged by what it says alone.
    """
    found: list[Diagnostic] = []
    for absolute in (False, True):
        reader = _Reader(search=tuple(search), absolute=absolute)
        for path in paths:
            if path.is_absolute() is absolute:
                found += reader.check(_absolute(path))
    return ordered(found)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One pack, read and checked, without its scenarios: nothing else refers to those."""

    folder: PackFolder
    pack_file: Loaded
    pack: Pack | None
    faults: tuple[Loaded, ...]
    systems: tuple[Loaded, ...]
    uses: tuple[_Reading, ...]
    known: Known
    found: tuple[Diagnostic, ...]


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads each pack once, whatever leads to it. `absolute`: how paths are shown."""

    search: tuple[Path, ...]
    absolute: bool
    packs: dict[str, _Reading] = field(default_factory=dict)

    def shown(self, path: Path) -> str:
        return str(path) if self.absolute else os.path.relpath(path)

    def check(self, path: Path) -> Iterator[Diagnostic]:
        # `os.path` answers where `Path` raises: for folders above that may not be entered.
        if os.path.isdir(path):
            yield from self._folder(path)
            return
        around = pack_around(path)
        if around is None:
            yield from _alone(load_document(path, self.shown(path)))
            return
        folder, kind = around
        shown = self.shown(path)
        reading = self.read(folder)
        if kind == "scenario":
            yield from _found_in(self.scenarios(reading, (path,)))
        elif kind != "pack" and path not in (*reading.folder.faults, *reading.folder.systems):
            yield from load_document(path, shown).found
        else:
            yield from (each for each in reading.found if each.source.path == shown)

    def _folder(self, folder: Path) -> Iterator[Diagnostic]:
        if _is_pack(folder):
            yield from self._pack(folder)
            return
        inside = entries(folder)
        packs = [each for each in inside if os.path.isdir(each) and _is_pack(each)]
        files = [each for each in inside if each.suffix in (".yml", ".yaml")]
        for each in packs:
            yield from self._pack(each)
        for each in files:
            # A folder of such a name is not entered: it could be a link that leads back here.
            yield from _alone(load_document(each, self.shown(each)))
        if not packs and not files:
            yield problems.NoPack(source=SourceText(self.shown(folder), ""), span=Span(0, 0))

    def _pack(self, folder: Path) -> Iterator[Diagnostic]:
        reading = self.read(folder)
        yield from self.everything(reading)
        yield from _found_in(self.scenarios(reading, reading.folder.scenarios))

    def scenarios(self, reading: _Reading, paths: Sequence[Path]) -> tuple[tuple[Loaded, tuple[Diagnostic, ...]], ...]:
        """Scenarios of a pack, each with everything found in it."""
        pairs = []
        taken: dict[str, str] = {}
        for path in paths:
            loaded = rewarded(self._load(path), reading.pack_file)
            found = [*loaded.found, *_names("scenario", (loaded,), taken), *_meaning(loaded, reading.known)]
            if isinstance(loaded.value, Scenario) and loaded.document is not None and reading.pack is not None:
                found += check_lone_points(loaded.document, loaded.value, reading.pack)
            pairs.append((loaded, tuple(found)))
        return tuple(pairs)

    def everything(self, reading: _Reading) -> Iterator[Diagnostic]:
        """What was found in a pack beside its scenarios, and the errors of the packs it uses."""
        yield from reading.found
        for used in reading.uses:
            yield from (each for each in self.everything(used) if each.severity == "error")

    def read(self, folder: Path) -> _Reading:
        """`folder`: absolute."""
        key = os.path.realpath(folder)
        if key not in self.packs:
            self.packs[key] = self._read(look_into(folder))
        return self.packs[key]

    def _read(self, folder: PackFolder) -> _Reading:
        pack_file = self._load(folder.folder / PACK_FILE)
        faults = tuple(_judged(self._load(path)) for path in folder.faults)
        systems = tuple(_judged(_with_tree(self._load(path))) for path in folder.systems)
        found = [each for loaded in (pack_file, *faults, *systems) for each in loaded.found]
        pack = pack_file.value if isinstance(pack_file.value, Pack) else None
        uses = tuple(self._uses(folder.folder, pack_file, pack, found))
        known = _known(faults, systems, uses, complete=pack is not None and len(uses) == len(pack.uses))
        found += _names("pack", (pack_file,), {})
        found += _names("fault", faults, _taken(loaded for used in uses for loaded in used.faults))
        found += _names("system", systems, _taken(loaded for used in uses for loaded in used.systems))
        if pack is not None and pack_file.document is not None:
            found += check_scenario_count(pack_file.document, pack, len(folder.scenarios))
            if not folder.scenarios and not faults and not systems:
                found.append(problems.EmptyPack(source=pack_file.source, span=pack_file.document.key(("pack",))))
        return _Reading(
            folder=folder,
            pack_file=pack_file,
            pack=pack,
            faults=faults,
            systems=systems,
            uses=uses,
            known=known,
            found=tuple(found),
        )

    def _load(self, path: Path) -> Loaded:
        return load_document(path, self.shown(path))

    def _uses(self, folder: Path, pack_file: Loaded, pack: Pack | None, found: list[Diagnostic]) -> Iterator[_Reading]:
        for index, name in enumerate(pack.uses if pack is not None else ()):
            assert pack_file.document is not None
            span = pack_file.document.place(("uses", index))
            used = self._find(folder, name)
            if used is None:
                near = [each.name for place in self._places(folder) for each in entries(place) if _is_pack(each)]
                found.append(
                    problems.UnknownPack(source=pack_file.source, span=span, name=name, suggestion=closest(name, near))
                )
            elif self._leads_to(used, folder):
                found.append(problems.PackCycle(source=pack_file.source, span=span, name=name))
            else:
                yield self.read(used)

    def _places(self, folder: Path) -> tuple[Path, ...]:
        return (folder.parent, *map(_absolute, self.search))

    def _find(self, folder: Path, name: str) -> Path | None:
        return next((place / name for place in self._places(folder) if _is_pack(place / name)), None)

    def _leads_to(self, start: Path, goal: Path) -> bool:
        """Does a pack use another, directly or through others?"""
        wanted = os.path.realpath(goal)
        waiting = [start]
        seen: set[str] = set()
        while waiting:
            folder = waiting.pop()
            key = os.path.realpath(folder)
            if key == wanted:
                return True
            if key in seen:
                continue
            seen.add(key)
            pack = self._load(folder / PACK_FILE).value
            names = pack.uses if isinstance(pack, Pack) else ()
            waiting += [found for name in names if (found := self._find(folder, name)) is not None]
        return False


def _is_pack(folder: Path) -> bool:
    return os.path.lexists(folder / PACK_FILE)


def _found_in(scenarios: Iterable[tuple[Loaded, tuple[Diagnostic, ...]]]) -> Iterator[Diagnostic]:
    return (each for _, found in scenarios for each in found)


def _alone(loaded: Loaded) -> Iterator[Diagnostic]:
    yield from loaded.found
    yield from _meaning(loaded, Known(complete=False))


def _values(loaded: Iterable[Loaded], kind: type[_T]) -> Iterator[_T]:
    return (each.value for each in loaded if isinstance(each.value, kind))


def _with_tree(loaded: Loaded) -> Loaded:
    """A system with the files of its folder."""
    if not isinstance(loaded.value, System) or loaded.document is None:
        return loaded
    folder, settings = loaded.path.parent, loaded.value.settings
    files, faults = system_files(folder / TREE, loaded.value.files)
    try:
        settings = {**settings, "installed": installed(folder)}
    except TreeFault as fault:
        faults = (*faults, fault)
    span = loaded.document.place(("system",))
    found = tuple(
        problems.TreeFile(source=loaded.source, span=span, path=fault.path, reason=fault.reason) for fault in faults
    )
    return replace(loaded, value=replace(loaded.value, files=files, settings=settings), found=(*loaded.found, *found))


def _judged(loaded: Loaded) -> Loaded:
    """A fault or system with what is wrong with its meaning, for which it needs no other document."""
    return replace(loaded, found=(*loaded.found, *_meaning(loaded, Known(complete=False))))


def _documents(loaded: Iterable[Loaded]) -> dict[tuple[str, str], Document]:
    return {
        (each.kind, each.name): each.document
        for each in loaded
        if each.kind is not None and each.document is not None and each.value is not None
    }


def _known(faults: Sequence[Loaded], systems: Sequence[Loaded], uses: Sequence[_Reading], *, complete: bool) -> Known:
    known_faults: dict[str, Fault] = {}
    known_systems: dict[str, System] = {}
    documents: dict[tuple[str, str], Document] = {}
    unsound: set[str] = set()
    for used in uses:
        documents |= used.known.documents
        known_faults |= used.known.faults
        known_systems |= used.known.systems
        unsound |= used.known.unsound
    known_faults |= {fault.name: fault for fault in _values(faults, Fault)}
    known_systems |= {system.name: system for system in _values(systems, System)}
    documents |= _documents((*faults, *systems))
    unsound |= {each.name for each in (*faults, *systems) if each.value is None or errors_in(each.found)}
    return Known(
        faults=known_faults,
        systems=known_systems,
        documents=documents,
        unsound=frozenset(unsound),
        complete=complete and all(used.known.complete for used in uses),
    )


def _taken(loaded: Iterable[Loaded]) -> dict[str, str]:
    """Names that used packs have given, with the files that did."""
    return {each.name: each.source.path for each in loaded if each.value is not None}


def _names(kind: DocumentKind, group: Sequence[Loaded], taken: dict[str, str]) -> Iterator[Diagnostic]:
    """Documents are what their folder says, are named like their file, and no two of a kind share a name.

    `taken`: names given before, with their files; those of the group are added.
    """
    for loaded in group:
        if loaded.document is None or loaded.kind is None:
            continue
        source, span = loaded.source, loaded.document.place((loaded.kind,))
        if loaded.kind != kind:
            key = loaded.document.key((loaded.kind,))
            yield problems.WrongFolder(source=source, span=key, kind=loaded.kind, expected=kind)
            continue
        if loaded.value is None or kind == "pack":
            continue
        holder, expected = ("folder", loaded.path.parent.name) if kind == "system" else ("file", loaded.path.stem)
        if loaded.name != expected:
            yield problems.FileMisnamed(
                source=source, span=span, kind=kind, name=loaded.name, holder=holder, found=expected
            )
        if loaded.name in taken:
            other = taken[loaded.name]
            yield problems.NameTaken(source=source, span=span, kind=kind, name=loaded.name, other=other)
        taken.setdefault(loaded.name, source.path)


def _meaning(loaded: Loaded, known: Known) -> Iterator[Diagnostic]:
    if loaded.document is None:
        return
    if isinstance(loaded.value, Scenario):
        yield from check_scenario(loaded.document, loaded.value, known)
    elif isinstance(loaded.value, Fault):
        yield from check_fault(loaded.document, loaded.value)
    elif isinstance(loaded.value, System):
        yield from check_system(loaded.document, loaded.value, loaded.data)
