"""A Ray run against the same episodes in one process, with the same writer. Medians of alternating runs.

Run: python benchmarks/bench_pool.py [ATTEMPTS [RUNS]]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from runners.agents.registry import parse_agent
from runners.backends.sim import SimBackend
from runners.plan import plan
from runners.pool.executor import Executor
from runners.pool.local import LocalExecutor
from runners.pool.ray_pool import RayExecutor
from runners.run import run
from starter import starter

AGENTS = ("gold", "bad", "random", "nop")


def main() -> None:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    bundle = starter()
    agents = [parse_agent(name) for name in AGENTS]
    resolved = plan([bundle], agents, backends=("sim",), attempts=attempts)
    print(f"{resolved.size} episodes, {os.cpu_count()} cores, median of {runs} alternating runs")

    def once(executor: Executor) -> tuple[float, float]:
        """(start-up, playing) in seconds."""
        with tempfile.TemporaryDirectory() as folder:
            summary = run(resolved, [bundle], agents, (SimBackend(),), Path(folder) / "run", executor=executor)
        assert summary.done == resolved.size, summary
        assert summary.errored == 0, summary
        return summary.seconds

    local: list[float] = []
    spread: list[float] = []
    starts: list[float] = []
    for _ in range(runs):
        local.append(once(LocalExecutor())[1])
        start, playing = once(RayExecutor())
        starts.append(start)
        spread.append(playing)
    one, many = statistics.median(local), statistics.median(spread)
    print(f"one process   {one:7.2f} s   {resolved.size / one:7.0f} episodes/s   (the floor)")
    print(
        f"ray           {many:7.2f} s   {resolved.size / many:7.0f} episodes/s"
        f"   (start-up apart: {statistics.median(starts):.1f} s)"
    )
    print(f"ratio         {one / many:7.2f} × the throughput of one process")


if __name__ == "__main__":
    main()
