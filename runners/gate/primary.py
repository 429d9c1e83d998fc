"""Primary: is what was broken repaired, and does it stay so?"""

from __future__ import annotations

from runners.episode import Episode
from runners.gate.bench import Bench
from runners.gate.wording import recovery
from runners.records import GateFact, Means
from scenario_dsl.model import Intervention


def by_episode(episode: Episode, world: str) -> GateFact:
    """From the agent's own episode in the primary."""
    return recovery("primary", world, "policy", episode)


def by_intervention(bench: Bench, intervention: Intervention) -> GateFact:
    """Does the document alone, without whatever else the agent did, repair a fresh primary?"""
    means: Means = "intervention"
    with bench.broken(bench.primary) as live:
        episode = bench.replay(live, bench.primary, intervention)
    return recovery("primary", bench.primary.name, means, episode)
