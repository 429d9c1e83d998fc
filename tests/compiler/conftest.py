from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.bundle import compile_pack, write_bundle, write_envelope
from compiler.keys import generate, load_private
from compiler.model import Bundle, Finding, Proof, ScenarioProof
from compiler.signing import sign
from compiler.trust import Trust, trust_only
from tests.compiler.libraries import library


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    return compile_pack(library())


def proof_of(bundle: Bundle, *scenarios: str, passed: bool | None = True) -> Proof:
    finding = Finding(check="gold", world="primary", passed=passed, detail="full score")
    return Proof(
        bundle_digest=bundle.digest,
        scenarios=tuple(
            ScenarioProof(scenario=name, backend="sim", repeats=2, findings=(finding,))
            for name in scenarios or ("find-the-500", "process-recovery")
        ),
    )


@dataclass(frozen=True)
class Signer:
    private: Path
    trust: Trust

    def write(self, bundle: Bundle, folder: Path, proof: Proof | None = None) -> Path:
        """A signed folder."""
        write_bundle(bundle, folder, proof=proof)
        write_envelope(folder, sign(bundle, load_private(self.private), proof))
        return folder


@pytest.fixture(scope="session")
def new_signer(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Signer]:
    def new() -> Signer:
        private = tmp_path_factory.mktemp("keys") / "author"
        return Signer(private, trust_only(generate(private)))

    return new


@pytest.fixture(scope="session")
def signer(new_signer: Callable[[], Signer]) -> Signer:
    return new_signer()


@pytest.fixture
def signed(bundle: Bundle, signer: Signer, tmp_path: Path) -> Path:
    """A proven, signed folder that the test may spoil."""
    return signer.write(bundle, tmp_path / "out", proof_of(bundle))
