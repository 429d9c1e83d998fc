"""Prove: sound scenarios hold, and each way to spoil one is caught by the check that is there for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from breakfix.content import open_pack
from compiler.bundle import compile_pack
from compiler.codec import dump, load
from compiler.model import ScenarioProof
from compiler.verify import verify_under_ephemeral_key
from runners.plan import PlanError
from runners.prove.proving import CHECKS, _only, prove
from scenario_dsl.model import Delay, Intervention, Invariant, Objective, Probe, Reward, Seen, Step, Task
from scenario_dsl.worlds import ResolvedCascade, ResolvedScenario, World
from tests.runners.cases import (
    GOLD,
    broken_config,
    bundle_of,
    cascading,
    contains,
    investigation,
    log_noise,
    repair,
    steps,
    unit,
    write,
)
from tests.runners.toy import ToyBackend, ToyWorld

Change = Callable[[World], World]


def proof_of(scenario: ResolvedScenario, *, repeats: int = 2, backend: ToyBackend | None = None) -> ScenarioProof:
    (proof,) = prove(bundle_of(scenario), backend or ToyBackend(), repeats=repeats).scenarios
    return proof


def failures(scenario: ResolvedScenario, *, repeats: int = 2) -> list[tuple[str, str, str]]:
    findings = proof_of(scenario, repeats=repeats).findings
    return [(found.check, found.world, found.detail) for found in findings if found.passed is False]


def in_worlds(change: Change, *names: str, base: ResolvedScenario | None = None) -> ResolvedScenario:
    """The repair with some of its worlds changed; no names: all of them."""
    scenario = base or repair()
    worlds = tuple(change(world) if not names or world.name in names else world for world in scenario.worlds)
    return replace(scenario, worlds=worlds)


def with_objective(objective: Objective) -> ResolvedScenario:
    return in_worlds(lambda world: replace(world, objectives=(*world.objectives[:2], objective)))


@pytest.mark.parametrize("scenario", [repair(), investigation(), cascading()], ids=lambda scenario: scenario.name)
def test_sound_scenarios_hold(scenario: ResolvedScenario) -> None:
    proof = proof_of(scenario)
    assert proof.holds, [found for found in proof.findings if found.passed is False]
    assert {found.check for found in proof.findings} == {
        "healthy",
        "witnessed",
        "nop",
        "gold",
        "bad",
        "mutants",
        "revert",
        "repeat",
    }


def test_a_proof_says_what_was_refused_where() -> None:
    details = {(found.check, found.world): found.detail for found in proof_of(repair()).findings}
    assert details["bad", "other"] == "refuses: known name"
    assert details["bad", "noise"] == "refuses: known name"
    assert details["repeat", "primary"] == "2 of 2 repeats agree"


def test_an_always_true_probe() -> None:
    always = Objective(name="web up", points=0.5, check=unit("web"))
    found = failures(with_objective(always))
    assert ("witnessed", "primary", "objective `web up` is met before anybody did anything") in found
    assert ("nop", "primary", "doing nothing meets objective `web up`") in found


def test_a_vacuous_objective() -> None:
    found = failures(with_objective(Objective(name="looked at anything", points=0.5, check=Seen(output="."))))
    assert ("nop", "primary", "doing nothing meets objective `looked at anything`") in found


def test_an_objective_that_no_single_step_earns() -> None:
    gold = replace(GOLD, steps=(*GOLD.steps, *GOLD.steps[1:]))
    found = [detail for check, _, detail in failures(replace(repair(), gold=gold)) if check == "mutants"]
    assert "objective `running` is met whichever single step of gold is left out: sharpen it" in found


def test_a_step_that_nobody_would_miss() -> None:
    spare = Step(run="write /etc/motd fixed", undo="rm /etc/motd", only_if="test -n '{{ unit }}'")
    found = failures(replace(repair(), gold=replace(GOLD, steps=(*GOLD.steps, spare))))
    expected = (
        "nobody notices gold without step 4 (`write /etc/motd fixed`): "
        "sharpen objective `running`, or add one that this step serves"
    )
    assert found == [("mutants", "primary", expected)]


SPARE = replace(
    GOLD,
    steps=(*GOLD.steps, Step(run="write /etc/motd {{ unit }}", undo="rm /etc/motd", only_if="test -n '{{ unit }}'")),
)


def test_a_fix_of_the_wrong_service_and_a_wrong_value_are_mutants() -> None:
    mutants = {mutant.name: mutant for mutant in proof_of(repair()).mutants}
    assert {name: mutant.kind for name, mutant in mutants.items()} == {
        "without step 2": "dropped step",
        "without step 3": "dropped step",
        "step 2 with `web` for `app`": "wrong service",
        "step 3 with `web` for `app`": "wrong service",
        "instead: restart everything": "blunder",
        "instead: restart only": "blunder",
        "instead: remove the component": "blunder",
        "instead: silence the symptom": "blunder",
    }
    assert mutants["step 2 with `web` for `app`"].noticed == "0.2 points in `primary`"
    assert not any(mutant.survived for mutant in mutants.values())


def test_a_wrong_argument_that_nobody_notices_names_the_objective() -> None:
    """This objective asks for nothing but the file, so that any number in it will do."""

    def change(world: World) -> World:
        port = Objective(name="port set", points=0.3, check=contains("/etc/app.port", "[0-9]"))
        return replace(world, parameters={**world.parameters, "port": "8080"}, objectives=(world.objectives[0], port))

    port = Step(run="write /etc/app.port 8080", undo="rm /etc/app.port", only_if="test -n '{{ unit }}'")
    gold = replace(GOLD, steps=(*GOLD.steps, port))
    base = replace(in_worlds(change), gold=gold, bad=())
    found = [detail for check, _, detail in failures(base) if check == "mutants"]
    assert any("gold step 4 with `8081` for `8080`: sharpen objective `port set`" in detail for detail in found)


def test_the_order_counts_where_it_is_declared() -> None:
    """The service does not start before its configuration is right; two files may be written either way round."""
    declared = proof_of(replace(repair(), gold=replace(GOLD, ordered=True)))
    (swapped,) = [mutant for mutant in declared.mutants if mutant.kind == "order"]
    assert (swapped.name, swapped.noticed) == ("steps 2 and 3 swapped", "0.5 points in `primary`")
    assert not [mutant for mutant in proof_of(repair()).mutants if mutant.kind == "order"]
    either = (*GOLD.steps[:2], replace(GOLD.steps[1], run="write /etc/x good", undo="rm /etc/x"), GOLD.steps[2])
    found = failures(replace(repair(), gold=replace(GOLD, ordered=True, steps=either)))
    assert any("gold steps 2 and 3 swapped" in detail for _, _, detail in found)


def test_a_waiver_needs_something_to_waive_and_is_one_in_ten() -> None:
    spare = replace(repair(), gold=SPARE)
    missed = {mutant.name for mutant in proof_of(spare).mutants if mutant.survived}
    assert missed == {"without step 4", "step 4 with `web` for `app`"}
    waived = replace(spare, waivers=dict.fromkeys(missed, "a note for people, worth no points"))
    found = failures(waived)
    assert found == [("mutants", "primary", "2 of 10 weakened forms of gold are waived; at most one in 10 may be")]
    assert [mutant.waived for mutant in proof_of(waived).waived] == ["a note for people, worth no points"] * 2
    idle = failures(replace(repair(), waivers={"without step 3": "why not"}))
    assert idle == [("mutants", "primary", "the waiver `without step 3` is for nothing that goes unnoticed")]


def test_one_waiver_among_enough_mutants_is_accepted_and_kept() -> None:
    more = tuple(
        Step(
            run=f"write /etc/{{{{ unit }}}}.{name} good",
            undo=f"rm /etc/{{{{ unit }}}}.{name}",
            only_if="test -n '{{ unit }}'",
        )
        for name in ("a", "b")
    )

    def change(world: World) -> World:
        if world.role == "control":
            return world
        unit_ = world.parameters["unit"]
        wanted = tuple(
            Objective(name=name, points=0.05, check=contains(f"/etc/{unit_}.{name}", "good")) for name in ("a", "b")
        )
        return replace(world, objectives=(*world.objectives, *wanted))

    note = Step(run="write /etc/motd fixed", undo="rm /etc/motd", only_if="test -n '{{ unit }}'")
    scenario = replace(
        in_worlds(lambda world: world),
        gold=replace(GOLD, steps=(*GOLD.steps, *more, note)),
        waivers={"without step 6": "a note for people"},
    )
    scenario = in_worlds(change, base=scenario)
    assert [detail for check, _, detail in failures(scenario) if check == "mutants"] == []
    proof = proof_of(scenario)
    assert [(mutant.name, mutant.waived) for mutant in proof.waived] == [("without step 6", "a note for people")]


def test_a_proof_says_which_step_earns_what_and_which_world_refuses_whom() -> None:
    proof = proof_of(repair())
    assert [(flip.objective, flip.steps) for flip in proof.flips] == [("configured", (2,)), ("running", (2, 3))]
    known = next(habit for habit in proof.habits if habit.habit == "known name")
    assert (known.general, known.verdict) == (False, "HARMFUL")
    said = {(result.check, result.world): result.finding for result in known.checks}
    assert said["primary", "primary"] == "pass"
    assert said["twin", "other"] == "fail"
    assert said["control", "noise"] == "harm"
    assert [(each.world, each.alike, each.repeats) for each in proof.agreement] == [
        ("primary", 2, 2),
        ("other", 2, 2),
        ("noise", 2, 2),
    ]
    assert load(ScenarioProof, dump(proof)) == proof


def test_a_twin_with_another_cause() -> None:
    """This twin's unit is down for want of another setting, which gold's repair does not give it."""
    other = replace(broken_config("worker"), inject=(write("/etc/worker.key", "lost"), *broken_config("worker").inject))
    needs_key = Objective(name="key", points=0.3, check=contains("/etc/worker.key", "^found$"))

    def change(world: World) -> World:
        return replace(world, faults=(other,), objectives=(world.objectives[0], needs_key, world.objectives[2]))

    assert ("gold", "other", "gold does not meet `key`") in failures(in_worlds(change, "other"))


def test_a_twin_that_refuses_nothing() -> None:
    same = repair().worlds[0]
    found = failures(in_worlds(lambda world: replace(same, name="other", role="twin"), "other"))
    assert found == [("bad", "other", "refuses no bad habit that the primary passes")]


def test_a_control_that_refuses_nothing() -> None:
    start = Intervention(name="known name", steps=steps("write /etc/app.conf good", "systemctl start app"))
    found = failures(replace(repair(), bad=(start,)))
    assert found == [("bad", "noise", "refuses no bad habit that the primary passes")]


def test_a_control_that_gold_harms() -> None:
    careless = replace(GOLD, falsifier=None, steps=(*GOLD.steps, Step(run="systemctl restart web")))
    found = failures(replace(repair(), gold=careless))
    assert any(check == "gold" and world == "noise" and "web" in detail for check, world, detail in found)


def test_a_control_that_is_not_healthy() -> None:
    found = failures(in_worlds(lambda world: replace(world, faults=(broken_config("app"),)), "noise"))
    assert any(check == "witnessed" and "this control is not healthy" in detail for check, _, detail in found)


def test_a_flaky_probe() -> None:
    flaky = Objective(name="luck", points=0.1, check=Probe(type="memory", arguments={"available_at_least": 1}))
    scenario = in_worlds(lambda world: replace(world, objectives=(*world.objectives, flaky)), "primary")
    found = [entry for entry in failures(scenario, repeats=8) if entry[0] == "repeat"]
    assert found
    assert "of 8 repeats agree" in found[0][2]


def test_gold_that_cannot_be_rolled_back() -> None:
    forgetful = replace(GOLD, steps=tuple(replace(step, undo=None) for step in GOLD.steps))
    found = failures(replace(repair(), gold=forgetful))
    assert any(check == "gold" and "reversibility" in detail for check, _, detail in found)


def test_gold_that_does_too_little() -> None:
    found = failures(replace(repair(), gold=replace(GOLD, steps=GOLD.steps[:2])))
    assert ("gold", "primary", "gold does not meet `running`") in found


def test_a_bad_habit_that_is_as_good_as_gold() -> None:
    found = failures(replace(repair(), bad=(*repair().bad, replace(GOLD, name="clever"))))
    assert ("bad", "primary", "`clever`: VERIFIED, though it understood nothing") in found


def test_bad_habits_that_show_nothing() -> None:
    found = failures(replace(repair(), bad=(Intervention(name="look", steps=steps("true")),)))
    assert ("bad", "primary", "no bad habit passes even the primary: nothing is shown") in found


def test_no_other_world_at_all() -> None:
    found = failures(replace(repair(), worlds=repair().worlds[:1]))
    assert ("bad", "primary", "there is no twin and no control to refuse anything") in found


def test_a_cascade_that_never_fires() -> None:
    never = ResolvedCascade(
        name="never", when=unit("web", "gone"), after=Delay(), inject=(log_noise("never"),), repeat=False
    )
    found = failures(in_worlds(lambda world: replace(world, cascades=(never,))))
    assert ("mutants", "primary", "cascade `never` never fires, whoever plays") in found


def test_a_cascade_that_does_not_take_hold() -> None:
    unseen = replace(log_noise("flood"), witness=(contains("/var/log/syslog", "^nothing$"),))

    def change(world: World) -> World:
        return replace(world, cascades=(replace(world.cascades[0], inject=(unseen,)),))

    found = failures(in_worlds(change, "other", base=cascading()))
    said = [detail for check, world, detail in found if (check, world) == ("witnessed", "other")]
    assert said == ["cascade `flood` does not take hold: log_noise: /var/log/syslog: flood"]


def test_a_revert_that_leaves_something() -> None:
    fault = broken_config("app")
    litter = replace(fault, inject=(*fault.inject, write("/etc/litter", "x")))
    found = failures(in_worlds(lambda world: replace(world, faults=(litter,)), "primary"))
    assert ("revert", "primary", "after reverting, /etc/litter still differed") in found


def test_a_revert_that_fails() -> None:
    odd = replace(broken_config("app"), revert=(Task(name="odd", module="shell", arguments={"cmd": "true"}),))
    found = failures(in_worlds(lambda world: replace(world, faults=(odd,)), "primary"))
    assert ("revert", "primary", "reverting `broken_config`: task `odd` failed: no module shell") in found


@pytest.mark.parametrize(
    ("witness", "detail"),
    [
        ((), "fault `broken_config` has no witness"),
        ((unit("web"),), "the witness of `broken_config` holds although nothing was injected"),
        ((contains("/etc/app.conf", "^worse$"),), "injected but not witnessed in world `primary`"),
    ],
)
def test_a_witness_that_witnesses_nothing(witness: tuple[Probe, ...], detail: str) -> None:
    fault = replace(broken_config("app"), witness=witness)
    found = failures(in_worlds(lambda world: replace(world, faults=(fault,)), "primary"))
    assert any(check == "witnessed" and detail in said for check, _, said in found)


def test_an_unhealthy_system() -> None:
    strict = Invariant(name="nobody logs", probe=contains("/var/log/syslog", "^silent$"))
    found = failures(in_worlds(lambda world: replace(world, invariants=(strict,))))
    assert any(check == "healthy" and "invariant `nobody logs` does not hold" in said for check, _, said in found)


def test_a_fault_that_breaks_an_invariant_itself() -> None:
    fault = broken_config("app")
    wide = replace(
        fault,
        inject=(*fault.inject, Task(name="stop", module="systemd", arguments={"name": "web", "state": "stopped"})),
    )
    found = failures(in_worlds(lambda world: replace(world, faults=(wide,)), "primary"))
    assert any(check == "witnessed" and "breaks what must stay true" in said for check, _, said in found)


def test_reward_for_typing_is_not_mistaken_for_points() -> None:
    assert failures(replace(repair(), reward=Reward(per_command=0.01))) == []


def test_a_backend_that_cannot_run_it_is_no_proof() -> None:
    proof = proof_of(repair(), backend=ToyBackend(unsupported="fault `x` needs a clock"))
    assert not proof.holds
    assert proof.findings[0].detail == "toy cannot run it: fault `x` needs a clock"


def test_a_check_that_breaks_down_is_a_finding() -> None:
    unknown = Objective(name="odd", points=0.5, check=Probe(type="sysctl", arguments={"key": "a", "equals": "b"}))
    found = failures(with_objective(unknown))
    assert [world for check, world, detail in found if (check, detail) == ("healthy", "no probe sysctl")] == [
        "primary",
        "other",
        "noise",
    ]


def test_a_fault_of_ours_in_a_check_is_a_finding_too() -> None:
    class Odd(ToyBackend):
        def open(self, content: object, scenario: object, world: object, *, seed: int) -> ToyWorld:
            raise RuntimeError("oh")

    findings = proof_of(repair(), backend=Odd()).findings
    assert findings[0].passed is False
    assert findings[0].detail.startswith("the check broke down: RuntimeError: oh (in ")


def test_only_what_was_asked_for() -> None:
    bundle = bundle_of(repair(), investigation())
    told: list[tuple[int, int, str]] = []
    proof = prove(
        bundle,
        ToyBackend(),
        scenarios=("repair",),
        repeats=1,
        progress=lambda done, total, note: told.append((done, total, note)),
    )
    assert [scenario.scenario for scenario in proof.scenarios] == ["repair"]
    assert [(done, total) for done, total, _ in told] == [(done, len(CHECKS)) for done in range(len(CHECKS) + 1)]
    assert {note for done, _, note in told if done} == {f"repair: {check}" for check, _ in CHECKS}
    assert proof.bundle_digest == bundle.digest
    with pytest.raises(PlanError, match="no scenario `x`; the bundle has: investigation, repair"):
        prove(bundle, ToyBackend(), scenarios=("x",))


@pytest.mark.slow
def test_processes_find_what_one_finds() -> None:
    bundle = bundle_of(repair(), investigation(), cascading())
    assert prove(bundle, ToyBackend(), processes=2) == prove(bundle, ToyBackend())


def test_another_process_gets_all_machines_of_a_fleet() -> None:
    fleet = verify_under_ephemeral_key(compile_pack(open_pack("packs/fleet"))).content
    assert _only(fleet, "drifted-fleet").systems.keys() == {"edge-control", "edge-lb", "edge-web"}
