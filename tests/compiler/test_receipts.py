"""Receipts: any changed byte, field, file or key is refused, and so is every verdict but VERIFIED."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler.codec import dump
from compiler.evidence import EvidenceRef
from compiler.layout import sha256
from compiler.receipts import Change, Environment, Receipt, encode, read_receipt, sign_receipt, verify_receipt
from compiler.refusals import BadEnvelope, Refusal, Stranger
from compiler.signing import envelope_over
from compiler.trust import Trust, TrustedKey
from compiler.verdict import GateFact
from scenario_dsl.model import Hypothesis, Intervention, Step

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUST = Trust(source="test", keys=(TrustedKey(name="me", key=KEY.public_key()),))
OUTPUT = b"postgresql.service failed\n"
SEEN = EvidenceRef(
    world="primary", command="systemctl --failed", at=1.0, seconds=0.1, exit_code=0, size=26, sha256=sha256(OUTPUT)
)
DONE = replace(SEEN, command="systemctl start postgresql", at=9.0, size=0, sha256=sha256(b""))
OUTPUTS = {SEEN.sha256: OUTPUT, DONE.sha256: b""}


def fact(check: Any, world: str, finding: Any = "pass") -> GateFact:
    return GateFact(check=check, world=world, means="intervention", finding=finding, reason="it was looked at")


RECEIPT = Receipt(
    pack="starter",
    pack_version="1.0.0",
    bundle_digest="ab" * 32,
    proven=True,
    waived=0,
    scenario="process-recovery",
    worlds=(("primary", "primary"), ("another", "twin"), ("loud", "control")),
    environment=Environment(backend="sim", system="web-server", seed=3, fingerprint="cd" * 32),
    agent="a person",
    model="some/model",
    help="wrote the contract",
    mode="live",
    attempt="ef" * 32,
    intervention=Intervention(
        name="start it",
        hypothesis="it died",
        alternatives=(Hypothesis(claim="the network is down"),),
        evidence=(SEEN.id,),
        falsifier="false",
        steps=(Step(run="systemctl start postgresql", undo="systemctl stop postgresql"),),
    ),
    evidence=(SEEN,),
    applied=(DONE,),
    changes=(Change(what="process:postgresql.service", before=None, after="812 since 9"),),
    rollback=("systemctl stop postgresql",),
    facts=(
        fact("primary", "primary"),
        fact("twin", "another"),
        fact("control", "loud"),
        fact("repeat", "primary"),
        fact("reversibility", "primary", "not-applicable"),
    ),
    harms=(),
    verdict="VERIFIED",
)
SIGNED = sign_receipt(RECEIPT, KEY)


def test_what_was_signed_verifies_without_anything_else() -> None:
    assert verify_receipt(SIGNED, TRUST, OUTPUTS) == RECEIPT


def leaves(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def _another(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "x"


STATEMENT = json.loads(encode(RECEIPT))


@pytest.mark.parametrize("path", [*leaves(STATEMENT)], ids=lambda path: ".".join(map(str, path)))
def test_no_field_can_change(path: tuple[Any, ...]) -> None:
    """Each leaf of the statement in turn, the old signature kept."""
    statement = json.loads(encode(RECEIPT))
    holder = statement
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = _another(holder[path[-1]])
    envelope = json.loads(SIGNED)
    envelope["payload"] = base64.b64encode(dump(statement)).decode()
    with pytest.raises(Refusal):
        verify_receipt(dump(envelope), TRUST, OUTPUTS)


def test_every_field_is_a_leaf_of_the_statement() -> None:
    """So that the test above is about all of them."""
    assert {path[1] for path in leaves(STATEMENT) if path[0] == "predicate"} == {each.name for each in fields(Receipt)}
    assert is_dataclass(Receipt)


@pytest.mark.parametrize("at", range(0, len(SIGNED), 61))
def test_no_byte_can_change(at: int) -> None:
    flipped = bytearray(SIGNED)
    flipped[at] ^= 0x04
    with pytest.raises(Refusal):
        verify_receipt(bytes(flipped), TRUST, OUTPUTS)


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ({**OUTPUTS, SEEN.sha256: b"nothing failed\n"}, "the output of `systemctl --failed` was altered"),
        ({DONE.sha256: b""}, "the output of `systemctl --failed` is missing"),
    ],
)
def test_no_file_of_evidence_can_change(outputs: dict[str, bytes], said: str) -> None:
    with pytest.raises(Refusal, match=said):
        verify_receipt(SIGNED, TRUST, outputs)


def test_a_strangers_key_and_another_key_id_are_refused() -> None:
    stranger = Ed25519PrivateKey.from_private_bytes(bytes(32))
    with pytest.raises(Stranger):
        verify_receipt(sign_receipt(RECEIPT, stranger), TRUST, OUTPUTS)
    with pytest.raises(BadEnvelope):
        verify_receipt(SIGNED.replace(b'"keyid":"', b'"keyid":"0'), TRUST, OUTPUTS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"facts": RECEIPT.facts[:1]}, "its facts give UNKNOWN"),
        ({"facts": (fact("primary", "primary", "fail"), *RECEIPT.facts[1:])}, "its facts give NOT_RECOVERED"),
        ({"facts": (*RECEIPT.facts, fact("control", "primary", "fail"))}, "its facts give RECOVERED_UNPROVEN"),
        ({"facts": (*RECEIPT.facts[:2], fact("control", "loud", "harm"), *RECEIPT.facts[3:])}, "give HARMFUL"),
        ({"harms": ("an invariant was broken",)}, "its facts give HARMFUL"),
        ({"worlds": (*RECEIPT.worlds, ("a third", "twin"))}, "its facts give UNKNOWN"),
        ({"verdict": "RECOVERED_UNPROVEN"}, "it claims RECOVERED_UNPROVEN"),
        ({"evidence": ()}, "is no observation of this attempt"),
    ],
)
def test_only_verified_is_receipted_whoever_signs(change: dict[str, Any], said: str) -> None:
    """Signed past our own check, with the trusted key: it still does not verify."""
    other = replace(RECEIPT, **change)
    with pytest.raises(Refusal, match=said):
        sign_receipt(other, KEY)
    with pytest.raises(Refusal, match=said):
        verify_receipt(envelope_over(encode(other), KEY), TRUST, OUTPUTS)


def test_a_signed_statement_about_something_else_is_no_receipt() -> None:
    with pytest.raises(Refusal, match="is not a receipt"):
        read_receipt(envelope_over(b'{"_type":"x"}', KEY))
    subjects = {**STATEMENT, "subject": STATEMENT["subject"][:1]}
    with pytest.raises(Refusal, match="not in canonical form"):
        read_receipt(envelope_over(dump(subjects), KEY))
