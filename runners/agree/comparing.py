"""What two backends said, side by side, and the shares in which they agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from runners.agree.structure import alike
from runners.worlds import Observation

Matter = Literal["verdict", "exit code of a player", "exit code", "structure"]
LEAST: dict[Matter, float] = {
    "verdict": 1.0,
    "exit code of a player": 0.95,
    "exit code": 0.95,
    "structure": 0.8,
}
"""The share in which backends have to agree: what probes say always, the rest as far as real machines do."""


class Said(NamedTuple):
    """A command, how it ended, and its output as text."""

    command: str
    exit_code: int
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One thing that both were asked. where: scenario, world and player; subject: the probe or the command; here,
    there: what the first and the second said, in words."""

    matter: Matter
    where: str
    subject: str
    agrees: bool
    here: str
    there: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """So many of so many agree. holds: no fewer than must."""

    matter: Matter
    agree: int
    of: int

    @property
    def holds(self) -> bool:
        return self.agree >= LEAST[self.matter] * self.of


def verdicts(
    where: str, subjects: Iterable[str], here: Iterable[Observation], there: Iterable[Observation]
) -> Iterator[Compared]:
    """Of each probe: does it hold in both, or in neither?"""
    for subject, one, other in zip(subjects, here, there, strict=True):
        yield Compared(
            matter="verdict",
            where=where,
            subject=subject,
            agrees=one.holds == other.holds,
            here=f"{'holds' if one.holds else 'does not hold'}: {one.detail}",
            there=f"{'holds' if other.holds else 'does not hold'}: {other.detail}",
        )


def exit_codes(matter: Matter, where: str, here: tuple[Said, ...], there: tuple[Said, ...]) -> Iterator[Compared]:
    """Of each command, in their order; one that only one of them came to agrees with nothing."""
    for number in range(max(len(here), len(there))):
        one = here[number] if number < len(here) else None
        other = there[number] if number < len(there) else None
        named = one or other
        assert named is not None
        yield Compared(
            matter=matter,
            where=where,
            subject=named.command,
            agrees=one is not None and other is not None and one.exit_code == other.exit_code,
            here=_ending(one),
            there=_ending(other),
        )


def structures(where: str, here: tuple[Said, ...], there: tuple[Said, ...]) -> Iterator[Compared]:
    """Of each command's output: is it of the same kind?"""
    for one, other in zip(here, there, strict=True):
        agrees = alike(one.output, other.output)
        yield Compared(
            matter="structure",
            where=where,
            subject=one.command,
            agrees=agrees,
            here=_beginning(one.output),
            there=_beginning(other.output),
        )


def shares(compared: Iterable[Compared]) -> tuple[Share, ...]:
    """One for each matter, in the order of `LEAST`; those of which nothing was compared are none."""
    counted: dict[Matter, list[bool]] = {}
    for one in compared:
        counted.setdefault(one.matter, []).append(one.agrees)
    return tuple(
        Share(matter=name, agree=sum(counted[name]), of=len(counted[name])) for name in LEAST if name in counted
    )


def _ending(said: Said | None) -> str:
    if said is None:
        return "was not come to"
    first = _beginning(said.output)
    return f"{said.exit_code}" + (f": {first}" if first else "")


def _beginning(output: str) -> str:
    return next((line.strip()[:120] for line in output.splitlines() if line.strip()), "")
