"""The stages that need no world: predicting, contracting and reflecting, from a log to a longer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runners.attempt.events import (
    Applied,
    Contracted,
    Event,
    Gated,
    Inspected,
    Predicted,
    Reflected,
    appended,
    contents,
)
from runners.attempt.stages import Stage, admit
from runners.evidence import cited
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Hypothesis, Intervention


def predict(events: Sequence[Event], hypotheses: Sequence[Hypothesis]) -> tuple[Event, ...]:
    """Say, before looking, what might be the cause and what would then be seen."""
    _admit(events, "predict")
    if not hypotheses or any(each.predicts is None for each in hypotheses):
        raise AuthorError("a prediction is at least one hypothesis, and says of each what would be seen")
    return appended(events, "predict", Predicted(hypotheses=tuple(hypotheses)), at=events[-1].at)


def contract(events: Sequence[Event], intervention: Intervention) -> tuple[Event, ...]:
    """Bind oneself to a document. Raises AuthorError where it names no falsifier, no rival or no evidence, and where it
    cites what this attempt has not seen."""
    _admit(events, "contract")
    for part, given in (
        ("hypothesis", intervention.hypothesis),
        ("falsifier", intervention.falsifier),
        ("alternatives", intervention.alternatives),
        ("evidence", intervention.evidence),
    ):
        if not given:
            raise AuthorError(f"a contract needs `{part}`; this one names none")
    seen = [each.evidence for each in contents(events, "inspect", Inspected)]
    (predicted,) = contents(events, "predict", Predicted)
    contracted = Contracted(
        intervention=replace(
            intervention,
            evidence=cited(intervention.evidence, seen),
            at=(),
            steps=tuple(replace(step, at=()) for step in intervention.steps),
        ),
        foretold=_folded(intervention.hypothesis or "") in {_folded(each.claim) for each in predicted.hypotheses},
    )
    return appended(events, "contract", contracted, at=events[-1].at)


def reflect(events: Sequence[Event], text: str) -> tuple[Event, ...]:
    """Hold the prediction against what came of it, with a word of one's own."""
    _admit(events, "reflect")
    (contracted,) = contents(events, "contract", Contracted)
    (applied,) = contents(events, "apply", Applied)
    (gated,) = contents(events, "gate", Gated)
    borne_out = contracted.foretold and not applied.refuted and gated.verdict == "VERIFIED"
    return appended(events, "reflect", Reflected(borne_out=borne_out, text=text), at=events[-1].at)


def _admit(events: Sequence[Event], stage: Stage) -> None:
    admit([event.stage for event in events], stage)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
