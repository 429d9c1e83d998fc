"""What the gate adds to an episode in containers, beside what it takes to boot as many worlds. Medians of alternating
runs: an episode with the gate and one without it.

Run, as root and with an engine (docs/containers.md): python benchmarks/bench_container_gate.py [RUNS]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from bench_container import floor, prepared

from runners.prove.case import Case
from runners.records import judge
from starter import starter

RUNS = 5


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    site, engine, system = prepared(starter())
    scenario, case = site.scenario, Case(site, repeats=1)
    worlds = len(scenario.worlds) + 2  # repeat and reversibility have one each
    # The first time, Ansible tells each world its faults, and the solution is played for its bystanders.
    verdict = judge([case.intervene(case.primary, scenario.gold)])
    assert verdict == "VERIFIED", verdict
    floors: list[float] = []
    together: list[float] = []
    gates: list[float] = []
    for _ in range(runs):
        floors.append(floor(engine, system))
        together.append(timed(lambda: case.each(lambda _: floor(engine, system), range(worlds))))
        alone = timed(lambda: case.intervene(case.primary, scenario.gold, gate=lambda: False))
        gates.append(timed(lambda: case.intervene(case.primary, scenario.gold)) - alone)
    base = statistics.median(floors)
    print(f"create, start, systemd up    {base:7.2f} s   (the floor; n = {runs}, medians throughout)")
    for name, times in ((f"{worlds} of them at once", together), (f"the gate: {worlds} worlds", gates)):
        taken = statistics.median(times)
        print(f"{name:<28} {taken:7.2f} s   {taken / base:5.2f} × floor")


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
