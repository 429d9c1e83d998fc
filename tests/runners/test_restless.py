"""Machines that do something by themselves while somebody only looks: it is held against no step of gold."""

from __future__ import annotations

from compiler.model import PackContent
from runners.opening import Site
from runners.prove.case import Case
from runners.prove.mutation import _effects
from runners.turns import Turns
from runners.worlds import Facts
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import repair, site_of
from tests.runners.toy import Machine, ToyBackend, ToyWorld


class Rotating(ToyWorld):
    """A job of its own writes a file just before the facts are taken for so many a time."""

    def __init__(self, machine: Machine, at: int) -> None:
        super().__init__(machine)
        self.at = at

    def facts(self) -> Facts:
        self.at -= 1
        if self.at == 0:
            self.machine.files["/etc/rotated"] = "by cron"
        return super().facts()


class Restless(ToyBackend):
    """The first world that is opened lives by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once, self.turns, self.opened = 2, Turns(2, 1), 0

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        self.opened += 1
        return Rotating(super().open(content, scenario, world, seed=seed).machine, 2 if self.opened == 1 else 0)

    def abandon(self) -> None:
        """Nobody interrupts."""


def effects(backend: ToyBackend) -> frozenset[int]:
    site: Site = site_of(repair(), backend)
    return frozenset(_effects(Case(site, repeats=1)).steps)


def test_what_a_machine_does_by_itself_is_no_effect_of_a_step() -> None:
    known = effects(ToyBackend())
    assert 0 not in known  # gold begins with a look
    assert effects(Restless()) == known
