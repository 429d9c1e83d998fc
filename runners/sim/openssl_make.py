"""openssl's makers: keys, requests, and certificates signed by their own key or an authority's.

Keys and serial numbers follow from the machine's seed and the file's name, so that the same run makes the same ones.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

from runners.sim import certificates as certs
from runners.sim.commands.context import Context
from runners.sim.rsa_primes import pair
from runners.text import is_digits

_OIDS = {"CN": NameOID.COMMON_NAME, "O": NameOID.ORGANIZATION_NAME, "OU": NameOID.ORGANIZATIONAL_UNIT_NAME,
         "C": NameOID.COUNTRY_NAME, "ST": NameOID.STATE_OR_PROVINCE_NAME, "L": NameOID.LOCALITY_NAME}  # fmt: skip


def _name(text: str) -> x509.Name:
    attributes = []
    for part in text.strip("/").split("/"):
        key, equals, value = part.partition("=")
        if equals and key.strip() in _OIDS and value:
            attributes.append(x509.NameAttribute(_OIDS[key.strip()], value.strip()))
    return x509.Name(attributes)


Key = Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
PublicKey = Ed25519PublicKey | rsa.RSAPublicKey | ec.EllipticCurvePublicKey
_CURVES: dict[str, ec.EllipticCurve] = {
    "prime256v1": ec.SECP256R1(), "P-256": ec.SECP256R1(), "secp384r1": ec.SECP384R1(), "P-384": ec.SECP384R1(),
}  # fmt: skip


def _private(ctx: Context, path: str) -> Key:
    """The key in a file; OSError or ValueError when there is none."""
    loaded = load_pem_private_key(ctx.files.read(path), None)
    if not isinstance(loaded, Key):
        raise ValueError
    return loaded


def _certificate(
    ctx: Context, subject: x509.Name, public: PublicKey, issuer: x509.Name, key: Key,
    options: dict[str, str], extra: str = "",
) -> bytes:  # fmt: skip
    """A certificate from now on for `-days`; the serial follows from the machine and the moment.

    `-req` without extensions makes one of X.509's first version, as openssl does.
    """
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
    if isinstance(key, ec.EllipticCurvePrivateKey):
        made = builder.sign(key, hashes.SHA256(), ecdsa_deterministic=True)
    else:
        made = builder.sign(key, _algorithm(key))
    if "req" in options and not alternatives:
        return first_version(made, key)
    return made.public_bytes(Encoding.PEM)


def _algorithm(key: Key) -> hashes.SHA256 | None:
    return None if isinstance(key, Ed25519PrivateKey) else hashes.SHA256()


def first_version(certificate: x509.Certificate, key: Key) -> bytes:
    """The certificate without its version field, signed anew, as PEM (RFC 5280, 4.1: an absent version is v1)."""
    tbs = certificate.tbs_certificate_bytes
    start = 2 + (tbs[1] & 0x7F if tbs[1] & 0x80 else 0)
    version = 2 + tbs[start + 1]
    signed = _sequence(tbs[start + version :])
    if isinstance(key, rsa.RSAPrivateKey):
        signature = key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        signature = key.sign(signed, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    else:
        signature = key.sign(signed)
    der = certificate.public_bytes(Encoding.DER)
    tail = der[der.index(tbs) + len(tbs) :]
    algorithm = tail[: 2 + tail[1]]
    bits = b"\0" + signature
    text = base64.b64encode(_sequence(signed + algorithm + b"\x03" + _length(len(bits)) + bits)).decode()
    lines = "\n".join(text[index : index + 64] for index in range(0, len(text), 64))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n".encode("utf-8", "surrogateescape")


def _sequence(content: bytes) -> bytes:
    return b"\x30" + _length(len(content)) + content


def _length(size: int) -> bytes:
    """A length in DER."""
    if size < 128:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


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
            key = _new_key(ctx, keyout, options.get("newkey", "rsa:2048"))
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
        if isinstance(key, ec.EllipticCurvePrivateKey):
            signed = request.sign(key, hashes.SHA256(), ecdsa_deterministic=True)
        else:
            signed = request.sign(key, _algorithm(key))
        pem = signed.public_bytes(Encoding.PEM)
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
    if not isinstance(public, PublicKey):
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


def _new_key(ctx: Context, path: str, kind: str) -> Key:
    """`kind`: rsa, rsa:BITS, ed25519, or ec:CURVE."""
    count = ctx.machine.count("openssl keys")
    digest = hashlib.sha256(f"{ctx.machine.seed}:{path}:{count}".encode("utf-8", "surrogateescape")).digest()
    name, _, detail = kind.lower().partition(":")
    if name == "ed25519":
        return Ed25519PrivateKey.from_private_bytes(digest)
    number = int.from_bytes(digest, "big")
    if name == "ec":
        return ec.derive_private_key(number >> 1, _CURVES.get(kind.partition(":")[2], ec.SECP256R1()))
    p, q = pair(int(detail) if is_digits(detail) else 2048, number)
    d = pow(65537, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(65537, p * q)
    return rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
    ).private_key()


def _give(ctx: Context, options: dict[str, str], key: Key, shape: PrivateFormat = PrivateFormat.PKCS8) -> int:
    """Write a new key where `-out` says."""
    pem = key.private_bytes(Encoding.PEM, shape, NoEncryption())
    if "out" not in options:
        ctx.stdout.write(pem)
        return 0
    try:
        ctx.files.write(options["out"], pem, mode=0o600)
    except OSError as error:
        reason = f'Can\'t open "{options["out"]}" for writing, {error.strerror}'
        ctx.stderr.write(f"{ctx.args[0]}: {reason}\n".encode("utf-8", "surrogateescape"))
        return 1
    return 0


def genrsa(ctx: Context, options: dict[str, str], operands: list[str]) -> int:
    bits = operands[-1] if operands else "2048"
    return _give(ctx, options, _new_key(ctx, options.get("out", "-"), f"rsa:{bits}"))


def genpkey(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    """`genpkey -algorithm RSA|EC|ED25519 [-pkeyopt …]`."""
    algorithm = options.get("algorithm", "").lower()
    if algorithm not in ("rsa", "ec", "ed25519"):
        ctx.stderr.write(b"genpkey: Error initializing algorithm\n")
        return 1
    detail = options.get("pkeyopt", "").partition(":")[2]
    return _give(ctx, options, _new_key(ctx, options.get("out", "-"), f"{algorithm}:{detail}"))


def ecparam(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    """`ecparam -name CURVE -genkey`."""
    curve = options.get("name", "")
    if curve not in _CURVES:
        ctx.stderr.write(f"ecparam: unknown curve name ({curve})\n".encode("utf-8", "surrogateescape"))
        return 1
    if "genkey" not in options:
        return 0
    return _give(ctx, options, _new_key(ctx, options.get("out", "-"), f"ec:{curve}"), PrivateFormat.TraditionalOpenSSL)
