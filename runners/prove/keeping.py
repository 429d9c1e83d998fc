"""Proofs of scenarios that are kept: proving goes on where it was stopped, and proves anew only what has changed."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from compiler.codec import Malformed, dump, load
from compiler.model import PackContent, ScenarioProof
from runners.worlds import Backend, Imaged
from scenario_dsl.writing import write_file, writing_to

_HOME = Path(__file__).resolve().parents[2]
_PROGRAMS = ("scenario_dsl", "compiler", "runners")
"""The packages whose code decides what a proof finds."""


class Kept:
    """A folder with a file for each proof that held, named after all that it depends on."""

    def __init__(self, folder: Path) -> None:
        """Raises HostError where nothing can be kept there: better now than after hours."""
        self._folder = folder
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass

    def find(self, content: PackContent, backend: Backend, repeats: int) -> ScenarioProof | None:
        """The proof of the one scenario in `content`, if it is there. Raises HostError where an image is missing."""
        (scenario,) = content.scenarios.values()
        if backend.unsupported(content, scenario) is not None:
            return None
        try:
            return load(ScenarioProof, self._file(content, backend, repeats).read_bytes())
        except (FileNotFoundError, Malformed):
            return None

    def keep(self, proof: ScenarioProof, content: PackContent, backend: Backend) -> None:
        """Keep it, if it holds: what failed may have failed by chance, and is asked again."""
        if proof.holds:
            write_file(self._file(content, backend, proof.repeats), dump(proof))

    def _file(self, content: PackContent, backend: Backend, repeats: int) -> Path:
        (scenario,) = content.scenarios.values()
        image = backend.image(content, scenario) if isinstance(backend, Imaged) else ""
        about = dump((scenario, dict(content.systems), backend.name, repeats, image, _program()))
        return self._folder / f"{scenario.name}.{backend.name}.{hashlib.sha256(about).hexdigest()[:16]}.json"


@lru_cache(maxsize=1)
def _program() -> str:
    """A digest of this program's own sources: another one might find something else."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(_HOME)} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for package in _PROGRAMS:
        files = (_HOME / package).rglob("*")
        yield from (path for path in files if path.is_file() and path.suffix != ".pyc")
