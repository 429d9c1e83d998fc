"""The signed statement over a bundle: in-toto Statement v1 in a DSSE envelope, Ed25519.

The statement binds the sha256 of the manifest (and so of every file) and of the tar to the pack's name, its version and
its proof, or to the explicit word that it is unproven. Formats: in-toto attestation Statement v1; DSSE v1.0.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]  # re-exported without saying so

from compiler import archive
from compiler.codec import Malformed, dump, load
from compiler.layout import ENVELOPE, MANIFEST, PROOF, TAR, sha256
from compiler.model import Bundle, Proof
from compiler.refusals import BadEnvelope, BadProof

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:breakfix:bundle:v1"
"""Our own predicate; a URN, because it names no page anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is signed. `proof` is None for a bundle that its author signed unproven."""

    pack: str
    version: str
    manifest_sha256: str
    tar_sha256: str
    proof: Proof | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """An envelope taken apart, nothing verified yet: the signed bytes, and each signature with the id it claims."""

    payload: bytes
    key_id: str
    signature: bytes


def statement_of(bundle: Bundle, proof: Proof | None) -> Statement:
    return Statement(
        pack=bundle.name,
        version=bundle.version,
        manifest_sha256=sha256(bundle.files[MANIFEST]),
        tar_sha256=sha256(archive.pack(bundle.files)),
        proof=proof,
    )


def sign(bundle: Bundle, key: Ed25519PrivateKey, proof: Proof | None) -> bytes:
    """The envelope's bytes. Raises BadProof for a proof that fails or is about another bundle."""
    if proof is not None:
        check_proof(proof, bundle.digest)
    return envelope_over(encode(statement_of(bundle, proof)), key)


def envelope_over(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """A signed statement's bytes, of whatever subject: DSSE with one signature, canonical."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(key))
    return dump(envelope.to_dict())


def check_proof(proof: Proof, digest: str) -> None:
    """Is it about this bundle, and does it hold? Raises BadProof, which names what failed."""
    if proof.bundle_digest != digest:
        raise BadProof(PROOF, f"is about another bundle: {proof.bundle_digest}, not {digest}; prove this one")
    if not proof.holds:
        failed = [scenario.scenario for scenario in proof.scenarios if not scenario.holds]
        raise BadProof(PROOF, f"does not hold for {', '.join(failed) or 'any scenario'}")


def encode(statement: Statement) -> bytes:
    """The statement as canonical JSON: the envelope's payload."""
    subjects = ((MANIFEST, statement.manifest_sha256), (TAR, statement.tar_sha256))
    claim = ("unproven", True) if statement.proof is None else ("proof", statement.proof)
    return dump(
        {
            "_type": STATEMENT_TYPE,
            "subject": tuple({"name": name, "digest": {"sha256": digest}} for name, digest in subjects),
            "predicateType": PREDICATE_TYPE,
            "predicate": {"pack": statement.pack, "version": statement.version, claim[0]: claim[1]},
        }
    )


def decode(payload: bytes) -> Statement:
    """The opposite of `encode`; anything that `encode` would not write is refused. Raises BadEnvelope."""
    try:
        body = load(_Statement, payload)
        digests = {subject.name: subject.digest.sha256 for subject in body.subject}
        predicate = body.predicate
        statement = Statement(
            pack=predicate.pack,
            version=predicate.version,
            manifest_sha256=digests[MANIFEST],
            tar_sha256=digests[TAR],
            proof=predicate.proof,
        )
    except (Malformed, KeyError) as error:
        raise BadEnvelope(ENVELOPE, f"its statement is not one about a bundle ({error})") from error
    if encode(statement) != payload:
        raise BadEnvelope(ENVELOPE, "its statement is not in canonical form, or says something unknown")
    return statement


def open_envelope(data: bytes) -> Sealed:
    """Take an envelope apart. Its bytes must be the one canonical way to write it. Raises BadEnvelope.

    Base64 is read in both alphabets, as DSSE asks, so that what is wrong can be named; but only the standard one is
    canonical, or a flipped `+` could survive.
    """
    try:
        body = load(_Envelope, data)
        (signature,) = body.signatures
        sealed = Sealed(payload=_bytes(body.payload), key_id=signature.keyid, signature=_bytes(signature.sig))
    except (Malformed, ValueError) as error:
        raise BadEnvelope(ENVELOPE, f"is not a DSSE envelope with one signature ({error})") from error
    if body.payload_type != PAYLOAD_TYPE:
        raise BadEnvelope(ENVELOPE, f"its payload type is {body.payload_type!r}, not {PAYLOAD_TYPE!r}")
    canonical = {
        "payload": base64.b64encode(sealed.payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": ({"keyid": sealed.key_id, "sig": base64.b64encode(sealed.signature).decode()},),
    }
    if dump(canonical) != data:
        raise BadEnvelope(ENVELOPE, "is not in canonical form: bytes were added or changed")
    return sealed


def signed_bytes(sealed: Sealed) -> bytes:
    """What the signature is over: DSSE's pre-authentication encoding of type and payload."""
    return Envelope(sealed.payload, PAYLOAD_TYPE, {}).pae()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.translate(str.maketrans("-_", "+/")), validate=True)


def read_proof(data: bytes) -> Proof:
    """A proof from its file's bytes, which must be canonical. Raises BadProof."""
    try:
        proof = load(Proof, data)
    except Malformed as error:
        raise BadProof(PROOF, f"is not a proof: {error.reason} (at {error.where})") from error
    if dump(proof) != data:
        raise BadProof(PROOF, "is not in canonical form: bytes were added or changed")
    return proof


# The JSON of envelope and statement, key by key, as their formats spell it.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
    keyid: str
    sig: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Envelope:
    payload: str
    payload_type: Annotated[str, Field(alias="payloadType")]
    signatures: tuple[_Signature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    name: str
    digest: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Predicate:
    pack: str
    version: str
    proof: Proof | None = None
    unproven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    type: Annotated[str, Field(alias="_type")]
    subject: tuple[_Subject, ...]
    predicate_type: Annotated[str, Field(alias="predicateType")]
    predicate: _Predicate
