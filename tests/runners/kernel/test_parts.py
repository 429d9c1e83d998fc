"""What needs no machine: probes over measurements, what is unsupported and why, recipes, readiness."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from breakfix.content import SHIPPED
from compiler.capabilities import CAPABILITIES
from compiler.model import PackContent
from compiler.resolve import resolve
from runners.backends.registry import find_backend
from runners.kernel.image import find, image_name, remove_old
from runners.kernel.link import Link
from runners.kernel.probes import _EVALUATORS, evaluate
from runners.kernel.readiness import needs
from runners.kernel.recipe import Recipe
from runners.kernel.world import failure, program
from runners.worlds import WorldError
from scenario_dsl.errors import HostError
from scenario_dsl.library import load_library
from scenario_dsl.model import Library, Probe, Task

PACK = Path(__file__).parents[3] / "kernel_packs/scheduling"
GUEST = Path(__file__).parents[3] / "runners/kernel/guest"
ACKNOWLEDGED = {"id": 7, "profile": "priority", "generation": 3}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(PACK, SHIPPED)


@pytest.fixture(scope="module")
def content(library: Library) -> PackContent:
    scenarios = {name: resolve(scenario, library) for name, scenario in library.scenarios.items()}
    return PackContent(
        name="scheduling", version="0", digest="0" * 64, canary="", policies=(), systems=library.systems,
        scenarios=scenarios,
    )  # fmt: skip


def measured(**scheduler: Any) -> dict[str, Any]:
    status = {"state": "disabled", "request": None, "id": None, "generation": 0, "acknowledged": None}
    status |= {"ejected": None, "events": [], "watched": True}
    loads = {
        "checkout": {
            "kind": 1,
            "group": "checkout",
            "given_up": 0,
            "ns": {"50": 900, "90": 950, "95": 960, "99": 4000},
        },
        "report-a": {"kind": 2, "group": "report-a", "given_up": 0, "share": 0.3},
        "report-b": {"kind": 2, "group": "report-b", "given_up": 0, "share": 0.25},
    }
    return {"loads": loads, "scheduler": status | scheduler}


def holds(kind: str, now: dict[str, Any] | None = None, **arguments: Any) -> bool:
    return evaluate(Probe(type=kind, arguments=arguments), now or measured(), {"checkout": 1000}).holds


def test_every_probe_that_it_takes_is_judged() -> None:
    assert set(_EVALUATORS) == set(CAPABILITIES["kernel"].probes)


def test_latency_is_a_ratio_against_the_quiet_machine() -> None:
    assert holds("latency", service="checkout", ratio_at_most=4)
    assert not holds("latency", service="checkout", ratio_at_most=3.9)
    assert holds("latency", service="checkout", ratio_at_least=4)
    assert holds("latency", service="checkout", percentile=95, ratio_at_most=1)
    assert not holds("latency", service="elsewhere", ratio_at_most=100)
    assert not holds("latency", service="report-a", ratio_at_most=100)


def test_throughput_is_a_share_of_the_machine() -> None:
    assert holds("throughput", share_at_least=0.5)
    assert not holds("throughput", share_at_least=0.6)
    assert not holds("throughput", loads=("report-a",), share_at_least=0.5)
    assert not holds("throughput", loads=("report-a", "gone"), share_at_least=0.5)
    assert holds("throughput", loads=("gone",), share_at_least=0.5)
    assert not holds("throughput", share_at_most=0.5)


@pytest.mark.parametrize(
    ("request_", "identity", "generation", "said", "holds_"),
    [
        ({"profile": "priority"}, 7, 3, ACKNOWLEDGED, True),
        ({"profile": "priority"}, 8, 3, ACKNOWLEDGED, False),
        ({"profile": "priority"}, 7, 4, ACKNOWLEDGED, False),
        ({"profile": "weighted"}, 7, 3, ACKNOWLEDGED, False),
        ({"profile": "priority"}, 7, 3, None, False),
        (None, None, 3, ACKNOWLEDGED, False),
    ],
)
def test_only_the_very_request_is_an_acknowledgement(
    request_: object, identity: object, generation: int, said: object, holds_: bool
) -> None:
    now = measured(state="enabled", request=request_, id=identity, generation=generation, acknowledged=said)
    assert holds("scheduler", now, acknowledged=True) is holds_


def test_what_was_thrown_out_is_told() -> None:
    assert holds("scheduler", ejected=False)
    assert not holds("scheduler", measured(ejected={"kind": 1026, "reason": "stall", "message": ""}), ejected=False)
    assert not holds("scheduler", measured(events=["3.1 the scheduler stalled"]), ejected=False)


def test_whose_fault_it_is() -> None:
    """A stall comes of a request; that the loader or the watchdog is gone does not."""
    assert failure(measured(events=["3.1 the scheduler stalled"])["scheduler"]) is None
    assert failure(measured(events=["3.1 the loader died"])["scheduler"]) == "the loader died"
    assert failure(measured(watched=False)["scheduler"]) == "the watchdog of the scheduler is gone"


def test_other_backends_say_why_not(content: PackContent) -> None:
    for scenario in content.scenarios.values():
        assert "its processors are not shared out" in str(find_backend("sim").unsupported(content, scenario))
        assert "the scheduler of a container is the host's" in str(
            find_backend("container").unsupported(content, scenario)
        )
        # Where something is lacking, it is this machine and not the scenario.
        here = find_backend("kernel").unsupported(content, scenario)
        assert here is None or here.startswith("there is no usable host here: ")


def test_without_a_usable_host_it_is_unsupported(
    content: PackContent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for needed in ("qemu-system-x86_64", "ssh", "setpriv"):
        (tmp_path / needed).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BREAKFIX_CACHE", str(tmp_path))
    backend, scenario = find_backend("kernel"), content.scenarios["noisy-neighbour"]
    assert "image of the system sched-ext-vm is not built here" in str(backend.unsupported(content, scenario))
    (tmp_path / "qemu-system-x86_64").unlink()
    assert "qemu-system-x86_64 is not installed (apt-get install" in str(backend.unsupported(content, scenario))


def test_old_images_go_when_a_new_one_comes(tmp_path: Path) -> None:
    """All but those of other systems and those that a machine runs on, with the packages that nobody is made of."""
    for name, system, base in (
        ("vm-new", "ours", "base-b"),
        ("vm-old", "ours", "base-a"),
        ("vm-used", "ours", "base-c"),
        ("vm-other", "theirs", "base-b"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "image.json").write_text(json.dumps({"system": system, "base": base}))
        (tmp_path / base).mkdir(exist_ok=True)
    (tmp_path / "vm-new.123").mkdir()
    (tmp_path / "running").mkdir()
    (tmp_path / "running/breakfix-vm-x.json").write_text(json.dumps({"image": "vm-used"}))
    (tmp_path / "running/gone.json").write_text("")
    assert remove_old(tmp_path, tmp_path / "vm-new") == ("base-a", "vm-new.123", "vm-old")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"vm-new", "vm-used", "vm-other", "base-b", "base-c", "running"}


def test_what_the_kernel_backend_does_not_take_is_named(content: PackContent, library: Library) -> None:
    backend = find_backend("kernel")
    scenario = content.scenarios["noisy-neighbour"]
    world = scenario.worlds[0]
    fault = replace(world.faults[0], inject=(replace(world.faults[0].inject[0], loop=("a",)),))
    looped = replace(scenario, worlds=(replace(world, faults=(fault,)),))
    assert "uses loop: tasks run here as they are" in str(backend.unsupported(content, looped))
    plain = replace(library.systems["sched-ext-vm"], settings={})
    elsewhere = replace(content, systems={"sched-ext-vm": plain})
    assert "is no host with sched_ext" in str(backend.unsupported(elsewhere, scenario))


def test_a_recipe_is_read_off_the_description(library: Library) -> None:
    recipe = Recipe.of(library.systems["sched-ext-vm"])
    assert [(one.name, one.group, one.every_us, one.work_us) for one in recipe.services] == [
        ("checkout", "checkout", 5000, 1000)
    ]
    assert set(recipe.objects) <= set(recipe.files)
    assert set(recipe.programs.values()) <= set(recipe.files)


def test_bpf_sources_are_marked_gpl(library: Library) -> None:
    files = Recipe.of(library.systems["sched-ext-vm"]).files
    assert files
    for path, text in files.items():
        assert text.startswith("/* SPDX-License-Identifier: GPL-2.0 */"), path


def test_an_image_is_known_by_its_description(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system = library.systems["sched-ext-vm"]
    changed = replace(system, files=(replace(system.files[0], content="/* other */"), *system.files[1:]))
    assert image_name(system) != image_name(changed)
    monkeypatch.setenv("BREAKFIX_CACHE", str(tmp_path))
    with pytest.raises(HostError, match="is not built here") as raised:
        find(system)
    assert "breakfix image build sched-ext-vm" in raised.value.remedy
    assert any(need.name == "a virtual machine's image" and need.remedy for need in needs())


def test_tasks_are_programs() -> None:
    assert program(Task(name="", module="command", arguments={"argv": ("load", "stop", "x y")})) == [
        "load", "stop", "x y",
    ]  # fmt: skip
    assert program(Task(name="", module="command", arguments={"cmd": "load stop 'x y'"})) == ["load", "stop", "x y"]
    assert program(Task(name="", module="shell", arguments={"cmd": "a | b"})) == ["/bin/sh", "-c", "a | b"]


@pytest.mark.skipif(os.path.exists("/sys/kernel/sched_ext"), reason="this machine's own kernel has sched_ext")
def test_a_kernel_without_sched_ext_is_refused_by_name() -> None:
    with pytest.raises(WorldError, match=r"has no sched_ext: it needs CONFIG_SCHED_CLASS_EXT"):
        Link((), (sys.executable, str(GUEST / "warden.py")))
