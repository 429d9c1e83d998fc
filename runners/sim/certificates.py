"""X.509 certificates: reading PEM files and checking a server's certificate as OpenSSL does, at the virtual time."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import ExtensionOID, NameOID

from runners.sim.files.view import FileView

_BLOCK = re.compile(r"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.*?-----END (?:TRUSTED )?CERTIFICATE-----", re.DOTALL)
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
_SHORT = {
    NameOID.COMMON_NAME: "CN", NameOID.ORGANIZATION_NAME: "O", NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.COUNTRY_NAME: "C", NameOID.STATE_OR_PROVINCE_NAME: "ST", NameOID.LOCALITY_NAME: "L",
    NameOID.EMAIL_ADDRESS: "emailAddress",
}  # fmt: skip


class Problem(NamedTuple):
    """What OpenSSL's verification found: its error number and text, and at which depth of the chain."""

    number: int
    text: str
    depth: int = 0


@lru_cache(maxsize=512)
def parse(pem: str) -> tuple[x509.Certificate, ...]:
    """All certificates in a PEM text, in order; blocks that are no certificates are left out."""
    found = []
    for block in _BLOCK.findall(pem):
        try:
            found.append(
                x509.load_pem_x509_certificate(block.replace("TRUSTED ", "").encode("utf-8", "surrogateescape"))
            )
        except ValueError:
            continue
    return tuple(found)


def trusted(view: FileView, path: str | None = None) -> tuple[x509.Certificate, ...]:
    """The certificates of a bundle (by default the system's)."""
    try:
        return parse(view.text(path or BUNDLE))
    except OSError:
        return ()


def name_text(name: x509.Name, separator: str = ", ", equals: str = " = ") -> str:
    """A distinguished name as OpenSSL 3 prints it: `C = DE, O = Example, CN = www`."""
    return separator.join(
        f"{_SHORT.get(attribute.oid, attribute.oid.dotted_string)}{equals}{attribute.value!s}" for attribute in name
    )


def date_text(moment: datetime) -> str:
    """`Jan  5 09:34:43 2026 GMT`."""
    return f"{moment:%b} {moment.day:2d} {moment:%H:%M:%S %Y} GMT"


def starts(certificate: x509.Certificate) -> datetime:
    return certificate.not_valid_before_utc


def ends(certificate: x509.Certificate) -> datetime:
    return certificate.not_valid_after_utc


def alternative_names(certificate: x509.Certificate) -> tuple[list[str], list[str]]:
    """DNS names and addresses of the subjectAltName extension."""
    try:
        extension = certificate.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME)
    except x509.ExtensionNotFound:
        return [], []
    value = extension.value
    assert isinstance(value, x509.SubjectAlternativeName)
    addresses = [str(address) for address in value.get_values_for_type(x509.IPAddress)]
    return value.get_values_for_type(x509.DNSName), addresses


def common_name(name: x509.Name) -> str:
    attributes = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(attributes[0].value) if attributes else ""


@lru_cache(maxsize=512)
def belongs(certificate: x509.Certificate, private: str) -> bool | None:
    """Is this PEM text the private key of the certificate? None when no key can be read from it."""
    try:
        key = load_pem_private_key(private.encode("utf-8", "surrogateescape"), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    shape = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return key.public_key().public_bytes(*shape) == certificate.public_key().public_bytes(*shape)


def matches_host(certificate: x509.Certificate, host: str) -> bool:
    """Is the certificate for this host? Alternative names count; the common name only where there are none."""
    names, addresses = alternative_names(certificate)
    try:
        return str(ipaddress.ip_address(host)) in addresses
    except ValueError:
        pass
    candidates = names or ([] if addresses else [common_name(certificate.subject)])
    return any(_covers(pattern.lower(), host.lower().rstrip(".")) for pattern in candidates)


def _covers(pattern: str, host: str) -> bool:
    if pattern.startswith("*."):
        first, _, rest = host.partition(".")
        return bool(first) and rest == pattern[2:]
    return pattern == host


def verify(chain: Sequence[x509.Certificate], anchors: Sequence[x509.Certificate], now: float) -> Problem | None:
    """The first problem of a chain whose first certificate is the server's, or None."""
    return next(iter(problems(chain, anchors, now)), None)


def problems(chain: Sequence[x509.Certificate], anchors: Sequence[x509.Certificate], now: float) -> tuple[Problem, ...]:
    """Everything that is wrong with a chain: first with how it is put together, then with its dates from the top."""
    if not chain:
        return (Problem(2, "unable to get issuer certificate"),)
    found: list[Problem] = []
    moment = datetime.fromtimestamp(now, UTC)
    current, depth = chain[0], 0
    path = [current]
    known = [*chain[1:], *anchors]
    while current not in anchors:
        if current.issuer == current.subject:
            text = "self-signed certificate" if depth == 0 else "self-signed certificate in certificate chain"
            found.append(Problem(18 if depth == 0 else 19, text, depth))
            break
        issuer = next((one for one in known if one.subject == current.issuer and _signed_by(current, one)), None)
        if issuer is None:
            found.append(Problem(20, "unable to get local issuer certificate", depth))
            break
        current = issuer
        depth += 1
        path.append(current)
        if depth > 10:
            found.append(Problem(22, "certificate chain too long", depth))
            break
    for level in range(len(path) - 1, -1, -1):
        if moment > ends(path[level]):
            found.append(Problem(10, "certificate has expired", level))
        elif moment < starts(path[level]):
            found.append(Problem(9, "certificate is not yet valid", level))
    return tuple(found)


def _signed_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True
