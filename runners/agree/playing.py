"""Playing the same in a backend as in another: an intervention between two looks, and commands that only look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runners.agree.comparing import Said
from runners.interventions import apply
from runners.opening import Site
from runners.text import readable
from runners.worlds import CommandResult, LiveWorld, Observation
from scenario_dsl.model import Intervention, Limits, Probe
from scenario_dsl.worlds import World

SETTLE_SECONDS = 10.0
"""How long a repair may take to show."""
_OUTPUT_BYTES = 1 << 16
_COMMAND_SECONDS = 30.0
_EXPLORATION = Path(__file__).parent / "exploration.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What one player brought about in a world: what the probes said before and after, and each command's end."""

    before: tuple[Observation, ...]
    typed: tuple[Said, ...]
    after: tuple[Observation, ...]


def play(
    site: Site, world: World, probes: Sequence[Probe], intervention: Intervention | None, limits: Limits
) -> Played:
    """Open the world in trouble, look, play (None: do nothing), wait, and look again. Raises WorldError."""
    live = site.broken(world, seed=0)
    try:
        before = live.observe(probes)
        noting = _Noting(live)
        if intervention is not None:
            apply(noting, intervention, limits)
        live.wait(SETTLE_SECONDS)
        return Played(before=before, typed=tuple(noting.said), after=live.observe(probes))
    finally:
        live.close()


def explore(site: Site, world: World, commands: Sequence[str]) -> tuple[Said, ...]:
    """Type commands one after the other into the healthy world. Raises WorldError."""
    live = site.healthy(world, seed=0)
    try:
        noting = _Noting(live)
        for command in commands:
            noting.run(command, output_bytes=_OUTPUT_BYTES, seconds=_COMMAND_SECONDS)
        return tuple(noting.said)
    finally:
        live.close()


def exploration() -> tuple[str, ...]:
    """Commands of somebody who looks around on a server and changes nothing."""
    lines = (line.strip() for line in _EXPLORATION.read_text(encoding="utf-8").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


@dataclass
class _Noting:
    """A world's shell, with a note of what was typed and what came of it."""

    live: LiveWorld
    said: list[Said] = field(default_factory=list)

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        result = self.live.run(command, output_bytes=output_bytes, seconds=seconds)
        self.said.append(Said(command, result.exit_code, readable(result.output)))
        return result

    def elapsed(self) -> float:
        return self.live.elapsed()
