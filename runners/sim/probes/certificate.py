"""certificate: a PEM file, or what a server shows in its handshake, read at the machine's own time."""

from __future__ import annotations

from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from runners.sim.machine import Machine
from runners.sim.network.http import HttpResponse
from runners.sim.probes.arguments import Arguments
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.http import ask
from runners.sim.probes.seen import Seen
from runners.worlds import Observation


def certificate(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    """The first certificate of the file or of the server. Who signed it is not asked."""
    seen, url = Seen(), arguments.text("served")
    pem = _read(machine, arguments.require("path")) if url is None else _shown(machine, url, baseline, seen)
    key = arguments.text("matches_key")
    judge(arguments, pem, machine.clock.now, _read(machine, key) if key is not None else None, seen)
    return seen.observation()


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


def _read(machine: Machine, path: str) -> bytes | None:
    try:
        return machine.view().read(path)
    except OSError:
        return None


def _shown(machine: Machine, url: str, baseline: Baseline, seen: Seen) -> bytes | None:
    answer, stranger = ask(machine, url, baseline)
    if stranger is not None:
        seen.expect(False, stranger)
    if not isinstance(answer, HttpResponse) or answer.tls is None:
        return None
    return answer.tls.certificate.encode("utf-8", "surrogateescape")


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
