"""certificate: whether it is valid at a moment, for whom it is made out, and which key belongs to it."""

from __future__ import annotations

from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen


def judge(arguments: Arguments, pem: bytes | None, now: float, key: bytes | None, seen: Seen) -> None:
    """Hold a certificate, as PEM, against what is expected of it at `now`; `key`: the text that `matches_key` names."""
    place = arguments.text("served") or arguments.require("path")
    parsed = _parse(pem) if pem is not None else None
    if parsed is None:
        seen.expect(False, f"{place} has no certificate")
        return
    begin, end = parsed.not_valid_before_utc.timestamp(), parsed.not_valid_after_utc.timestamp()
    valid = begin <= now <= end
    until = f"{parsed.not_valid_after_utc:%Y-%m-%d %H:%M:%S}"
    seen.expect(arguments.flag("valid") is valid, f"{place} is valid until {until}")
    longer = arguments.number("valid_for_at_least")
    if longer is not None:
        seen.expect(end - now >= longer, f"it has {int(end - now)} s left")
    host = arguments.text("host")
    if host is not None:
        names = _names(parsed)
        seen.expect(any(_covers(name, host) for name in names), f"it is made out for {', '.join(names)}")
    path = arguments.text("matches_key")
    if path is not None:
        belongs = _belongs(parsed, key)
        seen.expect(belongs, f"{path} {'belongs' if belongs else 'does not belong'} to it")


@lru_cache(maxsize=64)
def _parse(pem: bytes) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        return None


def _names(parsed: x509.Certificate) -> list[str]:
    try:
        extension = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        return [str(name) for name in extension.value.get_values_for_type(x509.DNSName)]
    except x509.ExtensionNotFound:
        return [str(one.value) for one in parsed.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


def _covers(name: str, host: str) -> bool:
    """A star stands for one whole first label."""
    if name.startswith("*."):
        return host.partition(".")[2] == name[2:]
    return name == host


@lru_cache(maxsize=64)
def _belongs(parsed: x509.Certificate, key: bytes | None) -> bool:
    if key is None:
        return False
    try:
        public = load_pem_private_key(key, None).public_key()
    except (ValueError, TypeError):
        return False
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return public.public_bytes(*form) == parsed.public_key().public_bytes(*form)
