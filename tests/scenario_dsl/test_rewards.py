"""Where a scenario's rewards come from: itself, its pack, a preset; and the limits that go with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scenario_dsl.library import load_library
from scenario_dsl.model import Limits, Reward, Scenario
from scenario_dsl.rewards import PRESETS

PACKS = Path(__file__).parents[2] / "packs"
PRESET = PRESETS["shell-repair"]


def scenario(tmp_path: Path, *, of_pack: str = "", own: str = "") -> Scenario:
    """A scenario of the repair pack with other rewards."""
    folder = tmp_path / "mine"
    (folder / "scenarios").mkdir(parents=True)
    pack = (PACKS / "repair" / "pack.yml").read_text().replace("pack: repair", "pack: mine")
    (folder / "pack.yml").write_text(pack.replace("reward: {preset: shell-repair}\n", of_pack))
    source = PACKS / "repair" / "scenarios" / "service-masked.yml"
    shutil.copy(source, folder / "scenarios")
    with (folder / "scenarios" / source.name).open("a") as text:
        text.write(own)
    return load_library(folder, [PACKS]).scenarios["service-masked"]


@pytest.mark.parametrize(
    ("of_pack", "own", "reward", "limits"),
    [
        ("", "", Reward(), Limits()),
        ("reward: {preset: shell-repair}\n", "", PRESET.reward, PRESET.limits),
        ("", "reward: {preset: shell-repair}\n", PRESET.reward, PRESET.limits),
        ("reward: {preset: shell-repair}\n", "reward: {harm: -0.5}\n", Reward(harm=-0.5), Limits()),
        ("reward: {harm: -0.5}\n", "", Reward(harm=-0.5), Limits()),
        (
            "",
            "reward: {preset: shell-repair, per_command: -0.02}\n",
            Reward(per_command=-0.02, first_look=0.1, solved=1.0, destructive=-0.5),
            PRESET.limits,
        ),
        (
            "reward: {preset: shell-repair}\n",
            "limits: {seconds: 2m}\n",
            PRESET.reward,
            Limits(commands=25, seconds=120.0),
        ),
    ],
)
def test_what_stands_nearer_counts(tmp_path: Path, of_pack: str, own: str, reward: Reward, limits: Limits) -> None:
    found = scenario(tmp_path, of_pack=of_pack, own=own)
    assert (found.reward, found.limits) == (reward, limits)


def test_the_preset_is_the_classic_one() -> None:
    assert PRESET.reward == Reward(per_command=-0.01, first_look=0.1, solved=1.0, destructive=-0.5)
    assert (PRESET.limits.commands, PRESET.limits.seconds) == (25, 60.0)
