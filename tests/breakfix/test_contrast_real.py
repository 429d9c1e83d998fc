"""contrast on real machines: a repair that recovers and does not transfer, beside one that does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run
from tests.engine import engine

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("scenario", "system", "habit", "refused_by"),
    [
        ("service-identity", "web-server", "whatever failed may pass everywhere", "twin"),
        ("drifted-fleet", "edge-control", "patch the machine by hand", "twin"),
    ],
)
def test_the_bad_one_recovers_unproven_and_gold_is_verified(
    scenario: str, system: str, habit: str, refused_by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine()  # skips where there is none
    assert run(["image", "build", system]) == 0
    capsys.readouterr()
    page = tmp_path / "contrast.html"
    code = run(["contrast", scenario, "--backend", "container", "--habit", habit, "--out", str(page), "--json"])
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert (code, data["bad"]["verdict"], data["gold"]["verdict"]) == (0, "RECOVERED_UNPROVEN", "VERIFIED"), data
    assert refused_by in {fact["check"] for fact in data["bad"]["facts"] if fact["finding"] == "fail"}
    assert "RECOVERED_UNPROVEN" in page.read_text(encoding="utf-8")
