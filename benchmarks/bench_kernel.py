"""What worlds on a virtual machine with sched_ext cost, and what policies are worth there. Medians, and ratios.

Run, with an image (docs/kernel.md): python benchmarks/bench_kernel.py [RUNS]
For how often a scenario's players keep what it asks for: bench_kernel.py rounds SCENARIO [TIMES [FILE]]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernel_rounds import rounds

from breakfix.content import SHIPPED
from runners.kernel.host import Host, boot
from runners.kernel.image import find
from runners.kernel.recipe import Recipe
from scenario_dsl.errors import HostError
from scenario_dsl.library import load_library

RUNS, ROUNDS = 5, 10
LOADS = tuple(f"report-{letter}" for letter in "abcdef")
POLICIES = {
    "EEVDF, equal weights": "true",
    "EEVDF, cpu.weight=10000": "echo 10000 > /sys/fs/cgroup/checkout/cpu.weight",
    "sched_ext, weighted 600:100": "schedctl weighted checkout=600 --slice-us 1000",
    "sched_ext, priority": "schedctl priority --first checkout",
}
"""Each from a fresh world with six loads beside the service."""


def main() -> None:
    if sys.argv[1:2] == ["rounds"]:
        log = Path(sys.argv[4]) if len(sys.argv) > 4 else None
        rounds(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS, log)
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    pack = Path(__file__).parent.parent / "kernel_packs/scheduling"
    system = load_library(pack, SHIPPED).systems["sched-ext-vm"]
    recipe = Recipe.of(system)
    try:
        image = find(system)
        took, host = timed(lambda: boot(image, recipe))
    except HostError as missing:
        print(f"NOTHING MEASURED: {missing} ({missing.remedy})")
        return
    try:
        print(f"{'boot, link, quiet baseline':<30}{took:7.2f} s   (n = 1)")
        costs(host, recipe, runs)
        quiet = host.quiet["checkout"]
        print(f"{'policy':<30}{'p99':>9}{'ratio':>8}{'loads':>8}   (medians of {runs} windows of a second)")
        for name, command in POLICIES.items():
            policy(host, recipe, name, command, runs, quiet)
    finally:
        host.close()


def costs(host: Host, recipe: Recipe, runs: int) -> None:
    found: dict[str, list[float]] = {"a world opened and reset": [], "one look": [], "a change, acknowledged": []}
    for _ in range(runs):
        opening, _ = timed(lambda: host.open(recipe.services))
        begin(host)
        found["one look"].append(timed(lambda: host.ask("measure"))[0])
        run(host, "true")
        found["a change, acknowledged"].append(timed(lambda: run(host, POLICIES["sched_ext, priority"]))[0])
        found["a world opened and reset"].append(opening + timed(host.reset)[0])
    for name, seconds in found.items():
        print(f"{name:<30}{statistics.median(seconds):7.2f} s   (n = {runs})")


def policy(host: Host, recipe: Recipe, name: str, command: str, runs: int, quiet: int) -> None:
    host.open(recipe.services)
    begin(host)
    run(host, command)
    host.ask("wait", seconds=1.0)
    seen = [host.ask("measure")["loads"] for _ in range(runs)]
    p99 = statistics.median(loads["checkout"]["ns"]["99"] for loads in seen)
    share = statistics.median(sum(loads[one]["share"] for one in LOADS) for loads in seen)
    print(f"{name:<30}{p99 / 1e6:6.2f} ms{p99 / quiet:8.1f}{share:8.2f}")
    host.reset()


def begin(host: Host) -> None:
    for name in LOADS:
        host.ask("apply", argv=["/usr/bin/load", "start", name, name, "batch", "burn"])


def run(host: Host, command: str) -> None:
    done = host.ask("run", command=command, seconds=30, keep=4096)
    assert done["exit_code"] == 0, done


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.monotonic()
    result = work()
    return time.monotonic() - begun, result


if __name__ == "__main__":
    main()
