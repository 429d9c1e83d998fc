"""Fresh worlds for the gate's checks, and playing in one between two pictures of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Agent
from runners.episode import Episode, Repair, play, unnoticed
from runners.opening import Site
from runners.seeds import derive
from runners.worlds import Facts, LiveWorld
from scenario_dsl.model import Intervention, Limits
from scenario_dsl.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An episode, and its world right before it and after all had settled."""

    world: World
    episode: Episode
    before: Facts
    after: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where one attempt is examined. `seed` is the attempt's own: the primary's worlds are opened with it, so that what
    was typed there (a process id, say) means the same again; other worlds get seeds derived from it."""

    site: Site
    limits: Limits
    seed: int

    @property
    def primary(self) -> World:
        return self.site.scenario.worlds[0]

    def seed_for(self, world: World) -> int:
        if world.role == "primary":
            return self.seed
        return derive(self.seed, world.name)

    @contextmanager
    def broken(self, world: World) -> Iterator[LiveWorld]:
        """A fresh world in trouble, closed afterwards."""
        live = self.site.broken(world, seed=self.seed_for(world))
        try:
            yield live
        finally:
            live.close()

    def play(self, live: LiveWorld, world: World, agent: Agent, met: Callable[[Repair], None] = unnoticed) -> Played:
        """An agent's whole episode in a world that is open: with cascades, objectives and invariants. met: see
        `runners.episode.play`."""
        before = live.facts()
        episode = play(live, self.site.scenario, world, agent, self.limits, met)
        return Played(world=world, episode=episode, before=before, after=live.facts())

    def solution(self, world: World) -> Played:
        """The scenario's own solution, played once for all attempts in one process: what it touches does not depend on
        who was there before."""
        # One at a time: others that want it meanwhile wait for it instead of playing it too.
        with self.site.solving:
            known = self.site.solutions.get(world.name)
            if not isinstance(known, Played):
                known = Bench(site=self.site, limits=self.site.scenario.limits, seed=0).replay(
                    world, self.site.scenario.gold
                )
                self.site.solutions[world.name] = known
            return known

    def replay(self, world: World, intervention: Intervention, met: Callable[[Repair], None] = unnoticed) -> Played:
        """The intervention as an episode in a fresh world."""
        with self.broken(world) as live:
            return self.play(live, world, InterventionAgent(intervention, submit=False), met)
