"""The ten stages of an attempt, in their one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

from scenario_dsl.errors import AuthorError

Stage = Literal["observe", "predict", "inspect", "contract", "apply", "ack", "verify", "gate", "receipt", "reflect"]
STAGES: tuple[Stage, ...] = get_args(Stage)
MEANING: Mapping[Stage, str] = MappingProxyType(
    {
        "observe": "what is complained about, and where",
        "predict": "causes that would explain it, and what would be seen if each were the one",
        "inspect": "looking: every command is evidence",
        "contract": "what will be done, on which evidence, and what would refute it",
        "apply": "the falsifier first, then the steps",
        "ack": "what that changed on the machine",
        "verify": "is what was broken repaired, and does it stay so?",
        "gate": "twin, control, repeat, reversibility, in fresh worlds",
        "receipt": "the signed statement, for VERIFIED alone",
        "reflect": "what came of the prediction",
    }
)
_REPEATED: Stage = "inspect"
"""The one stage that has as many entries as one likes."""


class StageError(AuthorError):
    """A stage was to be skipped or repeated."""


def next_stage(done: Sequence[Stage]) -> Stage | None:
    """The stage that comes after those that are done; None after the last."""
    return STAGES[len(dict.fromkeys(done))] if len(dict.fromkeys(done)) < len(STAGES) else None


def admit(done: Sequence[Stage], wanted: Stage) -> None:
    """May `wanted` be entered now? Raises StageError, which names what is missing or was done already."""
    following = next_stage(done)
    if wanted == following or (done and wanted == done[-1] == _REPEATED):
        return
    if following is None:
        raise StageError(f"stage `{wanted}`: this attempt is over; begin another one")
    if wanted in done:
        raise StageError(f"stage `{wanted}` was done already and is not repeated; next is `{following}`")
    raise StageError(f"stage `{wanted}` would skip `{following}`: {MEANING[following]}")
