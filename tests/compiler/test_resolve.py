from __future__ import annotations

import dataclasses

import pytest

from compiler.resolve import resolve, resolve_all
from scenario_dsl.diagnostics import Diagnostics
from scenario_dsl.model import (
    Answer,
    Fault,
    FaultUse,
    Intervention,
    Library,
    Parameter,
    Probe,
    Scenario,
    Seen,
    Step,
    Task,
    Variant,
)
from scenario_dsl.values import Value
from tests.compiler.libraries import RECOVERY, library


def with_fault(fault: Fault) -> Library:
    pack = library()
    return dataclasses.replace(pack, faults={**pack.faults, fault.name: fault})


def fault_of(*tasks: Task, **arguments: str) -> Fault:
    """A fault that takes the named arguments, name=type."""
    return Fault(
        name="probed",
        title="",
        doc="",
        arguments=tuple(Parameter(name=name, type=kind, doc="") for name, kind in arguments.items()),
        inject=tasks,
        revert=(),
        witness=(),
    )


def injected(fault: Fault, **arguments: Value) -> tuple[Task, ...]:
    scenario = dataclasses.replace(RECOVERY, faults=(FaultUse(fault=fault.name, arguments=arguments),))
    return resolve(scenario, with_fault(fault)).worlds[0].faults[0].inject


def reasons(scenario: Scenario, pack: Library | None = None) -> list[tuple[str, str]]:
    """Code and message of everything found."""
    with pytest.raises(Diagnostics) as caught:
        resolve(scenario, pack or library())
    return [(each.code, each.message) for each in caught.value.found]


def test_worlds_come_in_order_with_their_own_parameters() -> None:
    resolved = resolve(RECOVERY, library())
    assert [(world.name, world.role) for world in resolved.worlds] == [
        ("primary", "primary"),
        ("cache", "twin"),
        ("loud log", "control"),
    ]
    primary, cache, loud = resolved.worlds
    assert primary.complaint == "The shop, which talks to port 5432, is down."
    assert cache.complaint == "The shop, which talks to port 6379, is down."
    assert loud.complaint == "All is well on 5432."
    assert cache.parameters == {"unit": "redis-server", "port": 6379, "folder": "/srv/a"}
    assert cache.faults[0].arguments == {"unit": "redis-server", "signal": "KILL"}
    assert primary.hints == ("Ask about postgresql.",)
    assert cache.hints == ("Ask about redis-server.",)
    assert resolved.since == 90.0


def test_checks_are_rendered_and_keep_their_types() -> None:
    cache = resolve(RECOVERY, library()).world("cache")
    seen, listens, named = (objective.check for objective in cache.objectives)
    assert seen == Seen(output="failed|redis-server", command="systemctl")
    assert listens == Probe(type="socket", arguments={"port": 6379, "listening": True, "protocol": "tcp"})
    assert named == Answer(question="Which unit?", equals="redis-server")
    assert cache.objectives[1].armed_by == "Log Flood!"
    assert cache.faults[1].witness[0].arguments["size_at_most"] == 1000


def test_a_control_holds_its_decoys_and_no_cascade() -> None:
    control = resolve(RECOVERY, library()).world("loud log")
    assert [fault.fault for fault in control.faults] == ["log_noise"]
    assert control.faults[0].inject[0].arguments["cmd"] == "printf '%s\\n' 'postgresql exited' >> /var/log/syslog"
    assert control.cascades == ()
    assert [cascade.name for cascade in resolve(RECOVERY, library()).worlds[0].cascades] == ["Log Flood!"]


def test_discovered_names_stay_from_their_step_on() -> None:
    steps = resolve(RECOVERY, library()).gold.steps
    assert steps[1].only_if == 'test -n "{{ failed }}"'
    assert steps[1].run == "systemctl start {{ failed }} # 5432"
    # The third step discovers `unit` anew: until then the name means the primary's parameter.
    assert (steps[2].run, steps[2].undo, steps[3].run) == ("echo postgresql", "echo {{ unit }}", "echo {{ unit }}")
    assert steps[4].answer == "{{ failed }}"
    assert resolve(RECOVERY, library()).gold.falsifier == "systemctl is-active postgresql"


def test_interventions_never_see_a_twins_parameters() -> None:
    resolved = resolve(RECOVERY, library())
    assert "redis" not in repr(resolved.gold)


@pytest.mark.parametrize("text", ["{{ failed | trim }}", "{{ failed ~ unit }}"])
def test_a_discovered_name_stands_alone(text: str) -> None:
    steps = (Step(discover="failed", run="true"), Step(run=text))
    scenario = dataclasses.replace(RECOVERY, gold=Intervention(name="gold", steps=steps, at=("interventions", "gold")))
    assert [code for code, _ in reasons(scenario)] == ["discovered-in-expression"]


def test_runtime_names_stay_in_tasks_and_all_else_is_concrete() -> None:
    fault = fault_of(
        Task(name="t", module="stat", arguments={"path": "{{ folder }}/a"}, register="found"),
        Task(
            name="t",
            module="copy",
            arguments={"dest": "{{ folder }}/{{ item }}", "content": "{{ text }}{{ found.stat.size }}"},
            when="found.stat.exists and {{ count }} > 2",
            loop="{{ found.results }}",
        ),
        folder="path",
        text="string",
        count="integer",
    )
    tasks = injected(fault, folder="/srv", text="{{ raw", count=3)
    assert tasks[0].arguments == {"path": "/srv/a"}
    assert tasks[1].arguments == {"dest": "/srv/{{ item }}", "content": "{{ '{' }}{ raw{{ found.stat.size }}"}
    assert tasks[1].when == "found.stat.exists and 3 > 2"
    assert tasks[1].loop == "{{ found.results }}"


@pytest.mark.parametrize(
    ("links", "names"), [(True, ["look", "write it", "change the kept one", "link"]), (False, None)]
)
def test_conditions_about_arguments_are_decided_at_once(links: bool, names: list[str] | None) -> None:
    pack = library()
    use = FaultUse(fault="write_files", arguments={"folder": "/srv", "text": "x", "links": links})
    tasks = resolve(dataclasses.replace(RECOVERY, faults=(use,)), pack).worlds[0].faults[0].inject
    assert [task.name for task in tasks] == (names or ["look", "write it", "change the kept one"])
    assert tasks[-1].when == (None if links else "kept.stat.exists")


def test_numbers_stand_for_text_where_text_is_declared() -> None:
    task = Task(
        name="t",
        module="iptables",
        arguments={"chain": "INPUT", "destination_port": "{{ port }}", "match": ("{{ port }}", "tcp")},
    )
    (resolved,) = injected(fault_of(task, port="port"), port=5432)
    assert resolved.arguments == {"chain": "INPUT", "destination_port": "5432", "match": ("5432", "tcp")}


def test_all_problems_are_found_at_once() -> None:
    scenario = dataclasses.replace(
        RECOVERY,
        system="mail-server",
        complaint="{{ nobody }}",
        faults=(
            FaultUse(fault="crash_servise", arguments={}, at=("faults", 0)),
            FaultUse(fault="crash_service", arguments={"unit": "a b", "signal": "TERM", "speed": 1}, at=("faults", 1)),
            FaultUse(fault="unmount", arguments={}, at=("faults", 2)),
        ),
        twins=(
            Variant(name="cache", parameters={"port": "no port", "folder": "{{ unit }}"}, at=("twins", "cache")),
            Variant(name="primary", parameters={"colour": "red"}, at=("twins", "primary")),
        ),
    )
    assert set(reasons(scenario)) == {
        ("unknown-system", "there is no system `mail-server`"),
        ("world-name-taken", "a world is already named `primary`"),
        ("unknown-name", "`nobody` is not known here"),
        ("unknown-fault", "there is no fault `crash_servise`"),
        ("unknown-argument", "the fault `crash_service` has no argument `speed`"),
        ("argument-not-a-choice", "`signal` cannot be `TERM`"),
        ("wrong-argument", "`unit` must be a systemd unit, and `a b` is not: no name of a unit"),
        ("missing-argument", "the fault `unmount` needs `path`"),
        ("parameter-is-template", "the parameter `folder` holds an expression"),
        ("parameter-changes-type", "`port` is text here and a number in the primary"),
        ("unknown-parameter", "the scenario has no parameter `colour`"),
    }


def test_a_twins_own_problem_is_told_of_the_twin() -> None:
    twin = Variant(name="cache", parameters={"port": 70000}, at=("twins", "cache"))
    found = reasons(dataclasses.replace(RECOVERY, twins=(twin,)))
    assert found == [("wrong-argument", "`port` must be a port, and `70000` is not: outside 1 to 65535")]


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (
            Task(name="t", module="file", arguments={"path": "{{ text }}"}),
            "an absolute path, and `not/absolute`",
        ),
        (Task(name="t", module="file", arguments={"path": "/{{ item }}"}), "`item` is not known here"),
        (Task(name="t", module="file", arguments={"path": "/a"}, when="text"), "neither true nor false"),
        (Task(name="t", module="file", arguments={"path": "{{ item ~ text }}"}, loop=("/a",)), "this mixes"),
        (Task(name="t", module="file", arguments={"path": "/a"}, when="item == text", loop=("/a",)), "this mixes"),
        (Task(name="t", module="file", arguments={"path": "/{{ item }}"}, loop="{{ text }}"), "`loop` must be a list"),
        (Task(name="t", module="file", arguments={"path": "{{ none_at_all }}"}), "`none_at_all` is not known"),
    ],
)
def test_what_a_fault_cannot_be_made_with_is_told_where_it_is_used(task: Task, reason: str) -> None:
    fault = fault_of(task, text="string")
    use = FaultUse(fault=fault.name, arguments={"text": "not/absolute"})
    scenario = dataclasses.replace(RECOVERY, faults=(use,), twins=(), controls=())
    ((code, message),) = reasons(scenario, with_fault(fault))
    assert code == "fault-cannot-be-made"
    assert message.startswith("the fault `probed` cannot be made with this: ")
    assert reason in message


def test_every_scenario_is_resolved_by_name_and_problems_of_all_are_gathered() -> None:
    assert [scenario.name for scenario in resolve_all(library())] == ["find-the-500", "process-recovery"]
    broken = [dataclasses.replace(RECOVERY, name=name, complaint="{{ nobody }}", twins=()) for name in ("b", "a")]
    with pytest.raises(Diagnostics) as caught:
        resolve_all(library(*broken))
    assert [each.source.path for each in caught.value.found] == ["scenario a", "scenario b"]
