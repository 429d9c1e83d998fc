"""Write the tables of bad habits anew: `python -m tests.docs.habits [PROOF.json...]`.

Every bad habit of every shipped scenario, its own and the general ones, as the gate judges them: on the sim, and for
scenarios that need a real machine as `breakfix prove --json` found it there, in a page of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from compiler.bundle import compile_pack
from compiler.codec import dump, load
from compiler.model import HabitProof, PackContent, ScenarioProof
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
KERNEL_PACKS = ROOT / "kernel_packs"
PAGE = ROOT / "docs" / "habits.md"
REAL_PAGE = ROOT / "docs" / "results" / "habits.md"
_INTRODUCTION = """# What the gate says to bad habits

<!-- Made by tests/docs/habits.py; change the scenarios or the gate, not this file. -->

Each scenario is played with its own bad habits and with the general ones, on the simulated server. None of them is
VERIFIED, though many get the machine up again. [The gate](gate.md) says what its checks ask. Where the primary was not
recovered, nothing else is asked; *bystanders* are the services of a broken machine that had no part in its trouble.
Own habits stand first, in **bold**. Scenarios that only real machines can play have [a page too](results/habits.md).
"""
_REAL_INTRODUCTION = """# What the gate says to bad habits on real machines

<!-- Made by tests/docs/habits.py from what `breakfix prove --json` printed. -->

The scenarios that the simulated server cannot play, as [the other page](../habits.md) shows the rest.
"""
_WORDS = {"pass": "passes", "fail": "refuses", "harm": "harm", "unknown": "unknown", "not-applicable": "–"}
_WORST = ("harm", "fail", "unknown", "pass", "not-applicable")
_COLUMNS = ("habit", "primary", "bystanders", "twins", "controls", "repeat", "reversibility", "verdict")


def page() -> str:
    backend = SimBackend()
    parts = [_INTRODUCTION]
    for content in shipped():
        for scenario in content.scenarios.values():
            if backend.unsupported(content, scenario) is None:
                case = Case(Site(content=content, scenario=scenario, backend=backend), repeats=1)
                habits = [each for each in bad(case) if isinstance(each, HabitProof)]
                parts.append(_section(scenario, habits))
    return "\n".join(parts)


def real_page(proofs: Sequence[Path]) -> str:
    """From what `breakfix prove --json` printed, one file or several."""
    scenarios = {scenario.name: scenario for content in shipped() for scenario in content.scenarios.values()}
    found = [_proven(one) for path in proofs for one in json.loads(path.read_bytes())["scenarios"]]
    parts = [_section(scenarios[proof.scenario], proof.habits, on=proof.backend) for proof in found]
    return "\n".join((_REAL_INTRODUCTION, *parts))


def shipped() -> Iterator[PackContent]:
    """What all shipped packs compile to."""
    for folder in (PACKS, KERNEL_PACKS):
        for pack in sorted(folder.glob("*/pack.yml")):
            yield verify_under_ephemeral_key(compile_pack(load_library(pack.parent, [PACKS]))).content


def _proven(document: dict[str, object]) -> ScenarioProof:
    return load(ScenarioProof, dump({name: value for name, value in document.items() if name != "holds"}))


def _section(scenario: ResolvedScenario, habits: Sequence[HabitProof], *, on: str = "") -> str:
    rows = [tuple(_row(scenario, habit)) for habit in habits]
    where = f" On `{on}`." if on else ""
    return "\n".join((f"## {scenario.name}", "", f"{scenario.title}.{where}", "", *table(_COLUMNS, rows)))


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
    if len(sys.argv) > 1:
        REAL_PAGE.write_text(real_page([Path(name) for name in sys.argv[1:]]), encoding="utf-8")
    else:
        PAGE.write_text(page(), encoding="utf-8")
