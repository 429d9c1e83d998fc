"""Plans: what is played, under which names, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runners.agents.registry import parse_agent
from runners.agents.spec import AgentSpec
from runners.plan import GivenLimits, HeldoutError, Plan, PlanError, differences, from_json, plan, to_json
from runners.records import AgentIdentity, Trial
from runners.trials import agent_seed, trial_id, world_seed
from scenario_dsl.errors import AuthorError
from tests.runners.cases import bundle_of, investigation, job_of, repair, site_of

AGENTS = tuple(parse_agent(name) for name in ("gold", "nop", "random"))


def planned(agents: tuple[AgentSpec, ...] = AGENTS, **others: object) -> Plan:
    return plan((bundle_of(repair(), investigation()),), agents, backends=("toy",), **others)


def test_every_trial_is_planned_once() -> None:
    made = planned(attempts=2, seeds=(0, 1))
    jobs = list(made.jobs())
    assert made.size == len(jobs) == 3 * 2 * 3 * 2 * 2
    assert len({job.trial_id for job in jobs}) == made.size
    assert jobs[0].trial.full_score == 0.99
    assert jobs[0].trial.required_worlds == (("primary", "primary"), ("later", "twin"), ("calm", "control"))


def test_whole_attempts_come_first() -> None:
    attempts = [trial.attempt for trial in planned(attempts=3).trials()]
    assert attempts == sorted(attempts)


def test_worlds_are_chosen_by_role_or_name_but_a_verdict_still_needs_all() -> None:
    made = planned(worlds=("primary", "other"), scenarios=("repair",))
    assert [world for world, _ in made.scenarios[0].worlds] == ["primary", "other"]
    assert len(made.scenarios[0].all_worlds) == 3


def test_limits_may_be_given() -> None:
    limits = GivenLimits(commands=3, output_bytes=99)
    trial = next(iter(planned(limits=limits).trials()))
    assert (trial.max_commands, trial.max_seconds, trial.output_bytes) == (3, 600.0, 99)


def test_held_out_scenarios_are_refused_to_training_agents_alone() -> None:
    held = bundle_of(replace(repair(), split="heldout"), investigation())
    training = parse_agent("random", training=True)
    with pytest.raises(HeldoutError, match="scenario `repair` is held out, and agent `random` is declared as training"):
        plan((held,), (training,), backends=("toy",))
    assert plan((held,), (parse_agent("random"),), backends=("toy",)).size == 6
    assert plan((held,), (training,), backends=("toy",), scenarios=("investigation",)).size == 3


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"scenarios": ("nope",)}, "no scenario `nope`; the given bundles have: investigation, repair"),
        ({"worlds": ("nope",)}, "nothing to play"),
        ({"agents": ()}, "nothing to play"),
        ({"agents": (AGENTS[0], AGENTS[0])}, "the agent `gold` was given twice"),
        ({"seeds": (1, 1)}, "the seed `1` was given twice"),
        ({"attempts": 0}, "at least one attempt"),
        ({"agents": (parse_agent("bad:known name"),)}, "scenario `investigation` has no bad habit `known name`"),
    ],
)
def test_what_cannot_be_planned(others: dict[str, object], message: str) -> None:
    with pytest.raises(AuthorError, match=message):
        planned(**others)


def test_the_same_bundle_twice_is_refused() -> None:
    with pytest.raises(PlanError, match="was given twice"):
        plan((bundle_of(repair()), bundle_of(repair())), AGENTS, backends=("toy",))


def test_a_plan_reads_back_and_has_one_way_to_be_written() -> None:
    made = planned(attempts=2)
    assert from_json(to_json(made)) == made
    assert to_json(planned(attempts=2)) == to_json(made)


def test_differences_are_said_in_words() -> None:
    stored = planned(attempts=20)
    assert differences(stored, planned(attempts=20)) == ()
    new = replace(
        planned(agents=(AGENTS[1], AGENTS[2], parse_agent("bad")), attempts=10, limits=GivenLimits(commands=5)),
        scenarios=planned(limits=GivenLimits(commands=5)).scenarios[1:],
    )
    said = differences(stored, new)
    assert "agents: `gold` is in the stored plan, but not now" in said
    assert "agents: `bad` is not in the stored plan" in said
    assert "attempts: 20 in the stored plan, 10 now" in said
    assert "scenarios: `investigation` is in the stored plan, but not now" in said
    assert "scenarios `repair`: limits commands: 12 in the stored plan, 5 now" in said


def test_another_digest_or_order_is_a_difference() -> None:
    stored = planned()
    other = replace(stored, agents=tuple(reversed(stored.agents)))
    assert differences(stored, other) == ("agents: in another order than in the stored plan",)
    changed = replace(stored, scenarios=(replace(stored.scenarios[0], bundle_digest="f" * 64), *stored.scenarios[1:]))
    (said,) = differences(stored, changed)
    assert said.startswith("scenarios `investigation`: bundle_digest: ")


TRIAL = job_of(site_of(repair()), agent=AgentIdentity(name="gold")).trial


@pytest.mark.parametrize(
    "other",
    [
        replace(TRIAL, bundle_digest="0" * 64),
        replace(TRIAL, scenario="x"),
        replace(TRIAL, world="other"),
        replace(TRIAL, backend="x"),
        replace(TRIAL, agent=AgentIdentity(name="gold", configuration="x")),
        replace(TRIAL, agent=AgentIdentity(name="gold", training=True)),
        replace(TRIAL, seed=1),
        replace(TRIAL, attempt=1),
        replace(TRIAL, max_commands=1),
        replace(TRIAL, max_seconds=1.0),
        replace(TRIAL, output_bytes=1),
    ],
)
def test_whatever_decides_a_trials_course_is_in_its_id(other: Trial) -> None:
    assert trial_id(other) != trial_id(TRIAL)
    assert agent_seed(trial_id(other)) != agent_seed(trial_id(TRIAL))


@pytest.mark.parametrize("change", [{"scenario": "x"}, {"world": "other"}, {"seed": 1}, {"attempt": 1}])
def test_another_world_has_another_seed(change: dict[str, object]) -> None:
    assert world_seed(replace(TRIAL, **change)) != world_seed(TRIAL)  # type: ignore[arg-type]


def test_all_agents_meet_the_same_world_in_the_same_attempt() -> None:
    other = replace(TRIAL, agent=AgentIdentity(name="another", configuration="x"))
    assert world_seed(other) == world_seed(TRIAL)


def test_what_only_describes_it_is_not() -> None:
    assert trial_id(replace(TRIAL, proven=True, difficulty="hard", full_score=0.5)) == trial_id(TRIAL)
