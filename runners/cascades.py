"""When trouble spreads: which cascades are due, given which conditions hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenario_dsl.model import Probe
from scenario_dsl.worlds import ResolvedCascade, World


@dataclass(slots=True)
class _Rule:
    cascade: ResolvedCascade
    since: tuple[int, float] | None = None
    """Command number and seconds at which the condition became true; None while it is false."""
    spent: bool = False


class CascadeClock:
    """Follows the conditions of a world's cascades.

    A cascade is due once its condition has held for its whole delay; a condition that ends before starts over. A
    repeating one is due again only after its condition was false in between.
    """

    def __init__(self, world: World) -> None:
        self._rules = [_Rule(cascade) for cascade in world.cascades]

    def conditions(self) -> tuple[Probe, ...]:
        """The conditions worth evaluating now. `due` takes their truth in the same order."""
        return tuple(rule.cascade.when for rule in self._rules if self._open(rule))

    def due(self, holds: Sequence[bool], command: int, seconds: float) -> tuple[ResolvedCascade, ...]:
        """The cascades to fire now, in document order; each is then taken as fired."""
        firing: list[ResolvedCascade] = []
        for rule, held in zip([rule for rule in self._rules if self._open(rule)], holds, strict=True):
            if not held:
                rule.since, rule.spent = None, False
                continue
            if rule.since is None:
                rule.since = (command, seconds)
            after = rule.cascade.after
            waited = command - rule.since[0] >= after.commands and seconds - rule.since[1] >= after.seconds
            if waited and not rule.spent:
                rule.spent = True
                firing.append(rule.cascade)
        return tuple(firing)

    @staticmethod
    def _open(rule: _Rule) -> bool:
        return rule.cascade.repeat or not rule.spent
