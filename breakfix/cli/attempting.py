"""Opening attempts, again in every command, and showing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from breakfix.cli.bundles import single
from breakfix.cli.options import trusted
from breakfix.cli.output import say
from compiler.codec import Malformed, dump, load
from compiler.reading import read_file
from compiler.verify import VerifiedBundle, verify
from runners.attempt import folder
from runners.attempt.attempt import Attempt
from runners.attempt.events import Event, Gated, Inspected, Observed, Receipted, contents
from runners.attempt.stages import MEANING, STAGES, next_stage
from runners.backends.registry import find_backend
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Intervention
from scenario_dsl.writing import write_file

_FILE = "opening.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Where an attempt's scenario is found again: by name or file, or in a signed bundle. Paths are absolute."""

    scenario: str
    bundle: str | None
    trust: str | None

    @classmethod
    def of(cls, scenario: str, bundle: Path | None, trust: Path | None) -> Opening:
        path = Path(scenario)
        return cls(
            scenario=str(path.absolute()) if bundle is None and path.exists() else scenario,
            bundle=None if bundle is None else str(bundle.absolute()),
            trust=None if trust is None else str(trust.absolute()),
        )

    def write(self, attempt: Path) -> None:
        write_file(attempt / _FILE, dump(self))

    def verified(self) -> tuple[VerifiedBundle, str]:
        """The bundle, and the scenario's name in it. Raises AuthorError and what `verify` raises."""
        if self.bundle is not None:
            return verify(Path(self.bundle), trusted(None if self.trust is None else Path(self.trust))), self.scenario
        return single(self.scenario)


def open_first(opening: Opening, backend: str, *, seed: int, agent: str, model: str, role: str) -> Attempt:
    bundle, name = opening.verified()
    return Attempt.start(bundle, name, find_backend(backend), seed=seed, agent=agent, model=model, help=role)


def open_again(attempt: Path) -> Attempt:
    """The attempt in that folder, at the point where its log ends."""
    events, outputs = folder.read(attempt)
    try:
        opening = load(Opening, read_file(attempt / _FILE))
    except Malformed as error:
        raise AuthorError(f"{attempt / _FILE}: {error.reason}") from error
    (observed,) = contents(events, "observe", Observed)
    bundle, _ = opening.verified()
    return Attempt.resume(bundle, find_backend(observed.backend), events, outputs)


def cite(events: Sequence[Event], document: Intervention, numbers: Sequence[int]) -> Intervention:
    """The document with observations by their numbers, from 1. Raises AuthorError for one that was never made."""
    seen = contents(events, "inspect", Inspected)
    for number in numbers:
        if not 1 <= number <= len(seen):
            raise AuthorError(f"there is no observation {number}: this attempt has made {len(seen)}")
    more = tuple(seen[number - 1].evidence.id for number in numbers)
    return replace(document, evidence=(*document.evidence, *more))


def show(events: Sequence[Event], attempt: Path) -> None:
    """The stages with what was done in each."""
    observed = contents(events, "observe", Observed)[0]
    say(f"{observed.scenario} on {observed.backend}, seed {observed.seed}, by {observed.agent}")
    say(" ".join(observed.complaint.split()))
    done = [event.stage for event in events]
    following = next_stage(done)
    for stage in STAGES:
        sign = "✓" if stage in done else "→" if stage == following else " "
        say(f"{sign} {stage}: {MEANING[stage]}")
    for number, inspected in enumerate(contents(events, "inspect", Inspected), start=1):
        say(f"observation {number}: {inspected.evidence.id[:16]}  $ {inspected.evidence.command}")
    for gated in contents(events, "gate", Gated):
        say(f"verdict: {gated.verdict}")
    for receipted in contents(events, "receipt", Receipted):
        say(f"receipt: {receipted.sha256 or f'none: {receipted.reason}'}")
    if following is not None:
        say(f"next: breakfix attempt {_command(following)} {attempt}")


def _command(stage: str) -> str:
    """The command that a stage is entered with."""
    return {"inspect": "probe", "gate": "verify", "receipt": "verify", "ack": "apply"}.get(stage, stage)
