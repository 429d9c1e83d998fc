"""Known ways to shape rewards, by name: what a scenario or a pack may name instead of writing it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from scenario_dsl.model import Limits, Reward


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """`title`: one line that says what it does. `limits` hold where a scenario does not give its own."""

    title: str
    reward: Reward
    limits: Limits


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "shell-repair": Preset(
            title=(
                "+1.00 when all is repaired, +0.10 for the first command that only looks, -0.01 for every command, "
                "-0.50 and the end for a destructive one; 25 commands, 60 s"
            ),
            reward=Reward(per_command=-0.01, first_look=0.1, solved=1.0, destructive=-0.5),
            limits=Limits(commands=25, seconds=60.0),
        )
    }
)
