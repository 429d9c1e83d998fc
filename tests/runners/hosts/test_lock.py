"""What an image was locked to, and what drifted from it; a run takes no image but the one that was proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.model import PackContent
from runners.agents.registry import parse_agent
from runners.hosts.lock import Drift, drifted, read_lock, write_lock
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.prove.proving import prove
from runners.run import run
from scenario_dsl.errors import HostError
from scenario_dsl.worlds import ResolvedScenario
from tests.runners.cases import bundle_of, repair
from tests.runners.toy import ToyBackend


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "image.lock") == ("", ())
    write_lock(tmp_path / "image.lock", "sha256:ab", ("bash=5.2", "nginx=1.22"))
    assert read_lock(tmp_path / "image.lock") == ("sha256:ab", ("bash=5.2", "nginx=1.22"))
    assert [path.name for path in tmp_path.iterdir()] == ["image.lock"]


def test_a_lock_that_is_none_and_a_place_that_takes_none(tmp_path: Path) -> None:
    (tmp_path / "image.lock").write_text("")
    with pytest.raises(HostError, match="is no lock"):
        read_lock(tmp_path / "image.lock")
    with pytest.raises(HostError, match="cannot be written"):
        write_lock(tmp_path / "nowhere" / "image.lock", "sha256:ab", ())


def test_what_drifted_is_named() -> None:
    found = list(drifted(("bash=5.2", "gone=1", "nginx=1:1.22-9"), ("bash=5.2", "new=2", "nginx=1:1.22-11")))
    assert found == [Drift("gone", "1", ""), Drift("new", "", "2"), Drift("nginx", "1:1.22-9", "1:1.22-11")]
    assert list(map(str, found)) == ["gone 1 is gone", "new 2 is new", "nginx 1:1.22-9 is 1:1.22-11 now"]


class OnImage(ToyBackend):
    """Toy worlds as if they came from an image."""

    def __init__(self, image: str) -> None:
        super().__init__()
        self._image = image

    def image(self, content: PackContent, scenario: ResolvedScenario) -> str:
        return self._image


def test_a_proof_names_its_image_and_a_run_takes_no_other(tmp_path: Path) -> None:
    bundle = bundle_of(repair())
    proof = prove(bundle, OnImage("sha256:one"), repeats=1)
    assert [scenario.image for scenario in proof.scenarios] == ["sha256:one"]
    assert [scenario.image for scenario in prove(bundle, ToyBackend(), repeats=1).scenarios] == [""]
    bundle.proof = proof
    agents = (parse_agent("nop"),)
    made = plan((bundle,), agents, backends=("toy",))
    with pytest.raises(HostError, match="was proven on the image sha256:one, and that of its system toy is sha256:two"):
        run(made, (bundle,), agents, (OnImage("sha256:two"),), tmp_path / "two", executor=LocalExecutor())
    assert not (tmp_path / "two").exists()
    assert run(made, (bundle,), agents, (OnImage("sha256:one"),), tmp_path / "one", executor=LocalExecutor()).done
    assert run(made, (bundle,), agents, (ToyBackend(),), tmp_path / "none", executor=LocalExecutor()).done
