"""Agreement of two backends: what is counted, and that a difference is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from compiler.model import PackContent
from runners.agree.agreeing import agree
from runners.agree.comparing import LEAST, Said, exit_codes, shares, structures
from runners.agree.playing import exploration
from runners.agree.structure import alike, structure
from runners.plan import PlanError
from runners.worlds import CommandResult, LiveWorld, Observation, WorldError
from scenario_dsl.model import Probe
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import bundle_of, repair
from tests.runners.toy import ToyBackend, ToyWorld


class Contrary(ToyWorld):
    """Says of every probe the opposite, and ends every command otherwise."""

    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        return tuple(replace(one, holds=not one.holds) for one in super().observe(probes))

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        result = super().run(command, output_bytes=output_bytes, seconds=seconds)
        return replace(result, exit_code=result.exit_code + 1, output=b"a b c d e f g\n1 + 1 = 2\n")


class ContraryBackend(ToyBackend):
    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:
        live = super().open(content, scenario, world, seed=seed)
        assert isinstance(live, ToyWorld)
        return Contrary(live.machine)


class NeverBackend(ToyBackend):
    def unsupported(self, content: PackContent, scenario: ResolvedScenario) -> str | None:
        return "it cannot"


def test_a_backend_agrees_with_itself_in_everything() -> None:
    found = agree(bundle_of(repair()).content, (ToyBackend(), ToyBackend()))
    counted = {share.matter: share for share in shares(found.compared)}
    assert counted.keys() == LEAST.keys()
    assert all(share.holds and share.agree == share.of > 0 for share in counted.values())
    assert counted["exit code"].of == len(exploration())
    assert found.scenarios == ("repair",)


def test_every_world_is_looked_at_with_nobody_and_gold_and_the_primary_with_each_bad_habit() -> None:
    scenario = repair()
    found = agree(bundle_of(scenario).content, (ToyBackend(), ToyBackend()))
    places = {one.where for one in found.compared if one.matter == "verdict"}
    players = [(world.name, player) for world in scenario.worlds for player in ("nobody", "gold")]
    players += [(scenario.worlds[0].name, habit.name) for habit in scenario.bad]
    assert places == {f"repair, {world}, {player}, {when}" for world, player in players for when in ("before", "after")}


def test_one_that_says_otherwise_agrees_in_nothing() -> None:
    scenario = replace(repair(), worlds=tuple(replace(world, faults=()) for world in repair().worlds))
    counted = {
        share.matter: share
        for share in shares(agree(bundle_of(scenario).content, (ToyBackend(), ContraryBackend())).compared)
    }
    assert counted["verdict"].agree == 0
    assert counted["exit code"].agree == 0
    assert not any(share.holds for share in counted.values())


def test_what_one_of_them_cannot_play_is_named() -> None:
    found = agree(bundle_of(repair()).content, (ToyBackend(), NeverBackend()))
    assert found.skipped == {"repair": "it cannot"}
    assert found.compared == ()


def test_where_a_world_fails_the_others_are_compared_all_the_same() -> None:
    class Brittle(ToyBackend):
        def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> LiveWorld:
            if scenario.name == "brittle":
                raise WorldError("it did not boot")
            return super().open(content, scenario, world, seed=seed)

    bundle = bundle_of(replace(repair(), name="brittle"), repair())
    found = agree(bundle.content, (ToyBackend(), Brittle()))
    assert found.failed == {"brittle": "it did not boot"}
    assert found.scenarios == ("repair",)
    assert {share.matter for share in shares(found.compared)} == LEAST.keys()
    assert not any("brittle" in one.where for one in found.compared)


def test_an_unknown_scenario() -> None:
    with pytest.raises(PlanError, match="no scenario `nonsuch`"):
        agree(bundle_of(repair()).content, (ToyBackend(), ToyBackend()), scenarios=("nonsuch",))


def test_a_command_that_only_one_came_to_is_a_difference() -> None:
    one, other = Said("ls", 0, "a"), Said("id", 0, "")
    found = tuple(exit_codes("exit code", "here", (one, other), (one,)))
    assert [each.agrees for each in found] == [True, False]
    assert found[1].there == "was not come to"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "\n"),
        (
            "total 12\ndrwxr-xr-x 2 root root 4096 Mar 14 09:00 nginx\n",
            "total 8\ndrwxr-xr-x 3 root adm 60 Nov 30 04:11 log\n",
        ),
        (
            "              total        used        free\nMem:  7.7Gi  1.2Gi  5Gi\n",
            " total used  free\nMem: 23Gi 600Mi 20Gi\n",
        ),
        ("/dev/vda1 20G 4.1G 15G 22% /\n", "/dev/sda2 252G 23G 79G 23% /\n"),
        ("200\n", "404\n"),
    ],
)
def test_other_numbers_and_names_are_the_same_structure(one: str, other: str) -> None:
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("active\n", ""),
        ("LISTEN 0 511 0.0.0.0:80 0.0.0.0:*\n", "nothing listens\n"),
        ("  PID TTY TIME CMD\n", "  UID PID PPID C\n"),
    ],
)
def test_another_structure(one: str, other: str) -> None:
    assert not alike(one, other)
    assert not next(iter(structures("here", (Said("x", 0, one),), (Said("x", 0, other),)))).agrees


def test_a_heading_stands_as_it_is() -> None:
    assert structure("UNIT LOAD ACTIVE SUB DESCRIPTION\n") == {"UNIT LOAD ACTIVE SUB DESCRIPTION"}


def test_enough_different_commands_look_around() -> None:
    assert len(exploration()) >= 150
    assert len(set(exploration())) == len(exploration())
