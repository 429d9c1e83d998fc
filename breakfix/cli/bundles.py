"""Getting a bundle to work on: from a folder that was compiled, or from a pack, compiled on the spot."""

from __future__ import annotations

from pathlib import Path

from breakfix.content import SHIPPED, find_pack
from compiler.bundle import compile_pack
from compiler.layout import FOLDER, MANIFEST
from compiler.model import Bundle
from compiler.verify import VerifiedBundle, read_unsigned, verify_under_ephemeral_key
from scenario_dsl.library import load_library


def is_compiled(path: Path) -> bool:
    """Is this the folder that `breakfix compile` writes?"""
    return (path / FOLDER / MANIFEST).is_file()


def own_bundle(text: str) -> Bundle:
    """An author's own bundle, not signed yet: a compiled folder, or a pack's folder or shipped name."""
    path = Path(text)
    return read_unsigned(path) if is_compiled(path) else compile_pack(load_library(find_pack(text), SHIPPED))


def own_verified(text: str) -> VerifiedBundle:
    """The same, let in under a key that lives only in memory: for proving and playing one's own scenarios."""
    return verify_under_ephemeral_key(own_bundle(text))
