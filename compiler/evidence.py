"""One observation of an attempt, as it can be cited: content-addressed, so that it cannot change afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.codec import dump
from compiler.layout import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRef:
    """What was run, where, when, and what came of it.

    at, seconds: on the world's clock, since the attempt began; size, sha256: of the output as it is kept; redacted:
    how many secrets were taken out of it first.
    """

    world: str
    command: str
    at: float
    seconds: float
    exit_code: int
    size: int
    sha256: str
    redacted: int = 0

    @property
    def id(self) -> str:
        """The sha256 (hex) of all of it: what an intervention cites."""
        return sha256(dump(self))
