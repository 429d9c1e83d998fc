"""Broken documents, each beside the exact diagnostics it gets.

`python tests/scenario_dsl/regenerate.py` writes the expectations anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_dsl.diagnostics import as_json, render_text
from scenario_dsl.library import check_paths
from tests.scenario_dsl.regenerate import BROKEN, diagnosed

EXPECTED = tuple(sorted(path.relative_to(BROKEN).as_posix() for path in BROKEN.rglob("*.expected")))


@pytest.mark.parametrize("expected", EXPECTED)
def test_diagnostics_are_exactly_these(expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN)
    document = Path(expected).with_suffix(".yml")
    assert diagnosed(document.as_posix()) == Path(expected).read_text(encoding="utf-8")


def test_there_are_many_and_each_topic_has_some() -> None:
    topics = {Path(each).parts[0] for each in EXPECTED}
    assert len(EXPECTED) >= 150
    assert {"reading", "yaml", "shell", "shape", "fault", "system", "shop"} <= topics


def test_sound_documents_of_the_broken_pack_stay_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN)
    for sound in ("shop/pack.yml", "shop/faults/crash_service.yml", "shop/systems/web-server/system.yml"):
        assert diagnosed(sound) == ""


def test_a_pack_gives_what_its_files_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN)
    whole = check_paths([Path("shop")])
    single = [each for path in sorted(Path("shop").rglob("*.yml")) for each in check_paths([path])]
    assert [*whole] == sorted(single, key=lambda each: (each.source.path, each.span.start, each.span.end, each.code))


def test_json_says_the_same_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN)
    found = check_paths([Path("shop/scenarios/several-at-once.yml")])
    text = render_text(found)
    for each in as_json(found):
        assert f"{each['severity']}[{each['code']}]: {each['message']}\n" in text
        assert f"{each['path']}:{each['line']}:{each['column']}\n" in text
        for words in each["help"]:
            assert f"= help: {words}\n" in text
