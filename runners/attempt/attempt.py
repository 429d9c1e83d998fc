"""An attempt in the primary world of a scenario: the Python API that the command line stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler.evidence import EvidenceRef
from compiler.layout import sha256
from compiler.receipts import Environment, Receipt, sign_receipt
from compiler.verdict import Verdict
from compiler.verify import VerifiedBundle
from runners.agents.nop import Nop
from runners.agents.spec import AgentSpec
from runners.attempt import desk
from runners.attempt.changes import changes, fingerprint
from runners.attempt.events import (
    Acknowledged,
    Applied,
    Contracted,
    Event,
    Gated,
    Inspected,
    Observed,
    Receipted,
    Reflected,
    Verified,
    appended,
    contents,
    hash_of,
)
from runners.attempt.reenacting import Listening, Reenactment
from runners.attempt.stages import Stage, admit, next_stage
from runners.evidence import Kept, public
from runners.harms import lasting_changes
from runners.interventions import apply
from runners.objectives import questions, settling
from runners.opening import Site
from runners.plan import plan
from runners.records import AgentIdentity, judge
from runners.trials import Job, play_trial, trial_id, world_seed
from runners.typed.sentry import watched
from runners.worlds import Backend, Computed, Crowded
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.model import Hypothesis, Intervention
from scenario_dsl.worlds import PRIMARY

_COMMAND_SECONDS = 300.0


class Attempt:
    """One attempt. `events` is its log so far, `outputs` what was seen, by the sha256 of each.

    Every method that enters a stage raises StageError where that would skip or repeat one, and WorldError where the
    world fails; the log is then as it was.
    """

    def __init__(self, bundle: VerifiedBundle, scenario: str, backend: Backend, *, seed: int, agent: str) -> None:
        spec = AgentSpec(identity=AgentIdentity(name=agent), factory=Nop())
        planned = plan(
            [bundle], [spec], backends=(backend.name,), scenarios=(scenario,), worlds=(PRIMARY,), seeds=(seed,)
        )
        self._trial = next(planned.trials())
        self._site = Site(content=bundle.content, scenario=bundle.content.scenarios[scenario], backend=backend)
        self._primary = self._site.scenario.worlds[0]
        self._live = self._site.broken(self._primary, seed=world_seed(self._trial))
        self._shell = watched(self._live, self._site.scenario.reward)
        self._begun = self._live.elapsed()
        self.events: tuple[Event, ...] = ()
        self.outputs: dict[str, bytes] = {}

    @classmethod
    def start(
        cls,
        bundle: VerifiedBundle,
        scenario: str,
        backend: Backend,
        *,
        seed: int = 0,
        agent: str = "person",
        model: str = "",
        help: str = "",
    ) -> Attempt:
        """Observe: open the world and write down what is complained about. Raises PlanError for an unknown scenario."""
        attempt = cls(bundle, scenario, backend, seed=seed, agent=agent)
        observed = Observed(
            complaint=attempt._primary.complaint,
            questions=questions(attempt._primary),
            limits=attempt._site.scenario.limits,
            bundle_digest=bundle.digest,
            scenario=scenario,
            backend=backend.name,
            seed=seed,
            fingerprint=fingerprint(attempt._live.facts()),
            agent=agent,
            model=model,
            help=help,
        )
        attempt._log("observe", observed)
        return attempt

    @classmethod
    def resume(
        cls, bundle: VerifiedBundle, backend: Backend, events: Sequence[Event], outputs: Mapping[str, bytes]
    ) -> Attempt:
        """Go on with a log: a fresh world is brought to the same point by typing the same again.

        Raises AuthorError when the bundle is another one, HostError when the world takes another course.
        """
        (observed,) = contents(events, "observe", Observed)
        if (observed.bundle_digest, observed.backend) != (bundle.digest, backend.name):
            raise AuthorError("the scenario was changed since this attempt began, or is played elsewhere: begin anew")
        attempt = cls(bundle, observed.scenario, backend, seed=observed.seed, agent=observed.agent)
        if next_stage([event.stage for event in events]) in ("inspect", "contract", "apply"):
            # Where time is the real one no two moments are the same; what was seen has to be.
            timed = not isinstance(backend, Crowded | Computed)
            for before in contents(events, "inspect", Inspected):
                if _seen(attempt._run(before.typed).ref, timed=timed) != _seen(before.evidence, timed=timed):
                    raise HostError(
                        f"the world took another course this time, at `{before.typed}`",
                        remedy="worlds of this backend do not repeat: make the attempt through the Python API",
                    )
        attempt.events = tuple(events)
        attempt.outputs = dict(outputs)
        return attempt

    @property
    def stage(self) -> Stage | None:
        """The stage that comes next; None when all are done."""
        return next_stage([event.stage for event in self.events])

    @property
    def observed(self) -> Observed:
        return contents(self.events, "observe", Observed)[0]

    @property
    def verdict(self) -> Verdict | None:
        """What the gate said; None before it was asked."""
        gated = contents(self.events, "gate", Gated)
        return gated[0].verdict if gated else None

    def predict(self, hypotheses: Sequence[Hypothesis]) -> None:
        """See `runners.attempt.desk.predict`."""
        self.events = desk.predict(self.events, hypotheses)

    def probe(self, command: str) -> Inspected:
        """Inspect: run one command in the world. What it shows, without secrets, is evidence from now on."""
        self._admit("inspect")
        limits = self._site.scenario.limits
        if len(contents(self.events, "inspect", Inspected)) >= limits.commands:
            raise AuthorError(f"all {limits.commands} commands are used up")
        before = self._live.facts()
        kept = self._run(command)
        changed = lasting_changes(before, self._live.facts())
        inspected = Inspected(typed=command, evidence=kept.ref, changed=changed)
        self.outputs[kept.ref.sha256] = kept.output
        self._log("inspect", inspected)
        return inspected

    def contract(self, intervention: Intervention) -> Contracted:
        """See `runners.attempt.desk.contract`."""
        self.events = desk.contract(self.events, intervention)
        return contents(self.events, "contract", Contracted)[0]

    def apply(self) -> tuple[Applied, Acknowledged]:
        """Run the falsifier, then the steps; and write down what that changed."""
        self._admit("apply")
        limits = self._site.scenario.limits
        listening = Listening(self._shell, self._primary.name, begun=self._begun)
        before = self._live.facts()
        done = apply(listening, self._contract, limits)
        self._live.wait(settling(self._primary))
        after = self._live.facts()
        self.outputs.update({kept.ref.sha256: kept.output for kept in listening.kept})
        applied = Applied(
            refuted=done.refuted,
            evidence=tuple(kept.ref for kept in listening.kept),
            bindings={name: public(value) for name, value in done.bindings.items()},
            played=done.played,
            undo=tuple(map(public, done.undo)),
            broken=tuple(map(public, done.broken)),
        )
        acknowledged = Acknowledged(changes=changes(before, after))
        self._log("apply", applied)
        self._log("ack", acknowledged)
        return applied, acknowledged

    def verify(self) -> Gated:
        """Verify and TransferGate: the same typed once more as an ordinary trial, and its document examined."""
        self._admit("verify")
        looked = tuple(each.typed for each in contents(self.events, "inspect", Inspected))
        job = Job(trial_id=trial_id(self._trial), trial=self._trial, ordinal=0)
        record = play_trial(job, self._site, self._primary, Reenactment(looked, self._contract))
        own = record.facts[0]
        verified = Verified(
            recovered=own.finding == "pass",
            reason=own.reason,
            score=record.score or 0.0,
            full_score=self._trial.full_score,
        )
        gated = Gated(facts=record.facts, harms=record.harms, verdict=judge([record]))
        self._log("verify", verified)
        self._log("gate", gated)
        return gated

    def receipt(self, key: Ed25519PrivateKey) -> bytes | None:
        """The signed envelope; None, with the reason in the log, for every verdict but VERIFIED."""
        self._admit("receipt")
        (gated,) = contents(self.events, "gate", Gated)
        if gated.verdict != "VERIFIED":
            self._log("receipt", Receipted(sha256=None, reason=f"the verdict is {gated.verdict}"))
            return None
        envelope = sign_receipt(self._receipt(gated), key)
        self._log("receipt", Receipted(sha256=sha256(envelope), reason="all checks passed"))
        return envelope

    def reflect(self, text: str) -> Reflected:
        """See `runners.attempt.desk.reflect`."""
        self.events = desk.reflect(self.events, text)
        return contents(self.events, "reflect", Reflected)[0]

    @property
    def _contract(self) -> Intervention:
        return contents(self.events, "contract", Contracted)[0].intervention

    def _receipt(self, gated: Gated) -> Receipt:
        trial, observed = self._trial, self.observed
        (applied,) = contents(self.events, "apply", Applied)
        (acknowledged,) = contents(self.events, "ack", Acknowledged)
        return Receipt(
            pack=trial.pack,
            pack_version=trial.pack_version,
            bundle_digest=trial.bundle_digest,
            proven=trial.proven,
            waived=trial.waived,
            scenario=trial.scenario,
            worlds=trial.required_worlds,
            environment=Environment(
                backend=observed.backend,
                system=self._site.scenario.system,
                seed=observed.seed,
                fingerprint=observed.fingerprint,
            ),
            agent=observed.agent,
            model=observed.model,
            help=observed.help,
            mode="live",
            attempt=hash_of(self.events[-1]),
            intervention=self._contract,
            evidence=tuple(each.evidence for each in contents(self.events, "inspect", Inspected)),
            applied=applied.evidence,
            changes=acknowledged.changes,
            rollback=applied.undo,
            facts=gated.facts,
            harms=gated.harms,
            verdict=gated.verdict,
        )

    def _run(self, command: str) -> Kept:
        listening = Listening(self._shell, self._primary.name, begun=self._begun)
        limits = self._site.scenario.limits
        left = max(limits.seconds - (self._live.elapsed() - self._begun), 0.0)
        listening.run(command, output_bytes=limits.output_bytes, seconds=min(left, _COMMAND_SECONDS))
        return listening.kept[0]

    def _admit(self, stage: Stage) -> None:
        admit([event.stage for event in self.events], stage)

    def _log(self, stage: Stage, content: object) -> None:
        self.events = appended(self.events, stage, content, at=self._live.elapsed() - self._begun)

    def close(self) -> None:
        """Give the world back."""
        self._live.close()


def _seen(ref: EvidenceRef, *, timed: bool) -> EvidenceRef:
    """An observation, where it is not timed without when it was made and how long that took."""
    return ref if timed else replace(ref, at=0.0, seconds=0.0)
