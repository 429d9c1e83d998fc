"""The gate is played while the episode is still being watched, and no world is left open."""

from __future__ import annotations

import pytest

from compiler.model import PackContent
from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Agent, Run
from runners.agents.script import ScriptAgent
from runners.records import TrialRecord, judge
from runners.trials import play_trial
from runners.worlds import WorldError
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import GOLD, investigation, job_of, repair, site_of
from tests.runners.test_turns import Crowd, until
from tests.runners.toy import ToyBackend, ToyWorld


class Watched(Crowd):
    """Writes down which worlds were opened, and which are over. ahead: as many are while the first one's time goes by;
    as it is no real time here, that is waited for."""

    def __init__(self, ahead: int = 0) -> None:
        super().__init__()
        self.ahead, self.opened, self.over = ahead, list[str](), list[str]()

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        first = not self.opened
        self.opened.append(world.name)
        live = super().open(content, scenario, world, seed=seed)
        close, wait = live.close, live.wait

        def closing() -> None:
            self.over.append("the first" if first else world.name)
            close()

        def waiting(seconds: float) -> None:
            wait(seconds)
            until(lambda: len(self.over) >= self.ahead)

        live.close = closing  # type: ignore[method-assign]
        if first:
            live.wait = waiting  # type: ignore[method-assign]
        return live


def play(agent: Agent, backend: ToyBackend, scenario: ResolvedScenario | None = None) -> TrialRecord:
    site = site_of(scenario or repair(), backend)
    return play_trial(job_of(site, "primary"), site, site.scenario.worlds[0], agent)


def ahead(backend: Watched) -> list[str]:
    """What was over before the episode's own world was closed."""
    return sorted(backend.over[: backend.over.index("the first")])


def typing() -> Agent:
    return ScriptAgent((Run("write /etc/app.conf good"), Run("systemctl start app")))


def test_all_that_a_document_is_examined_in() -> None:
    scenario = repair()
    backend = Watched(ahead=len(scenario.worlds) + 2)
    record = play(InterventionAgent(GOLD), backend)
    assert judge([record]) == "VERIFIED"
    assert ahead(backend) == sorted([*(world.name for world in scenario.worlds), "primary", "primary"])
    assert record.facts == play(InterventionAgent(GOLD), ToyBackend()).facts
    assert backend.living == 0


def test_commands_that_were_typed_are_typed_again_in_two_worlds() -> None:
    backend = Watched(ahead=2)
    record = play(typing(), backend)
    assert record.outcome == "Passed"
    assert ahead(backend) == ["primary", "primary"]
    assert record.facts == play(typing(), ToyBackend()).facts
    assert backend.living == 0


def test_nothing_for_who_is_not_done_and_nothing_for_a_gate_that_may_not_come() -> None:
    backend, scenario = Watched(), repair()
    assert play(ScriptAgent((Run("true"),)), backend).outcome == "Failed"
    assert ahead(backend) == []
    site = site_of(scenario, backend)
    backend.opened.clear()
    backend.over.clear()
    job = job_of(site, "primary")
    play_trial(job, site, scenario.worlds[0], InterventionAgent(GOLD), gate=lambda: False)
    assert ahead(backend) == []
    assert backend.living == 0


def test_an_investigation_has_nothing_to_repeat() -> None:
    scenario = investigation()
    backend = Watched(ahead=len(scenario.worlds))
    record = play(InterventionAgent(scenario.gold), backend, scenario)
    assert judge([record]) == "VERIFIED"
    assert ahead(backend) == sorted(world.name for world in scenario.worlds)
    assert backend.living == 0


def test_a_world_that_does_not_open_is_the_gates_trouble_and_the_others_are_closed() -> None:
    class Broken(Watched):
        def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
            if world.role == "control":
                raise WorldError("no room")
            return super().open(content, scenario, world, seed=seed)

    backend = Broken()
    with pytest.raises(WorldError, match="no room"):
        play(InterventionAgent(GOLD), backend)
    assert backend.living == 0


def test_who_interrupts_it_does_not_wait_until_all_of_it_is_played() -> None:
    """The worlds are taken from those who play in them, and what they find then is nobody's trouble."""

    class Interrupted(Watched):
        given_up = False

        def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
            first = not self.opened
            live = super().open(content, scenario, world, seed=seed)

            def interrupting(_: float) -> None:
                until(lambda: len(self.opened) > 1)
                raise KeyboardInterrupt

            def waiting(_: float) -> None:
                until(lambda: self.given_up)
                raise WorldError("it is gone")

            live.wait = interrupting if first else waiting  # type: ignore[method-assign]
            return live

        def abandon(self) -> None:
            self.given_up = True

    backend = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        play(InterventionAgent(GOLD), backend)
    assert backend.given_up
    assert backend.living == 0


def test_what_is_played_and_then_not_wanted_is_closed() -> None:
    """All is well when the agent is done, and breaks while it is watched: the gate is not asked."""

    class Fleeting(Watched):
        def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
            live = super().open(content, scenario, world, seed=seed)
            wait = live.wait

            def waiting(seconds: float) -> None:
                wait(seconds)
                live.machine.stop("app")

            if len(self.opened) == 1:
                live.wait = waiting  # type: ignore[method-assign]
            return live

    backend = Fleeting(ahead=len(repair().worlds) + 2)
    assert play(InterventionAgent(GOLD), backend).outcome == "Failed"
    assert len(ahead(backend)) == len(repair().worlds) + 2
    assert backend.living == 0
