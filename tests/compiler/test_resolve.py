from __future__ import annotations

import dataclasses
import pickle

import pytest

from compiler.model import Answer, Probe
from compiler.resolve import resolve, resolve_all
from compiler.unresolved import Unresolved
from scenario_dsl.model import (
    Fault,
    FaultUse,
    Intervention,
    Library,
    Parameter,
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


def reasons(scenario: Scenario, pack: Library | None = None) -> str:
    with pytest.raises(Unresolved) as caught:
        resolve(scenario, pack or library())
    return str(caught.value)


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
    assert resolved.hints == ("Ask about postgresql.",)
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
    assert "interventions.gold.steps.1 (world primary)" in reasons(scenario)


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


def test_all_problems_are_found_at_once_and_say_where() -> None:
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
    found = reasons(scenario).splitlines()
    expected = [
        "scenario process-recovery (world primary): there is no system mail-server",
        "scenario process-recovery at twins.primary (world primary): two worlds are called 'primary'",
        "scenario process-recovery at complaint (world primary): {{ nobody }}: `nobody` is not known here",
        "scenario process-recovery at faults.0 (world primary): there is no fault crash_servise; did you mean "
        "crash_service?",
        "scenario process-recovery at faults.1 (world primary): fault crash_service: there is no argument speed",
        "scenario process-recovery at faults.1 (world primary): fault crash_service: `signal` is 'TERM', not one of "
        "KILL, SEGV",
        "scenario process-recovery at faults.1 (world primary): fault crash_service: unit: no name of a unit",
        "scenario process-recovery at faults.2 (world primary): fault unmount: the argument `path` is missing",
        "scenario process-recovery at twins.cache.folder (world cache): a parameter is a plain value, not a template",
        "scenario process-recovery at twins.primary (world primary): `colour` is not a parameter of the scenario",
    ]
    assert [line for line in expected if line not in found] == []
    assert any("world cache" in line and "probe socket: port: not a whole number" in line for line in found)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (Task(name="t", module="file", arguments={"path": "{{ text }}"}), "module file: path: not absolute"),
        (Task(name="t", module="file", arguments={}), "the argument `path` is missing"),
        (Task(name="t", module="fetch", arguments={}), "there is no module fetch"),
        (Task(name="t", module="file", arguments={"path": "/a", "own": "x"}), "there is no argument own"),
        (Task(name="t", module="file", arguments={"path": "/{{ item }}"}), "`item` is not known here"),
        (Task(name="t", module="file", arguments={"path": "/a"}, when="text"), "neither true nor false"),
        (Task(name="t", module="file", arguments={"path": "{{ item ~ text }}"}, loop=("/a",)), "use two expressions"),
        (Task(name="t", module="file", arguments={"path": "/a"}, when="item == text", loop=("/a",)), "{{ text }}"),
    ],
)
def test_what_is_wrong_in_a_fault_is_said_of_the_fault(task: Task, reason: str) -> None:
    fault = fault_of(task, text="string")
    use = FaultUse(fault=fault.name, arguments={"text": "not/absolute"})
    text = reasons(dataclasses.replace(RECOVERY, faults=(use,), twins=(), controls=()), with_fault(fault))
    assert reason in text
    assert text.startswith("fault probed at inject.0 (world primary): ")


def test_every_scenario_is_resolved_by_name_and_problems_of_all_are_gathered() -> None:
    assert [scenario.name for scenario in resolve_all(library())] == ["find-the-500", "process-recovery"]
    broken = [dataclasses.replace(RECOVERY, name=name, complaint="{{ nobody }}", twins=()) for name in ("b", "a")]
    with pytest.raises(Unresolved) as caught:
        resolve_all(library(*broken))
    assert [problem.document for problem in caught.value.problems] == ["scenario a", "scenario b"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
