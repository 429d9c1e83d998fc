"""At least 98 of 100 scripts give the same output, status and kind of error in the simulator as in real bash."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.differential.harness import Case, Outcome, Pair, cases

KNOWN = Path(__file__).parent / "known_differences.txt"


def known_differences() -> dict[str, str]:
    """Script -> reason. Each entry is a line `reason: …` above the script's own lines, and a blank line below."""
    found: dict[str, str] = {}
    for block in KNOWN.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("# ")]
        if len(lines) > 1:
            found["\n".join(lines[1:])] = lines[0].removeprefix("reason: ")
    return found


def disagreements(chosen: list[Case]) -> list[tuple[Case, Outcome, Outcome]]:
    with tempfile.TemporaryDirectory(prefix="differential-") as top:
        pair = Pair(Path(top) / "case")
        found = []
        for case in chosen:
            ours, theirs = pair.simulated(case.script), pair.real(case.script)
            if ours != theirs:
                found.append((case, ours, theirs))
        return found


def check(chosen: list[Case]) -> None:
    different = disagreements(chosen)
    known = known_differences()
    report = [
        f"{case.name}: {case.script}\n  ours   {ours}\n  theirs {theirs}"
        for case, ours, theirs in different
        if case.script not in known
    ]
    assert not report, "\n".join(report)
    assert len(different) <= 0.02 * len(chosen)


def test_a_fourth_of_the_scripts_agree_with_real_bash() -> None:
    """Every fourth case, so that the usual run stays short; all of them in the slow run."""
    chosen = cases()
    assert len(chosen) >= 600
    check(chosen[::4])


@pytest.mark.slow
def test_all_scripts_agree_with_real_bash() -> None:
    check(cases())


@pytest.mark.parametrize("script", sorted(known_differences()))
def test_every_known_difference_is_a_case(script: str) -> None:
    assert script in {case.script for case in cases()}
