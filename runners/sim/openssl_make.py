"""openssl's makers: keys, requests, and certificates signed by their own key or an authority's.

Keys and serial numbers follow from the machine's seed and the file's name, so that the same run makes the same ones.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from runners.sim import certificates as certs
from runners.sim.commands.context import Context

_OIDS = {"CN": NameOID.COMMON_NAME, "O": NameOID.ORGANIZATION_NAME, "OU": NameOID.ORGANIZATIONAL_UNIT_NAME,
         "C": NameOID.COUNTRY_NAME, "ST": NameOID.STATE_OR_PROVINCE_NAME, "L": NameOID.LOCALITY_NAME}  # fmt: skip


def _name(text: str) -> x509.Name:
    attributes = []
    for part in text.strip("/").split("/"):
        key, equals, value = part.partition("=")
        if equals and key.strip() in _OIDS and value:
            attributes.append(x509.NameAttribute(_OIDS[key.strip()], value.strip()))
    return x509.Name(attributes)


Key = Ed25519PrivateKey | rsa.RSAPrivateKey


def _private(ctx: Context, path: str) -> Key:
    """The key in a file; OSError or ValueError when there is none."""
    loaded = load_pem_private_key(ctx.files.read(path), None)
    if not isinstance(loaded, Ed25519PrivateKey | rsa.RSAPrivateKey):
        raise ValueError
    return loaded


def _certificate(
    ctx: Context, subject: x509.Name, public: Ed25519PublicKey | rsa.RSAPublicKey, issuer: x509.Name, key: Key,
    options: dict[str, str], extra: str = "",
) -> bytes:  # fmt: skip
    """A certificate from now on for `-days`; the serial follows from the machine and the moment."""
    start = datetime.fromtimestamp(int(ctx.machine.clock.now), UTC)
    end = start + timedelta(days=int(options.get("days") or 30))
    seed = f"{ctx.machine.seed}:{options.get('out')}:{ctx.machine.clock.now}".encode()
    serial = int.from_bytes(hashlib.sha256(seed).digest()[:16], "big")
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public).serial_number(serial)
    )
    builder = builder.not_valid_before(min(start, end - timedelta(days=1))).not_valid_after(end)
    alternatives = [
        x509.DNSName(one.strip().removeprefix("DNS:")) for one in extra.partition("=")[2].split(",") if "DNS:" in one
    ]
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    algorithm = None if isinstance(key, Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.PEM)


def _store(ctx: Context, tool: str, path: str | None, pem: bytes) -> int:
    if path is None:
        ctx.stdout.write(pem)
        return 0
    try:
        ctx.files.write(path, pem)
    except OSError as error:
        ctx.stderr.write(
            f'{tool}: Can\'t open "{path}" for writing, {error.strerror}\n'.encode("utf-8", "surrogateescape")
        )
        return 1
    return 0


def req(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    """`req`: a request, or with -x509 a self-signed certificate, with a key given or made from the file's name."""
    if "subj" not in options:
        ctx.stderr.write(b"req: Error, no subject given and no terminal to ask for it\n")
        return 1
    keyout = options.get("keyout", "privkey.pem")
    try:
        if "key" in options:
            key = _private(ctx, options["key"])
        else:
            key = _new_key(ctx, keyout)
            ctx.files.write(keyout, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), mode=0o600)
            ctx.stderr.write(b"-----\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a private key"
        mode = "reading" if "key" in options else "writing"
        ctx.stderr.write(
            f'req: Can\'t open "{options.get("key", keyout)}" for {mode}, {reason}\n'.encode("utf-8", "surrogateescape")
        )
        return 1
    name = _name(options["subj"])
    if "x509" in options:
        pem = _certificate(ctx, name, key.public_key(), name, key, options, options.get("addext", ""))
    else:
        request = x509.CertificateSigningRequestBuilder().subject_name(name)
        pem = request.sign(key, None if isinstance(key, Ed25519PrivateKey) else hashes.SHA256()).public_bytes(
            Encoding.PEM
        )
    return _store(ctx, "req", options.get("out"), pem)


def sign(ctx: Context, options: dict[str, str]) -> int:
    """`x509 -req`: a certificate for a request, signed by its own key or by an authority's."""
    try:
        request = x509.load_pem_x509_csr(ctx.files.read(options["in"]) if "in" in options else ctx.stdin.read())
        authority = certs.parse(ctx.files.text(options["CA"]))[0] if "CA" in options else None
        key = _private(
            ctx, options.get("signkey") or options.get("key") or options.get("CAkey") or options.get("CA", "")
        )
    except (OSError, ValueError, IndexError):
        ctx.stderr.write(b"Unable to load X509 request or key\n")
        return 1
    public = request.public_key()
    if not isinstance(public, Ed25519PublicKey | rsa.RSAPublicKey):
        ctx.stderr.write(b"Unable to load X509 request or key\n")
        return 1
    issuer = authority.subject if authority is not None else request.subject
    pem = _certificate(ctx, request.subject, public, issuer, key, options)
    ctx.stderr.write(
        f"Certificate request self-signature ok\nsubject={certs.name_text(request.subject)}\n".encode(
            "utf-8", "surrogateescape"
        )
    )
    return _store(ctx, "x509", options.get("out"), pem)


def _new_key(ctx: Context, path: str) -> Ed25519PrivateKey:
    count = ctx.machine.count("openssl keys")
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"{ctx.machine.seed}:{path}:{count}".encode()).digest())


def genrsa(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    pem = _new_key(ctx, options.get("out", "-")).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    if "out" in options:
        ctx.files.write(options["out"], pem, mode=0o600)
    else:
        ctx.stdout.write(pem)
    return 0
