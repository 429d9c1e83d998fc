"""Who has earned what: the objectives of one world through one episode."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from runners.patterns import found, passages
from runners.records import ObjectiveResult
from runners.worlds import Observation
from scenario_dsl.model import Answer, Kind, Objective, Probe, Seen
from scenario_dsl.worlds import World

_LONGEST_ANSWER = 500
"""Characters of an answer that are read: an answer that lists every possibility answers nothing."""
_LONGEST_DETAIL = 300
"""Characters that are kept of what a probe saw."""
SETTLING_SECONDS = 5.0
"""How long everything must go on holding at the least; an objective's own `settle` may ask for more."""


def settling(world: World) -> float:
    """Seconds for which what was done in this world is watched before it counts."""
    return max([SETTLING_SECONDS, *(objective.settle for objective in world.objectives)])


@dataclass(slots=True)
class _Standing:
    objective: Objective
    armed: bool
    met: bool = False
    met_at_command: int | None = None
    met_at_seconds: float | None = None
    detail: str = ""


class Scoreboard:
    """The state of a world's objectives.

    A probe's objective is met while its probe holds and lost with it; a `seen` one is kept once earned; an answer's
    is met while one of the standing answers fits. Nothing counts before it is armed, save what was prevented.
    """

    def __init__(self, world: World) -> None:
        self._standings = [_Standing(objective, objective.armed_by is None) for objective in world.objectives]
        questions = sum(isinstance(objective.check, Answer) for objective in world.objectives)
        self._answers: deque[str] = deque(maxlen=max(questions, 1))
        self._watched = self._watch()

    @property
    def score(self) -> float:
        return round(sum(standing.objective.points for standing in self._standings if standing.met), 9)

    @property
    def answers(self) -> tuple[str, ...]:
        """The standing answers, oldest first."""
        return tuple(self._answers)

    def probes(self) -> tuple[Probe, ...]:
        """The probes worth evaluating now: those of armed objectives. `update` takes their observations in order."""
        return self._watched

    def arm(self, cascade: str) -> None:
        """A cascade has fired: what it arms can be earned from now on."""
        for standing in self._standings:
            if standing.objective.armed_by == cascade:
                standing.armed = True
        self._watched = self._watch()

    def update(self, observations: Sequence[Observation], command: int, seconds: float) -> None:
        """Take what `probes()` showed after command number `command` (0: before the first)."""
        seen = iter(observations)
        for standing in self._standings:
            if standing.armed and isinstance(standing.objective.check, Probe):
                observation = next(seen)
                _set(standing, observation.holds, command, seconds)
                if not observation.holds:
                    standing.detail = observation.detail[:_LONGEST_DETAIL]

    def looked(self, command: str, output: str, number: int, seconds: float) -> bool:
        """A command was run; returns whether it met a `seen` objective for the first time."""
        first = False
        for standing in self._standings:
            check = standing.objective.check
            if standing.armed and not standing.met and isinstance(check, Seen) and saw(check, command, output):
                _set(standing, True, number, seconds)
                first = True
        return first

    def answered(self, text: str, number: int, seconds: float) -> None:
        """An answer was given; the oldest one beyond the number of questions falls away."""
        self._answers.append(fold(text)[:_LONGEST_ANSWER])
        for standing in self._standings:
            check = standing.objective.check
            if standing.armed and isinstance(check, Answer):
                _set(standing, any(fits(check, answer) for answer in self._answers), number, seconds)

    def pending(self) -> bool:
        """Is there a probe's objective that time alone could still meet?"""
        return any(
            standing.armed and not standing.met and isinstance(standing.objective.check, Probe)
            for standing in self._standings
        )

    def met(self) -> frozenset[str]:
        """The names of what is met at this moment."""
        return frozenset(standing.objective.name for standing in self._standings if standing.met)

    def keep(self, names: frozenset[str]) -> None:
        """Take back the points of everything that is not among `names`."""
        for standing in self._standings:
            if standing.objective.name not in names:
                standing.met, standing.met_at_command, standing.met_at_seconds = False, None, None

    def prevented(self) -> tuple[Probe, ...]:
        """Where everything that was armed is met: the probes of what never was, because a repair came before it.

        `prevent` takes their observations in order. A probe of the machine must be among what is met: where nothing
        was repaired, nothing was prevented.
        """
        armed = [each for each in self._standings if each.armed and isinstance(each.objective.check, Probe)]
        if not armed or not all(standing.met for standing in armed):
            return ()
        return tuple(check for _, check in self._unarmed())

    def prevent(self, observations: Sequence[Observation], command: int, seconds: float) -> None:
        """Take what `prevented()` showed: a consequence that never came about is worth what mending it is."""
        for (standing, _), observation in zip(self._unarmed(), observations, strict=True):
            _set(standing, observation.holds, command, seconds)

    def _unarmed(self) -> list[tuple[_Standing, Probe]]:
        return [
            (standing, standing.objective.check)
            for standing in self._standings
            if not standing.armed and isinstance(standing.objective.check, Probe)
        ]

    def results(self) -> tuple[ObjectiveResult, ...]:
        return tuple(
            ObjectiveResult(
                name=standing.objective.name,
                points=standing.objective.points,
                met=standing.met,
                armed=standing.armed,
                met_at_command=standing.met_at_command,
                met_at_seconds=standing.met_at_seconds,
                detail="" if standing.met else standing.detail,
            )
            for standing in self._standings
        )

    def _watch(self) -> tuple[Probe, ...]:
        return tuple(
            standing.objective.check
            for standing in self._standings
            if standing.armed and isinstance(standing.objective.check, Probe)
        )


def questions(world: World) -> tuple[str, ...]:
    """The questions whose answers are worth points, in document order."""
    checks = (objective.check for objective in world.objectives)
    return tuple(check.question for check in checks if isinstance(check, Answer))


def essential(kind: Kind, objectives: Sequence[Objective]) -> tuple[Objective, ...]:
    """The objectives that make the difference between recovered and not.

    In a repair these are the states of the machine; in an investigation the answers too. What an agent looked at
    earns points but recovers nothing. Where a scenario has nothing else, everything counts.
    """
    wanted: tuple[type, ...] = (Probe,) if kind == "repair" else (Probe, Answer)
    return tuple(objective for objective in objectives if isinstance(objective.check, wanted)) or tuple(objectives)


def missing(kind: Kind, world: World, results: Sequence[ObjectiveResult]) -> tuple[ObjectiveResult, ...]:
    """The essential objectives that are not met. One that was never armed had nothing to repair."""
    wanted = {objective.name for objective in essential(kind, world.objectives)}
    return tuple(result for result in results if result.name in wanted and result.armed and not result.met)


def fits(check: Answer, text: str) -> bool:
    """Does an answer fit? `equals` compares with white space folded, `matches` searches."""
    if check.equals is not None:
        return fold(text) == fold(check.equals)
    return check.matches is not None and found(check.matches, text)


def fold(text: str) -> str:
    """White space at the ends removed and elsewhere folded into single spaces."""
    return " ".join(text.split())


def saw(check: Seen, command: str, output: str) -> bool:
    """Did this command show what was to be seen?

    A line of output that stands word for word in the command (`echo failed`) was typed, not seen.
    """
    if check.command is not None and not found(check.command, command):
        return False
    lines = (passage.strip() for passage in passages(check.output, output))
    return any(line and line not in command for line in lines)


def _set(standing: _Standing, met: bool, command: int, seconds: float) -> None:
    if met and not standing.met:
        standing.met_at_command, standing.met_at_seconds = command, round(seconds, 6)
    elif not met:
        standing.met_at_command = standing.met_at_seconds = None
    standing.met = met
