"""Playing an intervention: falsifier, discoveries, guards, rollback."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.codec import Malformed
from runners.agents.interventional import InterventionAgent
from runners.interventions import Applied, apply, as_typed, fill, from_text, roll_back, to_text
from runners.records import judge
from runners.trials import play_trial
from runners.worlds import LiveWorld
from scenario_dsl.model import Intervention, Limits, Step
from tests.runners.cases import GOLD, job_of, repair, site_of
from tests.runners.toy import ToyWorld


def broken_world(world: str = "primary") -> ToyWorld:
    site = site_of(repair())
    live: LiveWorld = site.broken(site.scenario.world(world), seed=0)
    assert isinstance(live, ToyWorld)
    return live


def play(live: ToyWorld, intervention: Intervention) -> Applied:
    return apply(live, intervention, Limits())


def test_discovered_values_carry_the_repair_to_another_surface() -> None:
    for world, name in (("primary", "app"), ("other", "worker")):
        live = broken_world(world)
        applied = play(live, GOLD)
        assert applied.bindings == {"unit": name}
        assert live.machine.units[name] > 0
        assert applied.undo == (f"systemctl stop {name}", f"write /etc/{name}.conf bad")


def test_the_falsifier_stops_everything_where_the_hypothesis_is_wrong() -> None:
    live = broken_world("noise")
    before = live.facts()
    applied = play(live, GOLD)
    assert applied.refuted
    assert applied.played == ()
    assert live.facts() == before


def test_a_guard_leaves_out_its_step_alone() -> None:
    live = broken_world()
    steps = (
        Step(run="write /a 1", only_if="test -n ''", undo="rm /a"),
        Step(run="failed", discover="unit", only_if="test -n ''"),
        Step(run="write /b x{{ unit }}y"),
    )
    applied = play(live, Intervention(name="guarded", steps=steps))
    assert applied.played == (2,)
    assert applied.undo == ()
    assert "/a" not in live.machine.files
    assert live.machine.files["/b"] == "xy"


def test_rolling_back_restores_what_was_there() -> None:
    live = broken_world()
    before = live.facts().persistent
    applied = play(live, GOLD)
    assert live.facts().persistent != before
    roll_back(live, applied, Limits())
    assert live.facts().persistent == before


def test_the_watcher_sees_each_step_after_its_command() -> None:
    live = broken_world()
    seen: list[tuple[int, str]] = []
    apply(live, GOLD, Limits(), lambda index: seen.append((index, live.machine.files["/etc/app.conf"])))
    assert seen == [(0, "bad"), (1, "good"), (2, "good")]


def test_foreign_braces_stay() -> None:
    assert fill("docker ps --format '{{ .Names }}' {{other}} {{ a }}", {"a": "1"}) == (
        "docker ps --format '{{ .Names }}' {{other}} 1"
    )


def test_what_was_typed_is_played_word_for_word() -> None:
    live = broken_world()
    applied = play(live, as_typed(("write /x {{y}}", "append /x z")))
    assert applied.played == (0, 1)
    assert live.machine.files["/x"] == "{{y}}z"


def test_the_text_of_an_intervention_reads_back() -> None:
    with_places = Intervention(name="x", steps=(Step(run="true", at=("steps", 0)),), at=("gold",))
    assert from_text(to_text(with_places)) == Intervention(name="x", steps=(Step(run="true"),))
    with pytest.raises(Malformed):
        from_text("{}")


@pytest.mark.parametrize(
    ("invariants", "postconditions", "more", "broken"),
    [
        (("cat /etc/web.conf",), ("cat /etc/{{ unit }}.conf",), "true", ()),
        ((), ("cat /etc/{{ unit }}.key", "true"), "true", ("cat /etc/app.key",)),
        (("cat /etc/web.conf",), (), "rm /etc/web.conf", ("cat /etc/web.conf",)),
        (("cat /etc/nothing",), (), "true", ()),
    ],
)
def test_what_it_says_of_itself_is_looked_at(
    invariants: tuple[str, ...], postconditions: tuple[str, ...], more: str, broken: tuple[str, ...]
) -> None:
    """An invariant that did not hold before says nothing afterwards."""
    steps = (*GOLD.steps, Step(run=more))
    claiming = replace(GOLD, steps=steps, invariants=invariants, postconditions=postconditions)
    assert play(broken_world(), claiming).broken == broken


def test_whoever_did_nothing_promised_nothing() -> None:
    claiming = replace(GOLD, falsifier=None, postconditions=("cat /etc/nothing",))
    guarded = replace(claiming, steps=tuple(replace(step, only_if="test -n ''") for step in GOLD.steps))
    assert play(broken_world(), guarded).broken == ()


def test_a_promise_that_is_not_kept_is_the_agents_failure() -> None:
    site = site_of(repair())
    claiming = replace(GOLD, postconditions=("cat /etc/{{ unit }}.key",))
    record = play_trial(job_of(site), site, site.scenario.worlds[0], InterventionAgent(claiming))
    assert record.error == "what it says of itself does not hold: cat /etc/app.key"
    assert judge([record]) == "NOT_RECOVERED"
