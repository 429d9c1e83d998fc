"""How a world was left is in the record of what was played there, and so in its receipt."""

from __future__ import annotations

from compiler.model import PackContent
from runners.agents.interventional import InterventionAgent
from runners.records import judge
from runners.trials import play_trial
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import GOLD, job_of, repair, site_of
from tests.runners.toy import ToyBackend, ToyWorld


class Parted(ToyWorld):
    left = ""

    def close(self) -> None:
        super().close()
        self.left = "it was found clean"


class PartedBackend(ToyBackend):
    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> Parted:
        return Parted(super().open(content, scenario, world, seed=seed).machine)


def test_the_fact_about_an_episode_says_how_its_world_was_left() -> None:
    site = site_of(repair(), PartedBackend())
    record = play_trial(job_of(site), site, site.scenario.worlds[0], InterventionAgent(GOLD))
    assert judge([record]) == "VERIFIED"
    assert record.facts[0].check == "primary"
    assert record.facts[0].reason.endswith("; it was found clean")


def test_of_a_world_that_is_not_looked_at_nothing_is_said() -> None:
    site = site_of(repair())
    record = play_trial(job_of(site), site, site.scenario.worlds[0], InterventionAgent(GOLD))
    assert "clean" not in record.facts[0].reason
