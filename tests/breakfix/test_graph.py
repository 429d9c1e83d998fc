"""The picture of a scenario: what leads to what, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from breakfix.cli.main import run
from breakfix.content import SHIPPED, find_pack
from breakfix.graph import draw, nodes_and_edges
from compiler.resolve import resolve
from scenario_dsl.library import load_library
from scenario_dsl.worlds import ResolvedScenario


@pytest.fixture(scope="module")
def cascading() -> ResolvedScenario:
    library = load_library(find_pack("starter"), SHIPPED)
    return resolve(library.scenarios["cascading-database-failure"], library)


def test_cascades_follow_each_other_and_arm_their_objectives(cascading: ResolvedScenario) -> None:
    world = cascading.worlds[0]
    nodes, edges = nodes_and_edges(world)
    names = [f"cascade {cascade.name}" for cascade in world.cascades]
    assert ("cause 0", names[0]) in edges
    assert ("cause 0", names[1]) in edges
    assert (names[1], names[2]) in edges
    for objective in world.objectives:
        source = f"cascade {objective.armed_by}" if objective.armed_by else "symptom"
        assert (source, f"objective {objective.name}") in edges
    assert {name for edge in edges for name in edge} <= {node.name for node in nodes}


def test_the_same_scenario_gives_the_same_picture(cascading: ResolvedScenario) -> None:
    first = draw(cascading, cascading.worlds[0])
    assert first == draw(cascading, cascading.worlds[0])
    assert ElementTree.fromstring(first).tag.endswith("svg")


def test_an_unknown_world_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.svg"
    assert run(["graph", "process-recovery", "--world", "primry", "--out", str(out)]) == 1
    assert "did you mean `primary`?" in capsys.readouterr().err
    assert not out.exists()
