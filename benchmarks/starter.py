"""The starter pack, compiled and let in under a key that lives only in memory: what the benchmarks play."""

from __future__ import annotations

from pathlib import Path

from compiler.bundle import compile_pack
from compiler.verify import VerifiedBundle, verify_under_ephemeral_key
from scenario_dsl.library import load_library

PACKS = Path(__file__).resolve().parent.parent / "packs"


def starter() -> VerifiedBundle:
    return verify_under_ephemeral_key(compile_pack(load_library(PACKS / "starter", (PACKS,))))
