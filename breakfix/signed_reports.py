"""Signed reports: an in-toto statement over a report's manifest in a DSSE envelope, which lies beside it.

The manifest lists the sha256 of every file, so that the signature covers all of the report.
"""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler.codec import dump
from compiler.reading import read_file
from compiler.signing import STATEMENT_TYPE, envelope_over, open_envelope
from compiler.trust import Trust
from compiler.verify import check_signature
from reports.manifest import ENVELOPE, MANIFEST, Manifest, ReportError, Signer
from scenario_dsl.writing import write_file

PREDICATE_TYPE = "urn:breakfix:report:v1"
"""Our own predicate; a URN, because it names no page anywhere."""


def signer(key: Ed25519PrivateKey) -> Signer:
    """Writes the envelope of a report that was just made."""

    def sign(folder: Path, manifest: Manifest) -> None:
        write_file(folder / ENVELOPE, envelope_over(statement(manifest), key))

    return sign


def statement(manifest: Manifest) -> bytes:
    """What is signed: the manifest's digest, and in words what the report is of."""
    return dump(
        {
            "_type": STATEMENT_TYPE,
            "subject": ({"name": MANIFEST, "digest": {"sha256": manifest.digest}},),
            "predicateType": PREDICATE_TYPE,
            "predicate": {
                "runs": manifest.runs,
                "baseline": manifest.baseline,
                "records": manifest.records,
                "bundles": manifest.bundles,
            },
        }
    )


def is_signed(folder: Path) -> bool:
    return (folder / ENVELOPE).is_file()


def signed_by(folder: Path, manifest: Manifest, trust: Trust) -> str:
    """The id of the trusted key that signed this report.

    Raises ReportError when the statement is about another one, Stranger and BadEnvelope as for bundles.
    """
    sealed = open_envelope(read_file(folder / ENVELOPE))
    key_id = check_signature(sealed, trust)
    if sealed.payload != statement(manifest):
        raise ReportError(f"{folder / ENVELOPE}: what was signed is another report than the one that lies here")
    return key_id
