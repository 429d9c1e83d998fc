"""`breakfix new`: what it writes passes `check` as it stands, proves, and never replaces anything."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from breakfix.cli.main import run
from breakfix.content import SHIPPED
from scenario_dsl.library import check_paths, load_library


def test_the_skeleton_checks_and_proves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert run(["new", str(folder), "--scenario", "locked-out"]) == 0
    assert f"breakfix prove {folder}" in capsys.readouterr().out
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.yml")) == [
        "pack.yml",
        "scenarios/locked-out.yml",
    ]
    assert check_paths([folder], SHIPPED) == ()
    assert run(["prove", str(folder), "--quiet"]) == 0
    assert "locked-out: proven" in capsys.readouterr().out


def test_what_is_there_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert run(["new", str(folder)]) == 0
    written = {path: path.read_bytes() for path in folder.rglob("*.yml")}
    capsys.readouterr()

    assert run(["new", str(folder)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*.yml")} == written


def test_a_pack_gets_a_second_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert run(["new", str(folder)]) == 0
    before = (folder / "pack.yml").read_bytes()
    capsys.readouterr()
    assert run(["new", str(folder), "-s", "second"]) == 0
    assert "pack.yml" not in capsys.readouterr().out
    assert (folder / "pack.yml").read_bytes() == before
    assert sorted(load_library(folder, SHIPPED).scenarios) == ["second", "unreadable-secret"]


def test_each_pack_has_its_own_canary(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run(["new", str(tmp_path / name)]) == 0
    canaries = [load_library(tmp_path / name, SHIPPED).pack.canary for name in ("one", "two")]
    assert canaries[0] != canaries[1]


@pytest.mark.parametrize("name", ["Big", "with space", "a/b", "../out", "9", "true", ""])
def test_names_that_the_language_does_not_take_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new", str(tmp_path / "mine"), "--scenario", name]) == 1
    assert "no name for a scenario" in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_the_folder_names_the_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run(["new", "."]) == 0
    assert load_library(tmp_path / "here", SHIPPED).pack.name == "here"
    assert run(["new", str(tmp_path / "Not A Pack")]) == 1
    assert "no name for a pack" in capsys.readouterr().err


def test_a_file_in_the_way_is_the_authors_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("not a folder")
    assert run(["new", str(tmp_path / "mine")]) == 1
    assert "cannot write" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "not a folder"


def test_nothing_is_left_of_the_placeholders() -> None:
    known = {"@PACK@", "@CANARY@", "@SCENARIO@"}
    found = {
        word
        for name in ("pack.yml", "scenario.yml")
        for word in re.findall(r"@[A-Z]+@", (files("breakfix") / "templates" / name).read_text(encoding="utf-8"))
    }
    assert found == known
