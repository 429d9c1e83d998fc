"""Rounds: the same players in the same worlds, again and again, and how often each keeps what the scenario asks for.

A habit counts as kept in a round only where it keeps it in the primary and in each twin and harms no control; it is
asked world by world, in that order, until it fails. Every world is opened anew. All rounds are played on one machine,
which counts as sound because each world's end is looked at (loads, groups, processes, the scheduler's state) and a
machine on which anything is left is thrown away; how many were booted is told.

With a file, every outcome is written there, and what it has already is not played again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from breakfix.content import open_pack
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.agents.nop import NopAgent
from runners.backends.kernel import KernelBackend
from runners.opening import Site
from runners.prove.case import Case
from runners.records import TrialRecord
from runners.worlds import WorldError
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import World

PACK = Path(__file__).parent.parent / "kernel_packs/scheduling"
_TRIES = 3


class Player(NamedTuple):
    name: str
    play: Callable[..., TrialRecord]


def rounds(scenario: str, times: int, log: Path | None = None) -> None:
    """Play so many rounds and print a table in Markdown; what each world gave goes to standard error as it comes."""
    content = verify_under_ephemeral_key(compile_pack(open_pack(str(PACK)))).content
    backend = KernelBackend()
    case = Case(Site(content=content, scenario=content.scenarios[scenario], backend=backend), times)
    begun, worlds = time.monotonic(), case.scenario.worlds
    kept, asked, errors = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str]()
    players = tuple(_players(case))
    known = _read(log)
    played = 0
    for number in range(1, times + 1):
        for player in players:
            for world in worlds:
                passed = known.get((number, player.name, world.name))
                if passed is None:
                    record = _tried(partial(player.play, world, seed=number), errors)
                    passed = record.outcome == "Passed" and not record.harms
                    played += 1
                    _tell(begun, number, player, world, record, passed)
                    _write(log, number, player.name, world.name, passed)
                asked[player.name, world.name] += 1
                kept[player.name, world.name] += passed
                if not passed:
                    break
            else:
                kept[player.name, ""] += 1
    print(f"| player | {' | '.join(world.name for world in worlds)} | all together |")
    print("|---" * (len(worlds) + 2) + "|")
    for player in players:
        cells = [f"{kept[player.name, world.name]} of {asked[player.name, world.name]}" for world in worlds]
        print(f"| {player.name} | {' | '.join(cells)} | **{kept[player.name, '']} of {times}** |")
    took, load, day = time.monotonic() - begun, os.getloadavg()[2], time.strftime("%d %B %Y", time.gmtime())
    print(f"\n{scenario}: {times} rounds, {sum(asked.values())} worlds, {played} of them now in {took:.0f} s with")
    print(f"{backend.booted} boots and {sum(errors.values())} played again, load {load:.1f}; {day}")


def _read(log: Path | None) -> dict[tuple[int, str, str], bool]:
    if log is None or not log.exists():
        return {}
    return {(number, player, world): kept for number, player, world, kept in map(json.loads, log.open())}


def _write(log: Path | None, *outcome: object) -> None:
    if log is not None:
        with log.open("a") as file:
            file.write(json.dumps(outcome) + "\n")


def _players(case: Case) -> list[Player]:
    def nop(world: World, *, seed: int) -> TrialRecord:
        return case.play(world, "nop", NopAgent(), seed=seed, gate=_never)

    habits = [("gold", case.scenario.gold), *((f"`{habit.name}`", habit) for habit in case.scenario.bad)]
    playing = [Player(name, partial(_intervene, case, habit)) for name, habit in habits]
    return [playing[0], Player("doing nothing", nop), *playing[1:]]


def _intervene(case: Case, habit: Intervention, world: World, *, seed: int) -> TrialRecord:
    return case.intervene(world, habit, seed=seed, gate=_never)


def _tried(play: Callable[[], TrialRecord], errors: Counter[str]) -> TrialRecord:
    """A world that fails for our reasons is played again, which is counted."""
    for _ in range(_TRIES - 1):
        try:
            return play()
        except WorldError as error:
            errors[str(error)] += 1
            print(f"played again: {error}", file=sys.stderr, flush=True)
    return play()


def _tell(begun: float, number: int, player: Player, world: World, record: TrialRecord, passed: bool) -> None:
    why = "kept" if passed else "not kept: " + (record.harms or (record.facts[0].reason,))[0]
    told = f"{time.monotonic() - begun:6.0f} s  round {number}  {player.name}  {world.name}: {why}"
    print(told, file=sys.stderr, flush=True)


def _never() -> bool:
    return False
