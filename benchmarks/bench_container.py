"""What worlds in containers cost, beside what the engine itself takes to boot one. Medians of alternating runs.

Run, as root and with an engine (docs/containers.md): python benchmarks/bench_container.py [RUNS [AT_ONCE]]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from compiler.verify import VerifiedBundle
from runners.agents.registry import parse_agent
from runners.backends.container import ContainerBackend
from runners.hosts.box import Box
from runners.hosts.engine import Engine
from runners.hosts.images import find
from runners.hosts.outside import Outside
from runners.opening import Site, inject, wait_for_witness
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.records_io import read_records
from runners.run import run
from runners.system import SystemSpec
from runners.turns import Turns
from runners.worlds import LiveWorld
from scenario_dsl.errors import HostError
from scenario_dsl.model import System
from starter import starter

RUNS, AT_ONCE = 7, 16
SCENARIO = "permission-repair"


def main() -> None:
    runs, at_once = (int(value) for value in (*sys.argv[1:3], *(str(RUNS), str(AT_ONCE))[len(sys.argv[1:3]) :]))
    bundle = starter()
    site, engine, system = prepared(bundle)
    # The first one is told by Ansible; the others are told the same again.
    site.broken(site.scenario.worlds[0], seed=0).close()
    floors: list[float] = []
    resets: list[float] = []
    warm: list[float] = []
    for number in range(runs):
        floors.append(floor(engine, system))
        resets.append(reset(site, number))
        warm.append(warm_start(site, number))
    base = statistics.median(floors)
    print(f"{'create, start, systemd up':<28}{base:7.2f} s   (the floor; n = {runs}, medians throughout)")
    for name, times in (("a world in trouble", resets), ("start in a warm world", warm)):
        taken = statistics.median(times)
        print(f"{name:<28}{taken:7.3f} s   {taken / base:5.2f} × floor")
    many(bundle, at_once, base)


def prepared(bundle: VerifiedBundle) -> tuple[Site, Engine, System]:
    """Where the scenario is played, on what, and its system. Ends all where there is no engine or no image."""
    scenario = bundle.content.scenarios[SCENARIO]
    system = bundle.content.systems[scenario.system]
    try:
        engine = Engine.connect()
        find(engine, system)
    except HostError as missing:
        print(f"NOTHING MEASURED: {missing} ({missing.remedy})")
        raise SystemExit(0) from None
    return Site(content=bundle.content, scenario=scenario, backend=ContainerBackend()), engine, system


def floor(engine: Engine, system: System) -> float:
    """Seconds until the engine has a container whose systemd says that it is up."""
    spec, image = SystemSpec.of(system), find(engine, system)
    begun = time.perf_counter()
    box = Box(engine, spec, image, kind="world")
    try:
        box.start()
        outside = Outside(box, spec, None)
        outside.manager.wait_until_up((), box.runs)
        taken = time.perf_counter() - begun
        outside.close()
    finally:
        box.close()
    return taken


def reset(site: Site, seed: int) -> float:
    """Seconds until a fresh world is open, broken and witnessed; how long it has been so is the scenario's matter."""
    world = site.scenario.worlds[0]
    begun = time.perf_counter()
    live = site.healthy(world, seed=seed)
    try:
        inject(live, world.faults)
        unseen = wait_for_witness(live, world.faults)
        assert unseen is None, unseen
        return time.perf_counter() - begun
    finally:
        live.close()


def warm_start(site: Site, seed: int) -> float:
    """Seconds from a place that becomes free to the first answer of a world that was prepared meanwhile."""
    turns, ready = Turns(1, 1), threading.Event()
    started: list[float] = []

    def prepare() -> LiveWorld:
        live = site.broken(site.scenario.worlds[0], seed=seed)
        ready.set()
        return live

    def play() -> None:
        with turns.take(prepare) as live:
            live.run("true", output_bytes=100, seconds=10)
            started.append(time.perf_counter())
            live.close()

    with turns.take(_Nothing):
        next_one = threading.Thread(target=play)
        next_one.start()
        ready.wait()
        time.sleep(0.2)
        begun = time.perf_counter()
    next_one.join()
    return started[0] - begun


class _Nothing:
    def close(self) -> None:
        """There is nothing to close."""


def many(bundle: VerifiedBundle, at_once: int, base: float) -> None:
    """So many episodes at once: how long, and how they ended."""
    agents = (parse_agent("nop"),)
    made = plan(
        (bundle,), agents, backends=("container",), scenarios=(SCENARIO,), worlds=("primary",), attempts=at_once
    )
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        backend = ContainerBackend(at_once=at_once)
        run(made, (bundle,), agents, (backend,), Path(folder) / "run", executor=LocalExecutor())
        taken = time.perf_counter() - begun
        outcomes = Counter(record.outcome for record in read_records(Path(folder) / "run"))
    ended = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    print(f"{f'{at_once} episodes at once':<28}{taken:7.1f} s   {taken / base:5.1f} × floor   {ended}")


if __name__ == "__main__":
    main()
