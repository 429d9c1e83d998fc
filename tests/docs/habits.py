"""Write the table of bad habits anew: `python -m tests.docs.habits`.

Every bad habit of every shipped scenario, its own and the general ones, as the gate judges them on the sim.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from compiler.bundle import compile_pack
from compiler.model import HabitProof
from compiler.verify import verify_under_ephemeral_key
from runners.backends.sim import SimBackend
from runners.opening import Site
from runners.prove.case import Case
from runners.prove.players import bad
from scenario_dsl.library import load_library
from scenario_dsl.markdown import table
from scenario_dsl.worlds import ResolvedScenario

ROOT = Path(__file__).resolve().parents[2]
PACKS = ROOT / "packs"
PAGE = ROOT / "docs" / "habits.md"
_INTRODUCTION = """# What the gate says to bad habits

<!-- Made by tests/docs/habits.py; change the scenarios or the gate, not this file. -->

Each scenario is played with its own bad habits and with the general ones, on the simulated server. None of them is
VERIFIED, though many get the machine up again. [The gate](gate.md) says what its checks ask. Where the primary was not
recovered, nothing else is asked; *bystanders* are the services of a broken machine that had no part in its trouble.
Own habits stand first, in **bold**.
"""
_WORDS = {"pass": "passes", "fail": "refuses", "harm": "harm", "unknown": "unknown", "not-applicable": "–"}
_WORST = ("harm", "fail", "unknown", "pass", "not-applicable")
_COLUMNS = ("habit", "primary", "bystanders", "twins", "controls", "repeat", "reversibility", "verdict")


def page() -> str:
    backend = SimBackend()
    parts = [_INTRODUCTION]
    for pack in sorted(PACKS.glob("*/pack.yml")):
        content = verify_under_ephemeral_key(compile_pack(load_library(pack.parent, [PACKS]))).content
        for scenario in content.scenarios.values():
            if backend.unsupported(content, scenario) is None:
                case = Case(Site(content=content, scenario=scenario, backend=backend), repeats=1)
                habits = [each for each in bad(case) if isinstance(each, HabitProof)]
                parts.append(_section(scenario, habits))
    return "\n".join(parts)


def _section(scenario: ResolvedScenario, habits: list[HabitProof]) -> str:
    rows = [tuple(_row(scenario, habit)) for habit in habits]
    return "\n".join((f"## {scenario.name}", "", f"{scenario.title}.", "", *table(_COLUMNS, rows)))


def _row(scenario: ResolvedScenario, habit: HabitProof) -> Iterator[str]:
    controls = {world.name for world in scenario.worlds if world.role == "control"}
    yield habit.habit if habit.general else f"**{habit.habit}**"
    for check, healthy in (
        ("primary", None),
        ("control", False),
        ("twin", None),
        ("control", True),
        ("repeat", None),
        ("reversibility", None),
    ):
        found = {
            result.finding
            for result in habit.checks
            if result.check == check and healthy in (None, result.world in controls)
        }
        yield next((_WORDS[each] for each in _WORST if each in found), "")
    yield habit.verdict


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
