"""Packs, scenarios and systems by what a user calls them: a folder, a file, or the name of one that ships."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from scenario_dsl.diagnostics import closest
from scenario_dsl.errors import AuthorError
from scenario_dsl.library import load_library
from scenario_dsl.model import Library, Scenario, System

_HOME = Path(__file__).resolve().parent.parent
SHIPPED: tuple[Path, ...] = (_HOME / "packs", _HOME / "kernel_packs")
"""The content folders, beside the packages in a checkout and in an installed wheel alike."""


def shipped_packs() -> Mapping[str, Path]:
    """The packs that ship with breakfix, by name."""
    return {
        folder.name: folder
        for root in SHIPPED
        if root.is_dir()
        for folder in sorted(root.iterdir())
        if (folder / "pack.yml").is_file()
    }


def find_pack(name: str) -> Path:
    """A pack's folder: the path as given, or else the shipped pack of that name."""
    path = Path(name)
    if path.is_dir():
        return path
    shipped = shipped_packs()
    # `packs/starter` is what the docs say; away from a checkout it means the shipped pack.
    known = (
        shipped.get(path.name) if len(path.parts) == 1 or path.parts[:-1] in (("packs",), ("kernel_packs",)) else None
    )
    if known is not None:
        return known
    close = closest(path.name, shipped)
    hint = f"; did you mean `{close}`?" if close else f"; shipped packs: {', '.join(shipped)}"
    raise AuthorError(f"there is no pack folder {name!r}{hint}")


def open_pack(name: str) -> Library:
    """A pack, by its folder or its shipped name, with all that it uses. Raises AuthorError for any mistake in it."""
    return load_library(find_pack(name), SHIPPED)


def open_scenario(name: str) -> tuple[Library, Scenario]:
    """A scenario and its pack: by `PACK/NAME`, by the path of its file, or by its bare name in the shipped packs.

    Raises AuthorError when there is none, and for any mistake in the pack.
    """
    folder, stem = _place_of(name)
    library = load_library(folder, SHIPPED)
    if stem not in library.scenarios:
        raise AuthorError(f"the pack {library.pack.name} has no scenario `{stem}`{_meant(stem, library.scenarios)}")
    return library, library.scenarios[stem]


def find_system(name: str) -> System:
    """A system of the shipped packs, by its name. Raises AuthorError."""
    known: dict[str, System] = {}
    for folder in shipped_packs().values():
        if (folder / "systems").is_dir():
            known.update(load_library(folder, SHIPPED).systems)
    if name not in known:
        raise AuthorError(f"there is no system `{name}`{_meant(name, known)}")
    return known[name]


def system_folder(name: str) -> Path:
    """Where a system of the shipped packs is described. Raises AuthorError."""
    folders = (folder / "systems" / name for folder in shipped_packs().values())
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise AuthorError(f"there is no system `{name}`")
    return found


def _place_of(name: str) -> tuple[Path, str]:
    """The pack's folder and the scenario's name."""
    path = Path(name)
    if path.suffix in (".yml", ".yaml") and path.is_file():
        return path.resolve().parent.parent, path.stem
    if len(path.parts) > 1:
        return find_pack(str(path.parent)), path.name
    everywhere: dict[str, Path] = {}
    for folder in shipped_packs().values():
        for file in sorted((folder / "scenarios").glob("*.yml")):
            everywhere.setdefault(file.stem, folder)
    if name not in everywhere:
        raise AuthorError(f"there is no scenario {name!r}{_meant(name, everywhere)}")
    return everywhere[name], name


def _meant(name: str, known: Iterable[str]) -> str:
    close = closest(name, known)
    return f"; did you mean `{close}`?" if close else ""
