"""Playing an intervention: falsifier, discoveries, guards, steps, and undoing them. The one mechanism for it.

`moves` says what to do next and is told what came of it, so agents (through an episode) and the gate (directly in a
world) play the same document in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, TypeAlias

from compiler.codec import dump, load
from runners.agents.protocol import Answer, Run
from runners.text import readable
from runners.worlds import CommandResult
from scenario_dsl.model import Intervention, Limits, Step

NAME = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
"""A discovered name in the text of a step."""


_REFUSED = 124
"""The exit code of what is not run any more: a time-out's."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one command gave back."""

    exit_code: int
    stdout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of an intervention.

    refuted: its falsifier held, so nothing was done. played: indexes of the steps that were carried out.
    undo: the commands that roll them back, in the order to run them. broken: what it says of itself and is not so, its
    invariants that held before and do not any more, and its postconditions that do not hold.
    """

    refuted: bool
    bindings: Mapping[str, str]
    played: tuple[int, ...]
    undo: tuple[str, ...]
    broken: tuple[str, ...] = ()


Moves: TypeAlias = Generator[Run | Answer, Reply | None, Applied]
Watcher: TypeAlias = Callable[[int], None]
"""Called with the index of each step that was carried out, right after it."""


def moves(intervention: Intervention, watcher: Watcher | None = None) -> Moves:
    """The intervention's actions one by one; send the `Reply` to each `Run`, None to an `Answer`.

    The falsifier comes before anything else; where it exits 0, the hypothesis is refuted and nothing is done. A step
    whose guard does not exit 0 is left out, and what it would have discovered is then empty. Invariants that hold
    before are looked at again afterwards; postconditions only where some step was carried out.
    """
    bindings: dict[str, str] = {}
    if intervention.falsifier is not None:
        reply = yield Run(intervention.falsifier, intervention.hypothesis)
        if reply is not None and reply.exit_code == 0:
            return Applied(refuted=True, bindings={}, played=(), undo=())
    held: list[str] = []
    for invariant in intervention.invariants:
        reply = yield Run(invariant)
        if reply is not None and reply.exit_code == 0:
            held.append(invariant)
    played: list[int] = []
    undo: list[str] = []
    for index, step in enumerate(intervention.steps):
        think = step.think
        if step.only_if is not None:
            reply = yield Run(fill(step.only_if, bindings), think)
            think = None
            if reply is None or reply.exit_code != 0:
                if step.discover is not None:
                    bindings[step.discover] = ""
                continue
        if step.answer is not None:
            yield Answer(fill(step.answer, bindings), think)
        if step.run is not None:
            reply = yield Run(fill(step.run, bindings), think)
            if step.discover is not None:
                bindings[step.discover] = reply.stdout.strip() if reply is not None else ""
        played.append(index)
        if step.undo is not None:
            undo.append(fill(step.undo, bindings))
        if watcher is not None:
            watcher(index)
    ends = [fill(each, bindings) for each in intervention.postconditions] if played else []
    broken: list[str] = []
    for claim in (*held, *ends):
        reply = yield Run(claim)
        if reply is not None and reply.exit_code != 0:
            broken.append(claim)
    return Applied(
        refuted=False, bindings=bindings, played=tuple(played), undo=tuple(reversed(undo)), broken=tuple(broken)
    )


def fill(text: str, bindings: Mapping[str, str]) -> str:
    """Put discovered values into `{{ name }}`; any other braces (`docker ps --format …`) stay as they are."""
    return NAME.sub(lambda match: bindings.get(match[1], match[0]), text)


class Shell(Protocol):
    """As much of a world as it takes to play an intervention in it."""

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult: ...

    def elapsed(self) -> float: ...


def apply(live: Shell, intervention: Intervention, limits: Limits, watcher: Watcher | None = None) -> Applied:
    """Play an intervention straight into a world, without objectives, cascades or rewards.

    Within the limits of an episode: past them every further command is answered as one that failed, unrun.
    """
    playing = moves(intervention, watcher)
    allowance = _Allowance(live, limits)
    reply: Reply | None = None
    try:
        action = next(playing)
        while True:
            reply = allowance.run(action.command) if isinstance(action, Run) else None
            action = playing.send(reply)
    except StopIteration as stop:
        applied: Applied = stop.value
        return applied


def roll_back(live: Shell, applied: Applied, limits: Limits) -> None:
    """Run the undo commands of an applied intervention, last step first, within the limits of an episode."""
    allowance = _Allowance(live, limits)
    for command in applied.undo:
        allowance.run(command)


def as_typed(commands: tuple[str, ...]) -> Intervention:
    """An intervention that types the same commands again, for agents that handed in none."""
    return Intervention(name="as typed", steps=tuple(Step(run=command) for command in commands))


def without_places(intervention: Intervention) -> Intervention:
    """The same, wherever in a document it stood."""
    if intervention.at == () and all(step.at == () for step in intervention.steps):
        return intervention
    return replace(intervention, at=(), steps=tuple(replace(step, at=()) for step in intervention.steps))


@lru_cache(maxsize=256)
def to_text(intervention: Intervention) -> str:
    """The canonical JSON of an intervention, without its places in a document: what a transcript keeps."""
    return dump(without_places(intervention)).decode()


def from_text(text: str) -> Intervention:
    """The opposite of `to_text`. Raises compiler.codec.Malformed."""
    return load(Intervention, text.encode())


class _Allowance:
    """What may be run in a world outside an episode: as many commands and seconds as an episode has."""

    def __init__(self, live: Shell, limits: Limits) -> None:
        self._live = live
        self._limits = limits
        self._commands = limits.commands
        self._until = live.elapsed() + limits.seconds

    def run(self, command: str) -> Reply:
        left = self._until - self._live.elapsed()
        if self._commands <= 0 or left <= 0:
            return Reply(_REFUSED, "")
        self._commands -= 1
        result = self._live.run(command, output_bytes=self._limits.output_bytes, seconds=left)
        return Reply(result.exit_code, readable(result.stdout))
