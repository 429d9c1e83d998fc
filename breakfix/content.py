"""Where packs are: a folder the user names, or one that ships with breakfix."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from scenario_dsl.errors import AuthorError

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
    close = difflib.get_close_matches(path.name, shipped, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else f"; shipped packs: {', '.join(shipped)}"
    raise AuthorError(f"there is no pack folder {name!r}{hint}")


def find_scenario(name: str) -> tuple[Path, str]:
    """A scenario by `PACK/NAME`, by the path of its file, or by its bare name in the shipped packs: (pack, name)."""
    path = Path(name)
    if path.suffix in (".yml", ".yaml") and path.is_file():
        return path.resolve().parent.parent, path.stem
    if len(path.parts) > 1:
        return find_pack(str(path.parent)), path.name
    everywhere = [
        (folder, file.stem)
        for folder in shipped_packs().values()
        for file in sorted((folder / "scenarios").glob("*.yml"))
    ]
    for folder, stem in everywhere:
        if stem == name:
            return folder, stem
    close = difflib.get_close_matches(name, [stem for _, stem in everywhere], n=1)
    raise AuthorError(f"there is no scenario {name!r}" + (f"; did you mean `{close[0]}`?" if close else ""))
