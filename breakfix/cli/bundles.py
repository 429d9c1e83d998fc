"""Getting a bundle to work on: from a folder that was compiled, or from a pack, compiled on the spot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from breakfix.content import open_pack, open_scenario
from compiler.bundle import compile_pack
from compiler.layout import ENVELOPE, FOLDER, MANIFEST
from compiler.model import Bundle
from compiler.verify import VerifiedBundle, read_unsigned, verify_under_ephemeral_key
from runners.store import PLAN_FILE
from scenario_dsl.errors import AuthorError


def is_compiled(path: Path) -> bool:
    """Is this the folder that `breakfix compile` writes?"""
    return (path / FOLDER / MANIFEST).is_file()


def refuse_to_spoil(out: Path) -> None:
    """Raise AuthorError for a folder that holds a bundle or a run, to which nothing may be added."""
    for mark, what in (
        (f"{FOLDER}/{MANIFEST}", "a compiled bundle"),
        (ENVELOPE, "a signed bundle"),
        (PLAN_FILE, "a run"),
    ):
        if (out / mark).exists():
            raise AuthorError(f"{out}: holds {what}, which this would spoil: name another folder")


def single(scenario: str) -> tuple[VerifiedBundle, str]:
    """One scenario by itself, verified under a key of the moment, and its name. Raises AuthorError."""
    library, written = open_scenario(scenario)
    only = replace(library, scenarios={written.name: written})
    return verify_under_ephemeral_key(compile_pack(only)), written.name


def own_bundle(text: str) -> Bundle:
    """An author's own bundle, not signed yet: a compiled folder, or a pack's folder or shipped name."""
    path = Path(text)
    return read_unsigned(path) if is_compiled(path) else compile_pack(open_pack(text))
