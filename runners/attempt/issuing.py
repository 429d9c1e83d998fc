"""A receipt for a recorded trial: for agents that earned VERIFIED in a run, a model's among them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compiler.codec import dump
from compiler.layout import sha256
from compiler.receipts import Environment, Receipt
from compiler.verify import VerifiedBundle
from runners.attempt.changes import changes, fingerprint
from runners.attempt.reenacting import Listening
from runners.evidence import Kept, keep, public, seen_as
from runners.interventions import apply, from_text
from runners.objectives import settling
from runners.opening import Site
from runners.records import TrialRecord, Turn, judge
from runners.replay import replay
from runners.trials import world_seed
from runners.typed.sentry import watched
from runners.worlds import Backend, CommandResult
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Intervention, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A receipt that is not signed yet, and the outputs that it pins, by the sha256 of each."""

    receipt: Receipt
    outputs: dict[str, bytes]


def issue(record: TrialRecord, bundle: VerifiedBundle, backend: Backend) -> Issued:
    """The receipt of a trial whose document is VERIFIED. The record is played again first: it must be what it says.

    Raises AuthorError where it is not, or where no document was handed in; ReplayError for another bundle or backend.
    """
    verdict = judge([record])
    if verdict != "VERIFIED":
        raise AuthorError(f"trial {record.trial_id[:12]} by itself is {verdict}, and only VERIFIED is receipted")
    handed_in = [number for number, turn in enumerate(record.turns) if turn.kind == "submit"]
    if not handed_in:
        raise AuthorError(f"trial {record.trial_id[:12]} handed in no document, and that is what a receipt is about")
    again = replay(record, [bundle], backend)
    if not again.same:
        raise AuthorError(f"trial {record.trial_id[:12]} is not what was played: {again.differences[0]}")
    last = handed_in[-1]
    seen = [(turn, _kept(record.trial.world, turn)) for turn in record.turns[:last] if turn.kind == "run"]
    document = _cited(from_text(record.turns[last].text), seen)
    return _issued(record, bundle, backend, document, [kept for _, kept in seen])


def _issued(
    record: TrialRecord, bundle: VerifiedBundle, backend: Backend, document: Intervention, seen: list[Kept]
) -> Issued:
    trial = record.trial
    site = Site(content=bundle.content, scenario=bundle.content.scenarios[trial.scenario], backend=backend)
    limits = Limits(commands=trial.max_commands, seconds=trial.max_seconds, output_bytes=trial.output_bytes)
    world = site.scenario.world(trial.world)
    live = site.broken(world, seed=world_seed(trial))
    try:
        before = live.facts()
        listening = Listening(watched(live, site.scenario.reward), trial.world, begun=live.elapsed())
        applied = apply(listening, document, limits)
        live.wait(settling(world))
        after = live.facts()
    finally:
        live.close()
    receipt = Receipt(
        pack=trial.pack,
        pack_version=trial.pack_version,
        bundle_digest=trial.bundle_digest,
        proven=trial.proven,
        waived=trial.waived,
        scenario=trial.scenario,
        worlds=trial.required_worlds,
        environment=Environment(
            backend=trial.backend, system=site.scenario.system, seed=trial.seed, fingerprint=fingerprint(before)
        ),
        agent=trial.agent.label,
        model=record.model,
        help="played the trial" if record.model else "",
        mode=record.mode,
        attempt=sha256(dump(record)),
        intervention=document,
        evidence=tuple(kept.ref for kept in seen),
        applied=tuple(kept.ref for kept in listening.kept),
        changes=changes(before, after),
        rollback=tuple(map(public, applied.undo)),
        facts=record.facts,
        harms=record.harms,
        verdict=judge([record]),
    )
    return Issued(receipt=receipt, outputs={kept.ref.sha256: kept.output for kept in (*seen, *listening.kept)})


def _kept(world: str, turn: Turn) -> Kept:
    output = turn.output.encode("utf-8", "surrogateescape")
    result = CommandResult(
        output=output, stdout=output, stderr=b"", exit_code=turn.exit_code or 0, seconds=turn.seconds
    )
    return keep(world, turn.text, result, at=turn.at)


def _cited(document: Intervention, seen: list[tuple[Turn, Kept]]) -> Intervention:
    """The document with what it cites by the ids that a receipt has for it."""
    ids = {seen_as(turn.text, turn.exit_code or 0, turn.output): kept.ref.id for turn, kept in seen}
    cited = (ids[known] for short in document.evidence for known in ids if known.startswith(short))
    return replace(document, evidence=tuple(dict.fromkeys(cited)))
