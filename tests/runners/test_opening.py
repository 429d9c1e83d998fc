"""Opening: the faults are in force, and have been for as long as the scenario says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.model import PackContent
from runners.agents.script import ScriptAgent
from runners.episode import play
from runners.opening import Site
from runners.worlds import WorldError
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import repair, site_of
from tests.runners.toy import ToyBackend, ToyWorld


def test_the_trouble_has_lasted_when_the_agent_comes() -> None:
    site = site_of(replace(repair(), since=120.0))
    for world in site.scenario.worlds:
        live = site.broken(world, seed=0)
        assert live.elapsed() == 120.0, world.name
        played = play(live, site.scenario, world, ScriptAgent(()), site.scenario.limits)
        assert played.seconds == 0.0, "what was before is not the agent's time"


def test_no_time_passes_unless_the_scenario_says_so() -> None:
    site = site_of(repair())
    assert site.broken(site.scenario.worlds[0], seed=0).elapsed() == 0.0


def test_a_fault_that_is_over_before_the_agent_comes_is_no_fault() -> None:
    class Healing(ToyWorld):
        """Whatever was broken is mended after a minute."""

        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            if self.machine.now >= 60:
                self.machine.files["/etc/app.conf"] = "good"

    class HealingBackend(ToyBackend):
        def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
            live = super().open(content, scenario, world, seed=seed)
            return Healing(live.machine)

    site = site_of(replace(repair(), since=90.0))
    healing = Site(content=site.content, scenario=site.scenario, backend=HealingBackend())
    with pytest.raises(WorldError, match="not witnessed"):
        healing.broken(site.scenario.worlds[0], seed=0)
