"""Fresh worlds for the gate's checks, and playing an intervention in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runners.agents.interventional import InterventionAgent
from runners.episode import Episode, play
from runners.opening import Site
from runners.seeds import derive
from runners.worlds import LiveWorld
from scenario_dsl.model import Intervention, Limits
from scenario_dsl.worlds import World


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

    def replay(self, live: LiveWorld, world: World, intervention: Intervention) -> Episode:
        """Play the intervention as a whole episode: with cascades, objectives and invariants."""
        agent = InterventionAgent(intervention, submit=False)
        return play(live, self.site.scenario, world, agent, self.limits)
