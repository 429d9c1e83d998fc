"""The episode: rewards, cascades, harm, limits, settling, and agents that misbehave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from compiler.codec import dump
from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import (
    Action,
    Agent,
    AgentFailedError,
    AgentUnavailableError,
    Answer,
    Briefing,
    Done,
    Observation,
    Run,
    Submit,
)
from runners.agents.script import ScriptAgent
from runners.episode import Episode, play
from runners.worlds import WorldError
from scenario_dsl.model import Delay, Intervention, Limits, Probe, Reward, Step
from scenario_dsl.worlds import ResolvedScenario
from tests.runners.cases import cascading, investigation, repair, service, site_of, write
from tests.runners.toy import ToyWorld

NO_REWARD = Reward()


def episode(scenario: ResolvedScenario, agent: Agent, world: str = "primary", limits: Limits | None = None) -> Episode:
    site = site_of(scenario)
    live = site.broken(site.scenario.world(world), seed=0)
    return play(live, site.scenario, site.scenario.world(world), agent, limits or site.scenario.limits)


def typed(scenario: ResolvedScenario, *commands: str, world: str = "primary", limits: Limits | None = None) -> Episode:
    return episode(scenario, ScriptAgent(tuple(Run(command) for command in commands)), world, limits)


class Recorder:
    """Keeps what it is shown, and plays given actions."""

    def __init__(self, *actions: Action) -> None:
        self.actions = list(actions)
        self.seen: list[Observation] = []
        self.briefing: Briefing | None = None

    def reset(self, briefing: Briefing) -> None:
        self.briefing = briefing

    def act(self, observation: Observation) -> Action:
        self.seen.append(observation)
        return self.actions.pop(0) if self.actions else Done()


def test_rewards_add_up_to_the_score_and_the_shaping() -> None:
    played = episode(repair(), InterventionAgent(repair().gold))
    assert played.score == 1.0
    assert played.recovered
    assert played.commands == 5
    assert played.reward == pytest.approx(1.0 + 5 * -0.01 + 0.05)
    assert [turn.kind for turn in played.turns] == ["run"] * 5 + ["submit", "done"]
    assert played.turns[1].reward == pytest.approx(0.2 - 0.01 + 0.05)
    assert played.repair.submitted is not None


def test_the_agent_is_told_its_task_and_what_is_left() -> None:
    agent = Recorder(Run("failed"), Run("cat /nowhere"))
    episode(repair(), agent)
    assert agent.briefing == Briefing(
        complaint="Something is slow (primary).",
        questions=(),
        hints=("Look at app.",),
        limits=repair().limits,
    )
    in_the_twin = Recorder()
    episode(repair(), in_the_twin, "other")
    assert in_the_twin.briefing is not None
    assert in_the_twin.briefing.hints == ("Look at worker.",)
    first, second, third = agent.seen
    assert (first.exit_code, first.commands_left, first.seconds_left) == (None, 12, 600.0)
    assert (second.output, second.stdout, second.exit_code, second.commands_left) == ("app\n", "app\n", 0, 11)
    assert (third.stdout, third.exit_code) == ("", 1)
    assert third.output.startswith("cat: /nowhere")


def test_the_prompt_is_there_from_the_beginning_and_after_an_answer() -> None:
    agent = Recorder(Answer("?"), Run("failed"))
    episode(repair(), agent)
    first, answered, ran = (observation.prompt for observation in agent.seen)
    assert first.startswith("toy:")
    assert answered == first
    assert ran.startswith("toy:")
    assert ran != first


def test_harm_counts_though_it_was_mended() -> None:
    played = typed(repair(), "systemctl stop web", "systemctl start web", "systemctl stop web")
    assert len(played.harms) == 1
    assert "broken by command 1" in played.harms[0]
    assert played.turns[0].reward == pytest.approx(-0.5 - 0.01)
    assert played.turns[1].reward == pytest.approx(-0.01)


class Reloading(ToyWorld):
    """What was stopped is up again by itself, after a while."""

    moment = 1.0

    def __init__(self, base: ToyWorld, back_after: float) -> None:
        super().__init__(base.machine)
        self.back_after = back_after

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        if seconds >= self.back_after:
            self.machine.start("web")


@pytest.mark.parametrize(("back_after", "harms"), [(0.5, 0), (1.5, 1)])
def test_a_moment_without_an_answer_is_no_harm_where_worlds_live_by_themselves(back_after: float, harms: int) -> None:
    site = site_of(repair())
    world = site.scenario.world("primary")
    base = site.broken(world, seed=0)
    assert isinstance(base, ToyWorld)
    live = Reloading(base, back_after)
    agent = ScriptAgent((Run("systemctl stop web"), Run("true")))
    assert len(play(live, site.scenario, world, agent, site.scenario.limits).harms) == harms


def test_what_a_fault_or_a_cascade_broke_is_not_the_agents_harm() -> None:
    base = cascading(Delay(commands=1))
    kills = replace(
        base.worlds[0].cascades[0].inject[0],
        inject=(write("/var/log/flood", "full"), service("web", "stopped")),
    )
    world = replace(base.worlds[0], cascades=(replace(base.worlds[0].cascades[0], inject=(kills,)),))
    spoiled = replace(base, worlds=(world, *base.worlds[1:]))
    played = typed(spoiled, "true", "true", "true")
    assert played.cascades_fired == ("flood",)
    assert played.harms == ()
    assert played.turns[0].cascades == ("flood",)


def test_a_consequence_that_never_came_about_is_worth_what_mending_it_is() -> None:
    early = typed(cascading(), "write /etc/app.conf good; systemctl start app")
    assert early.cascades_fired == ()
    assert early.objectives[3].met
    assert not early.objectives[3].armed
    assert early.score == 0.8
    assert early.recovered
    # Half a repair has prevented nothing.
    half = typed(cascading(), "write /etc/app.conf good")
    assert not half.objectives[3].met


def test_a_cascade_arms_its_objective() -> None:
    late = typed(cascading(), "true", "true", "write /etc/app.conf good; systemctl start app")
    assert late.cascades_fired == ("flood",)
    assert [one.name for one in late.unmet] == ["emptied"]
    assert typed(cascading(), "true", "true", "rm /var/log/flood").objectives[3].met


def test_what_does_not_last_through_the_settling_is_not_kept() -> None:
    class Flapping(ToyWorld):
        """`app` dies by itself a while after it was started."""

        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            self.machine.stop("app")

    site = site_of(repair())
    live = site.broken(site.scenario.worlds[0], seed=0)
    assert isinstance(live, ToyWorld)
    played = play(
        Flapping(live.machine),
        site.scenario,
        site.scenario.worlds[0],
        InterventionAgent(site.scenario.gold),
        site.scenario.limits,
    )
    assert [(one.name, one.detail) for one in played.unmet] == [("running", "app is inactive")]
    assert played.score == 0.5
    assert sum(turn.reward for turn in played.turns) == pytest.approx(0.5 + 5 * -0.01 + 0.05)


def test_a_slow_recovery_is_waited_for() -> None:
    class Slow(ToyWorld):
        """`app` comes up twelve seconds after the episode's commands."""

        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            if self.machine.now > 12:
                self.machine.files["/etc/app.conf"] = "good"
                self.machine.start("app")

    site = site_of(repair())
    live = site.broken(site.scenario.worlds[0], seed=0)
    assert isinstance(live, ToyWorld)
    agent = ScriptAgent(())
    played = play(Slow(live.machine), site.scenario, site.scenario.worlds[0], agent, site.scenario.limits)
    assert played.recovered
    assert played.seconds == 0.0


def test_commands_end_but_a_last_answer_is_heard() -> None:
    limits = Limits(commands=2, seconds=100.0, output_bytes=100)
    played = episode(investigation(), ScriptAgent((Run("true"), Run("true"), Answer("10:15"))), limits=limits)
    assert played.score == 0.99
    cut = typed(repair(), *["true"] * 5, limits=limits)
    assert cut.commands == 2
    assert [turn.kind for turn in cut.turns] == ["run", "run"]


def test_time_ends_too() -> None:
    limits = Limits(commands=20, seconds=10.0, output_bytes=100)
    played = typed(repair(), "sleep 6", "sleep 6", "write /etc/app.conf good", limits=limits)
    assert played.commands == 2
    assert played.seconds == pytest.approx(12.2)


def test_an_agent_that_only_talks_is_stopped() -> None:
    played = episode(investigation(), ScriptAgent(tuple(Answer(str(number)) for number in range(1000))))
    assert len(played.turns) == 2 * 12 + 2


def test_output_is_kept_as_text_and_truncation_is_marked() -> None:
    played = typed(repair(), "bytes", "echo " + "x" * 300)
    assert played.turns[0].output == "\\xff\\xfe"
    assert played.turns[1].truncated
    assert len(played.turns[1].output) == 200


def test_the_agents_own_failure_ends_its_episode() -> None:
    class Broken:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def reset(self, briefing: Briefing) -> None: ...

        def act(self, observation: Observation) -> Action:
            raise self.error

    assert episode(repair(), Broken(KeyError("x"))).agent_error == "the agent failed: KeyError: 'x'"
    assert episode(repair(), Broken(AgentFailedError("no idea"))).agent_error == "no idea"
    with pytest.raises(AgentUnavailableError):
        episode(repair(), Broken(AgentUnavailableError("429")))


def test_something_that_is_no_action_is_the_agents_failure() -> None:
    class Odd(Recorder):
        def act(self, observation: Observation) -> Action:
            return "reboot"

    assert episode(repair(), Odd()).agent_error == "the agent failed: it returned str, which is no action"


def test_a_fault_that_is_not_witnessed_never_starts_a_clock() -> None:
    base = repair()
    fault = replace(base.worlds[0].faults[0], witness=(Probe(type="unit", arguments={"name": "app", "state": "gone"}),))
    spoiled = replace(base, worlds=(replace(base.worlds[0], faults=(fault,)), *base.worlds[1:]))
    with pytest.raises(WorldError, match="not witnessed in world `primary`: broken_config: app is failed"):
        episode(spoiled, Recorder())


def test_probes_are_evaluated_once_a_command() -> None:
    def observed(commands: Sequence[str]) -> int:
        site = site_of(repair())
        live = site.broken(site.scenario.worlds[0], seed=0)
        assert isinstance(live, ToyWorld)
        agent = ScriptAgent(tuple(Run(command) for command in commands))
        play(live, site.scenario, site.scenario.worlds[0], agent, site.scenario.limits)
        return live.machine.observed

    assert observed(["true"] * 7) - observed(["true"] * 4) == 3 * 3


def test_no_agent_can_keep_its_record_from_being_written() -> None:
    half = "\ud83d"
    agent = Recorder(Run(f"echo {half}", think=half), Answer(half, think=half), Done(think=half))
    played = episode(repair(), agent)
    assert [(turn.text, turn.think) for turn in played.turns] == [("echo ?", "?"), ("?", "?"), ("", "?")]
    dump(played.turns)

    handed_in = Recorder(Submit(Intervention(name="fix", steps=(Step(run=f"echo {half}"),))))
    played = episode(repair(), handed_in)
    assert played.agent_error is not None
    assert played.agent_error.startswith("the agent failed: what it submitted is no intervention")
    assert played.repair.submitted is None


@pytest.mark.parametrize(
    "action",
    [
        Run(5),  # type: ignore[arg-type]
        Run("ls", think=5),  # type: ignore[arg-type]
        Run("ls", think=b"x"),  # type: ignore[arg-type]
        Run("x" * 100_000),
        Answer(None),  # type: ignore[arg-type]
        Submit(None),  # type: ignore[arg-type]
        Submit(Intervention(name="fix", steps=("ls",))),  # type: ignore[arg-type]
        Submit(Intervention(name="fix", steps=(Step(run="true"),) * 50_000)),
        Done(think=10**30),  # type: ignore[arg-type]
        "ls",
    ],
)
def test_what_is_no_action_is_the_agents_failure(action: object) -> None:
    played = episode(repair(), Recorder(action))  # type: ignore[arg-type]
    assert played.agent_error is not None
    assert played.agent_error.startswith("the agent failed: ")
    assert played.repair.submitted is None
    dump(played.turns)


class Unspeakable(Exception):  # noqa: N818 (the name is the point)
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), Unspeakable(), ValueError("\ud83d")])
def test_whatever_comes_out_of_an_agent_is_its_failure(error: BaseException) -> None:
    class Raising:
        def reset(self, briefing: object) -> None: ...

        def act(self, observation: object) -> Run:
            raise error

    played = episode(repair(), Raising())
    assert played.agent_error is not None
    assert played.agent_error.startswith(f"the agent failed: {type(error).__name__}")
    dump(played.agent_error)
