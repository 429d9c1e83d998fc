"""Twin: is the same cause repaired where it shows on another surface?"""

from __future__ import annotations

from runners.episode import Episode
from runners.gate.bench import Bench
from runners.gate.wording import recovery
from runners.records import GateFact
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import World


def by_episode(episode: Episode, world: str) -> GateFact:
    """By policy: the agent itself was put into the twin afresh."""
    return recovery("twin", world, "policy", episode)


def by_intervention(bench: Bench, world: World, intervention: Intervention) -> GateFact:
    """The steps are replayed; only what they discover there can make them fit."""
    with bench.broken(world) as live:
        episode = bench.replay(live, world, intervention)
    return recovery("twin", world.name, "intervention", episode)
