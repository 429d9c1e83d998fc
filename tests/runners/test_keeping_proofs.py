"""Proofs are kept: what was proven is not proven again, unless what it is about has changed or it did not hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from compiler.model import PackContent, Proof
from runners.prove import keeping
from runners.prove.keeping import Kept
from runners.prove.proving import CHECKS, prove
from scenario_dsl.errors import HostError
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import bundle_of, cascading, investigation, repair
from tests.runners.toy import ToyBackend, ToyWorld


class Counting(ToyBackend):
    """Counts the worlds that it opens. image: of what they are made, if of anything."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        self.opened += 1
        return super().open(content, scenario, world, seed=seed)


@dataclass
class Bench:
    """What is proven, on what, and where proofs are kept."""

    folder: Path
    backend: Counting

    def prove(self, *scenarios: ResolvedScenario, repeats: int = 1) -> tuple[Proof, int]:
        """The proof, and how many worlds were opened for it."""
        before = self.backend.opened
        proof = prove(bundle_of(*scenarios), self.backend, repeats=repeats, kept=Kept(self.folder))
        return proof, self.backend.opened - before


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "proofs", Counting())


def test_what_was_proven_is_not_proven_again(bench: Bench) -> None:
    first, opened = bench.prove(repair())
    assert opened > 0
    assert bench.prove(repair()) == (first, 0)
    both, more = bench.prove(repair(), investigation())
    assert more > 0
    assert first.scenarios[0] in both.scenarios
    told: list[tuple[int, int]] = []
    bundle = bundle_of(repair(), investigation())
    prove(bundle, bench.backend, repeats=1, kept=Kept(bench.folder), progress=lambda *one: told.append(one[:2]))
    assert told == [(2 * len(CHECKS), 2 * len(CHECKS))]


def test_it_goes_on_where_it_was_stopped(bench: Bench) -> None:
    def stopping(done: int, _total: int, _note: str) -> None:
        if done > len(CHECKS):
            raise KeyboardInterrupt

    bundle = bundle_of(repair(), investigation(), cascading())
    with pytest.raises(KeyboardInterrupt):
        prove(bundle, bench.backend, repeats=1, kept=Kept(bench.folder), progress=stopping)
    (kept,) = bench.folder.iterdir()
    stamp = kept.stat().st_mtime_ns
    proof, _ = bench.prove(repair(), investigation(), cascading())
    assert proof == prove(bundle, ToyBackend(), repeats=1)
    assert kept.stat().st_mtime_ns == stamp
    assert len(list(bench.folder.iterdir())) == 3


def test_what_it_is_about_has_changed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.prove(repair())
    assert bench.prove(repair(), repeats=2)[1] > 0
    assert bench.prove(replace(repair(), title="Another one"))[1] > 0
    monkeypatch.setattr(Counting, "name", "elsewhere")
    assert bench.prove(repair())[1] > 0
    assert bench.prove(repair())[1] == 0
    monkeypatch.setattr(Counting, "image", lambda *_: "sha256:1", raising=False)
    assert bench.prove(repair())[1] > 0
    assert bench.prove(repair())[1] == 0
    monkeypatch.setattr(Counting, "image", lambda *_: "sha256:2", raising=False)
    assert bench.prove(repair())[1] > 0
    monkeypatch.setattr(keeping, "_program", lambda: "another one")
    assert bench.prove(repair())[1] > 0


def test_what_failed_or_was_spoilt_is_proven_again(bench: Bench) -> None:
    lame = replace(repair(), bad=(repair().gold,))
    assert not bench.prove(lame)[0].holds
    assert bench.prove(lame)[1] > 0
    first, _ = bench.prove(repair())
    (file,) = bench.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    again, opened = bench.prove(repair())
    assert again == first
    assert opened > 0


def test_where_nothing_can_be_kept_is_said_before_anything_is_proven(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HostError, match=f"cannot write {place}"):
            Kept(place)
    assert (tmp_path / "file").read_text() == "mine"


def test_the_program_is_all_that_proves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("scenario_dsl/model.py", "compiler/model.py", "runners/gate/bench.py"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("x = 1\n")
    monkeypatch.setattr(keeping, "_HOME", tmp_path)
    seen = {keeping._program.__wrapped__()}
    for place in ("scenario_dsl/model.py", "compiler/model.py", "runners/gate/bench.py"):
        (tmp_path / place).write_text("x = 2\n")
        seen.add(keeping._program.__wrapped__())
    (tmp_path / "runners/gate/bench.py").rename(tmp_path / "runners/gate/other.py")
    seen.add(keeping._program.__wrapped__())
    assert len(seen) == 5
