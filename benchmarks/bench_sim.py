"""The simulated server: reset, commands, episode, gate, an hour, proving, memory. Medians; README.md has the method.

Run: python benchmarks/bench_sim.py
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

from runners.agents.gold import Gold
from runners.agents.protocol import Setting
from runners.backends.sim import SimBackend
from runners.episode import Repair, play
from runners.gate.bench import Bench
from runners.gate.examination import examine
from runners.opening import Site
from runners.prove.proving import prove_scenario
from starter import starter

REPEATS = 200
COMMANDS = (
    "true",
    "pwd",
    "echo hello",
    "cat /etc/hostname",
    "systemctl is-active nginx",
    "systemctl status nginx",
    "ls -l /etc/nginx",
    "grep -c 404 /var/log/nginx/access.log",
    "ss -tln",
    "ps aux",
    "curl -s http://localhost/health",
    "journalctl -u nginx -n 20 --no-pager",
)
SCENARIO = "process-recovery"
FEW = 10
"""Repeats of what takes long."""
IDLE_WORLDS = 5000


def median_seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The median processor time of one call, after a tenth of the repeats to warm up.

    Processor time, so that what else the machine is busy with counts less.
    """
    for _ in range(max(repeats // 10, 1)):
        work()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def main() -> None:
    bundle = starter()
    content = bundle.content
    scenario = content.scenarios[SCENARIO]
    world = scenario.worlds[0]
    backend = SimBackend()
    site = Site(content=content, scenario=scenario, backend=backend)

    floor = median_seconds(lambda: dict.fromkeys(range(1000)))
    print(f"floor: a dictionary of 1,000 entries        {1e6 * floor:9.1f} µs   (n = {REPEATS}, medians throughout)")

    begun = time.process_time()
    site.healthy(world, seed=0).close()
    print(
        f"first boot of the system                    {1e3 * (time.process_time() - begun):9.1f} ms   (once a process)"
    )

    seeds = iter(range(10**9))
    opened = median_seconds(lambda: site.healthy(world, seed=next(seeds)).close())
    print(f"reset: a fresh healthy world                {1e6 * opened:9.1f} µs   {opened / floor:7.1f} × floor")

    live = site.healthy(world, seed=1)
    for command in COMMANDS:
        taken = median_seconds(partial(live.run, command, output_bytes=16384, seconds=60.0))
        print(f"command: {command:<35}{1e6 * taken:9.1f} µs   {taken / floor:7.1f} × floor")
    live.close()

    def episode() -> None:
        broken = site.broken(world, seed=next(seeds))
        agent = Gold()(Setting(scenario=scenario, world=world, seed=0, attempt=0))
        result = play(broken, scenario, world, agent, scenario.limits)
        broken.close()
        assert result.recovered, result.unmet

    taken = median_seconds(episode)
    print(f"a full gold episode of {SCENARIO}     {1e6 * taken:9.1f} µs   {1 / taken:7.0f} a second a core")

    bench = Bench(site=site, limits=scenario.limits, seed=1)
    mended = Repair(submitted=scenario.gold, typed=())
    taken = median_seconds(lambda: examine(bench, mended), REPEATS // 4)
    print(f"the gate: five worlds                       {1e3 * taken:9.1f} ms")

    def hour() -> None:
        idle = site.healthy(world, seed=next(seeds))
        idle.wait(3600.0)
        idle.close()

    taken = median_seconds(hour, FEW)
    print(f"an hour of virtual time, with its traffic   {1e3 * taken:9.1f} ms   {3600 / taken:7.0f} × real time")

    taken = median_seconds(lambda: prove_scenario(content, SCENARIO, backend, 2), FEW)
    print(f"proving {SCENARIO}                    {1e3 * taken:9.1f} ms")

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    worlds = [site.healthy(world, seed=seed) for seed in range(IDLE_WORLDS)]
    each = (tracemalloc.get_traced_memory()[0] - before) / IDLE_WORLDS
    tracemalloc.stop()
    print(f"an idle world, {IDLE_WORLDS} alive at once           {each / 1024:9.1f} KiB")
    for idle in worlds:
        idle.close()


if __name__ == "__main__":
    main()
