"""Worlds of the small system, for tests: opened by a backend, without bundles and keys."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from compiler.model import PackContent
from runners.worlds import Backend, LiveWorld
from scenario_dsl.diagnostics import render_text
from scenario_dsl.library import load_library
from scenario_dsl.model import FaultUse, Intervention, Library, Limits, Objective, Probe, Reward, Task
from scenario_dsl.nodes import stand_in
from scenario_dsl.realise.faults import use_faults
from scenario_dsl.realise.known import known_of
from scenario_dsl.realise.texts import Scope
from scenario_dsl.values import Value, freeze
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario, World

ROOT = Path(__file__).parents[2]


@lru_cache(maxsize=1)
def library() -> Library:
    return load_library(Path(__file__).parent / "small", [ROOT / "packs"])


def content() -> PackContent:
    return PackContent(
        name="small", version="0.1.0", digest="0" * 64, canary="", policies=(), systems=library().systems, scenarios={}
    )


def world() -> World:
    return World(
        name="primary",
        role="primary",
        parameters={},
        complaint="",
        faults=(),
        cascades=(),
        objectives=(),
        invariants=(),
    )


def scenario(system: str) -> ResolvedScenario:
    return ResolvedScenario(
        name="nothing", title="", kind="repair", difficulty="easy", split="train", tags=(), system=system,
        worlds=(world(),), gold=Intervention(name="gold", steps=()), bad=(), reward=Reward(),
        limits=Limits(),
    )  # fmt: skip


def open_small(backend: Backend, *, seed: int = 0) -> LiveWorld:
    return open_system(backend, "small", seed=seed)


def open_system(backend: Backend, system: str, *, seed: int = 0) -> LiveWorld:
    """A healthy world of one of the pack's systems: its own small one, or the common web server."""
    # What is measured has to be there in its described size.
    room = Objective(name="room", points=1.0, check=probe("disk", path="/var/log", used_percent_at_most=99))
    measuring = replace(world(), objectives=(room,))
    return backend.open(content(), replace(scenario(system), worlds=(measuring,)), measuring, seed=seed)


def fault(name: str, arguments: dict[str, object]) -> ResolvedFault:
    """A fault of the common pack with its arguments put in."""
    given = freeze(arguments)
    assert isinstance(given, dict)
    scope = Scope(stand_in(f"fault {name}"), {}, [])
    made = use_faults(scope, [FaultUse(fault=name, arguments=given)], known_of(library()))
    assert not scope.found, render_text(scope.found)
    return made[0]


def probe(kind: str, /, **arguments: object) -> Probe:
    given = freeze(arguments)
    assert isinstance(given, dict)
    return Probe(type=kind, arguments=given)


def task(module: str, /, **arguments: object) -> Task:
    given: Value = freeze(arguments)
    assert isinstance(given, dict)
    return Task(name=module, module=module, arguments=given)


def run(live: LiveWorld, command: str) -> str:
    """What a command prints, both streams."""
    return live.run(command, output_bytes=1 << 16, seconds=120).output.decode("utf-8", "replace")
