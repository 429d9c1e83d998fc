"""Receipts: the signed statement of one verified intervention, and the door by which one comes in again.

in-toto Statement v1 in a DSSE envelope, Ed25519, as for bundles. The subjects are the bundle, the intervention and
every output. Whoever verifies recomputes the verdict from the facts, so that a receipt for anything but VERIFIED does
not verify, whoever made it. Nothing but the receipt, the outputs and a public key is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field

from compiler.codec import Malformed, dump, load
from compiler.evidence import EvidenceRef
from compiler.layout import sha256
from compiler.refusals import BadEnvelope, Refusal, Stranger
from compiler.signing import STATEMENT_TYPE, Sealed, envelope_over, open_envelope
from compiler.trust import Trust
from compiler.verdict import GateFact, Verdict, verdict
from compiler.verify import check_signature
from scenario_dsl.model import Intervention
from scenario_dsl.worlds import Role

PREDICATE_TYPE = "urn:breakfix:receipt:v1"
RECEIPT = "receipt.dsse.json"


@dataclass(eq=False)
class BadReceipt(Refusal):
    template: ClassVar[str] = "{file}: {reason}"
    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where it happened. `fingerprint`: sha256 over the lasting state of the world before anybody touched it."""

    backend: str
    system: str
    seed: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One lasting thing, or one service's process, that applying the intervention changed; None: it was not there."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One attempt that was VERIFIED.

    worlds: all that the verdict needs, as (name, role). agent, model, help: who did it, which model had a part in it
    (empty: none), and which part. attempt: hash of the attempt's log. evidence: every observation before the contract;
    applied: the commands that carried it out, with what they gave. rollback: the commands that take it back.
    """

    pack: str
    pack_version: str
    bundle_digest: str
    proven: bool
    waived: int
    scenario: str
    worlds: tuple[tuple[str, Role], ...]
    environment: Environment
    agent: str
    model: str
    help: str
    mode: Literal["live", "replay"]
    attempt: str
    intervention: Intervention
    evidence: tuple[EvidenceRef, ...]
    applied: tuple[EvidenceRef, ...]
    changes: tuple[Change, ...]
    rollback: tuple[str, ...]
    facts: tuple[GateFact, ...]
    harms: tuple[str, ...]
    verdict: Verdict

    @property
    def computed(self) -> Verdict:
        """The verdict that the facts give, whatever is claimed."""
        return verdict(self.facts, self.harms, self.worlds)


def sign_receipt(receipt: Receipt, key: Ed25519PrivateKey) -> bytes:
    """The envelope's bytes. Raises BadReceipt for one that would not verify."""
    _check(receipt, RECEIPT)
    return envelope_over(encode(receipt), key)


def encode(receipt: Receipt) -> bytes:
    """The statement as canonical JSON: the envelope's payload."""
    subjects = [("bundle", receipt.bundle_digest), ("intervention", sha256(dump(receipt.intervention)))]
    subjects += [(f"evidence/{ref.sha256}", ref.sha256) for ref in (*receipt.evidence, *receipt.applied)]
    return dump(
        {
            "_type": STATEMENT_TYPE,
            "subject": tuple({"name": name, "digest": {"sha256": digest}} for name, digest in dict(subjects).items()),
            "predicateType": PREDICATE_TYPE,
            "predicate": receipt,
        }
    )


def read_receipt(data: bytes, *, file: str = RECEIPT) -> tuple[Receipt, Sealed]:
    """What a receipt says, unverified. Raises BadEnvelope or BadReceipt where it is not canonical."""
    try:
        sealed = open_envelope(data)
    except BadEnvelope as error:
        raise replace(error, file=file) from error
    try:
        receipt = load(_Statement, sealed.payload).predicate
    except Malformed as error:
        raise BadReceipt(file, f"its statement is not a receipt ({error.reason}, at {error.where})") from error
    if encode(receipt) != sealed.payload:
        raise BadReceipt(file, "its statement is not in canonical form, or its subjects are not those of the receipt")
    return receipt, sealed


def verify_receipt(data: bytes, trust: Trust, outputs: Mapping[str, bytes], *, file: str = RECEIPT) -> Receipt:
    """Let a receipt in, offline. outputs: the kept outputs, by the sha256 that names each.

    Raises Stranger, BadEnvelope or BadReceipt, which says what does not hold.
    """
    receipt, sealed = read_receipt(data, file=file)
    try:
        check_signature(sealed, trust)
    except (Stranger, BadEnvelope) as error:
        raise replace(error, file=file) from error
    _check(receipt, file)
    for ref in (*receipt.evidence, *receipt.applied):
        output = outputs.get(ref.sha256)
        if output is None:
            raise BadReceipt(file, f"the output of `{ref.command}` is missing: evidence/{ref.sha256}")
        if sha256(output) != ref.sha256 or len(output) != ref.size:
            raise BadReceipt(file, f"the output of `{ref.command}` was altered: evidence/{ref.sha256}")
    return receipt


def _check(receipt: Receipt, file: str) -> None:
    """What must hold of every receipt, whoever signs it."""
    if receipt.computed != "VERIFIED":
        raise BadReceipt(file, f"its facts give {receipt.computed}, and only VERIFIED is receipted")
    if receipt.verdict != receipt.computed:
        raise BadReceipt(file, f"it claims {receipt.verdict}, but its facts give {receipt.computed}")
    known = {ref.id for ref in receipt.evidence}
    for cited in receipt.intervention.evidence:
        if cited not in known:
            raise BadReceipt(file, f"its intervention cites {cited[:16]}, which is no observation of this attempt")


# The JSON of the statement, key by key, as its format spells it.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    name: str
    digest: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    type: Annotated[str, Field(alias="_type")]
    subject: tuple[_Subject, ...]
    predicate_type: Annotated[str, Field(alias="predicateType")]
    predicate: Receipt
