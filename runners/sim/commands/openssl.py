"""openssl 3.0: certificates, keys and TLS connections."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from runners.sim import certificates as certs
from runners.sim.commands.context import Context
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.http import HttpRequest, HttpResponse, exchange
from runners.sim.openssl_make import ecparam, genpkey, genrsa, req, sign
from runners.text import is_digits

_VERSION = "OpenSSL 3.0.11 19 Sep 2023 (Library: OpenSSL 3.0.11 19 Sep 2023)"
_WITH_VALUE = frozenset(
    {
        "in",
        "out",
        "inform",
        "outform",
        "CAfile",
        "CApath",
        "CA",
        "CAkey",
        "days",
        "subj",
        "newkey",
        "keyout",
        "key",
        "addext",
        "connect",
        "servername",
        "host",
        "port",
        "checkend",
        "checkhost",
        "extfile",
        "passin",
        "passout",
        "set_serial",
        "config",
        "untrusted",
        "verify_hostname",
        "ext",
        "signkey",
        "nameopt",
        "starttls",
        "algorithm",
        "pkeyopt",
        "name",
    }
)
_NUMBERS = frozenset({"checkend", "days"})


def main(ctx: Context) -> int:
    if not ctx.args or ctx.args[0] in ("help", "-help", "--help"):
        ctx.stderr.write(
            b"help:\n\nStandard commands\nasn1parse         ca                ciphers           crl\n"
            b"req               rsa               s_client          verify\nversion           x509\n"
        )
        return 0
    verb, *words = ctx.args
    options: dict[str, list[str]] = {}
    operands: list[str] = []
    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1:
            name = word.lstrip("-")
            options.setdefault(name, []).append(words.pop(0) if name in _WITH_VALUE and words else "")
        else:
            operands.append(word)
    run = {
        "version": _version,
        "x509": _x509,
        "verify": _verify,
        "s_client": _s_client,
        "req": req,
        "rand": _rand,
        "rsa": _key,
        "pkey": _key,
        "genrsa": genrsa,
        "genpkey": genpkey,
        "ecparam": ecparam,
        "dgst": _digest,
        "sha256": _digest,
        "md5": _digest,
        "enc": _base64,
        "base64": _base64,
    }.get(verb)
    if run is None:
        ctx.stderr.write(f"Invalid command '{verb}'; type \"help\" for a list.\n".encode("utf-8", "surrogateescape"))
        return 1
    for name in _NUMBERS & options.keys():
        if not is_digits((given := options[name][-1]).removeprefix("-")):
            said = f'{verb}: Can\'t parse "{given}" as a number\n{verb}: Use -help for summary.\n'
            ctx.stderr.write(said.encode("utf-8", "surrogateescape"))
            return 1
    return run(ctx, {name: values[-1] for name, values in options.items()}, operands)


def _version(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    ctx.line(_VERSION)
    if "a" in options:
        ctx.line('built on: Mon Oct 23 17:52:22 2023 UTC\nplatform: debian-amd64\nOPENSSLDIR: "/usr/lib/ssl"')
    return 0


def _load(ctx: Context, path: str | None, what: str = "certificate") -> x509.Certificate | None:
    try:
        text = ctx.stdin.read().decode("utf-8", "replace") if path is None else ctx.files.text(path)
    except OSError as error:
        code = {2: "80000002", 13: "8000000D"}.get(error.errno or 0, "80000002")
        ctx.stderr.write(
            f"Could not open file or uri for loading {what} from {path}\n"
            "4017A5B5E77F0000:error:16000069:STORE routines:ossl_store_get0_loader_int:unregistered scheme:"
            "../crypto/store/store_register.c:237:scheme=file\n"
            f"4017A5B5E77F0000:error:{code}:system "
f"library:file_open:{error.strerror}:../providers/implementations/storemgmt/file_store.c:267:calling "
f"stat({path})\n"
            f"Unable to load {what}\n".encode("utf-8", "surrogateescape")
        )  # fmt: skip
        return None
    found = certs.parse(text)
    if not found:
        ctx.stderr.write(
            f"Could not read {what} from {path or '<stdin>'}\nUnable to load {what}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return None
    return found[0]


def _x509(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    if "req" in options:
        return sign(ctx, options)
    certificate = _load(ctx, options.get("in"))
    if certificate is None:
        return 1
    status = 0
    for name in options:
        if name == "subject":
            ctx.line(f"subject={certs.name_text(certificate.subject)}")
        elif name == "issuer":
            ctx.line(f"issuer={certs.name_text(certificate.issuer)}")
        elif name in ("dates", "startdate", "enddate"):
            if name != "enddate":
                ctx.line(f"notBefore={certs.date_text(certs.starts(certificate))}")
            if name != "startdate":
                ctx.line(f"notAfter={certs.date_text(certs.ends(certificate))}")
        elif name == "serial":
            ctx.line(f"serial={certificate.serial_number:X}")
        elif name == "fingerprint":
            kind = "SHA256" if "sha256" in options else "SHA1"
            digest = certificate.fingerprint(hashes.SHA256() if kind == "SHA256" else hashes.SHA1()).hex().upper()  # noqa: S303
            ctx.line(
                f"{kind.lower()} "
                f"Fingerprint={':'.join(digest[index : index + 2] for index in range(0, len(digest), 2))}"
            )
        elif name == "modulus":
            ctx.line(_modulus(certificate.public_key()))
        elif name == "pubkey":
            ctx.stdout.write(certificate.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        elif name == "checkend":
            limit = datetime.fromtimestamp(ctx.machine.clock.now + float(options[name] or 0), UTC)
            expires = certs.ends(certificate) <= limit
            ctx.line("Certificate will expire" if expires else "Certificate will not expire")
            status = int(expires)
        elif name == "checkhost":
            match = certs.matches_host(certificate, options[name])
            ctx.line(f"Hostname {options[name]} does{'' if match else ' NOT'} match certificate")
        elif name in ("text", "ext"):
            _text(ctx, certificate, only_names=name == "ext")
    if "noout" not in options:
        ctx.stdout.write(certificate.public_bytes(Encoding.PEM))
    return status


def _modulus(key: object) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        return f"Modulus={key.public_numbers().n:X}"
    return "Modulus=No modulus for this public key type"


def _text(ctx: Context, certificate: x509.Certificate, *, only_names: bool) -> None:
    names, addresses = certs.alternative_names(certificate)
    shown = ", ".join([*(f"DNS:{name}" for name in names), *(f"IP Address:{address}" for address in addresses)])
    if only_names:
        ctx.line(f"X509v3 Subject Alternative Name: \n    {shown}" if shown else "No extensions matched")
        return
    three = certificate.version == x509.Version.v3
    ctx.line(f"Certificate:\n    Data:\n        Version: {3 if three else 1} ({'0x2' if three else '0x0'})")
    ctx.line(f"        Serial Number: {certificate.serial_number} ({certificate.serial_number:#x})")
    ctx.line(f"        Issuer: {certs.name_text(certificate.issuer)}\n        Validity")
    ctx.line(f"            Not Before: {certs.date_text(certs.starts(certificate))}")
    ctx.line(f"            Not After : {certs.date_text(certs.ends(certificate))}")
    ctx.line(f"        Subject: {certs.name_text(certificate.subject)}")
    if shown:
        ctx.line(f"        X509v3 extensions:\n            X509v3 Subject Alternative Name: \n                {shown}")


def _verify(ctx: Context, options: dict[str, str], operands: list[str]) -> int:
    view = ctx.files
    anchors = certs.trusted(view, options.get("CAfile"))
    extra = certs.trusted(view, options["untrusted"]) if "untrusted" in options else ()
    status = 0
    for path in operands:
        certificate = _load(ctx, path)
        if certificate is None:
            return 2
        found = certs.problems((certificate, *extra), anchors, ctx.machine.clock.now)
        host = options.get("verify_hostname")
        if host and not certs.matches_host(certificate, host):
            found = (*found, certs.Problem(62, "hostname mismatch"))
        if not found:
            ctx.line(f"{path}: OK")
            continue
        subject = certs.name_text(certificate.subject)
        lines = [f"{subject}\nerror {one.number} at {one.depth} depth lookup: {one.text}" for one in found]
        lines.append(f"error {path}: verification failed\n")
        ctx.stderr.write("\n".join(lines).encode("utf-8", "surrogateescape"))
        status = 2
    return status


def _refused(link: ConnectFailure) -> str:
    """The error stack of one address that could not be connected to."""
    code = {"refused": "8000006F", "timeout": "8000006E", "unreachable": "80000071"}.get(link.kind, "8000006F")
    stack = "4017A5B5E77F0000:error:"
    return (
        f"{stack}{code}:system library:BIO_connect:{link.message}:../crypto/bio/bio_sock2.c:117:calling connect()\n"
        f"{stack}10000067:BIO routines:BIO_connect:connect error:../crypto/bio/bio_sock2.c:119:\n"
    )


def _s_client(ctx: Context, options: dict[str, str], operands: list[str]) -> int:
    place = options.get("connect") or (operands[0] if operands else "localhost:4433")
    host, _, port = place.rpartition(":")
    link = connect(ctx.machine, host or place, int(port) if is_digits(port) else 443, cred=ctx.cred)
    ctx.sleep(link.seconds)
    if isinstance(link, ConnectFailure):
        number = {"refused": 111, "timeout": 110, "unreachable": 113}.get(link.kind, 2)
        reason = {"refused": "connect:errno=111", "timeout": "connect:errno=110"}.get(
            link.kind, f"connect:errno={number}"
        )
        if link.kind == "no-such-host":
            ctx.stderr.write(
                f"4017A5B5E77F0000:error:10080002:BIO routines:BIO_lookup_ex:system "
                f"lib:../crypto/bio/bio_addr.c:738:{link.message}\nconnect:errno=22\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
        else:
            ctx.stderr.write(
                f"{_refused(link) * (2 if host == 'localhost' else 1)}{reason}\n".encode("utf-8", "surrogateescape")
            )
        return 1
    name = options.get("servername") or host or place
    answer = exchange(ctx.machine, link, HttpRequest("HEAD", "/", name, (), b"", link.source, "https"))
    ctx.line("CONNECTED(00000003)")
    if not isinstance(answer, HttpResponse) or answer.tls is None:
        ctx.stderr.write(
            b"4017A5B5E77F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version "
            b"number:../ssl/record/ssl3_record.c:354:\n"
        )
        ctx.line(
            "---\nno peer certificate available\n---\nNo client certificate CA names sent\n---\nSSL "
            "handshake has read 5 bytes and written 293 bytes\nVerification: OK\n---"
        )
        return 1
    chain = certs.parse(answer.tls.certificate)
    if not chain:
        return 1
    found = certs.problems(chain, certs.trusted(ctx.machine.view(), options.get("CAfile")), ctx.machine.clock.now)
    # It goes on after each, so that what it says at the end is the last.
    problem = found[-1] if found else None
    for problem in found:
        ctx.stderr.write(
            f"depth={problem.depth} {certs.name_text(chain[0].subject)}\nverify "
            f"error:num={problem.number}:{problem.text}\n".encode("utf-8", "surrogateescape")
        )
        if problem.number == 10:
            ctx.stderr.write(f"notAfter={certs.date_text(certs.ends(chain[0]))}\n".encode("utf-8", "surrogateescape"))
        ctx.stderr.write(b"verify return:1\n")
    ctx.line("---\nCertificate chain")
    for index, certificate in enumerate(chain):
        ctx.line(f" {index} s:{certs.name_text(certificate.subject)}\n   i:{certs.name_text(certificate.issuer)}")
        ctx.line(
            f"   v:NotBefore: {certs.date_text(certs.starts(certificate))}; NotAfter: "
            f"{certs.date_text(certs.ends(certificate))}"
        )
    ctx.line("---\nServer certificate")
    ctx.stdout.write(chain[0].public_bytes(Encoding.PEM))
    ctx.line(f"subject={certs.name_text(chain[0].subject)}\nissuer={certs.name_text(chain[0].issuer)}\n---")
    ctx.line("No client certificate CA names sent\n---\nNew, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384")
    ctx.line("Verification: OK" if problem is None else f"Verification error: {problem.text}")
    code = "0 (ok)" if problem is None else f"{problem.number} ({problem.text})"
    ctx.line(f"Verify return code: {code}\n---\nDONE")
    return 0


def _key(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    path = options.get("in")
    try:
        key = load_pem_private_key(ctx.stdin.read() if path is None else ctx.files.read(path), None)
        if ctx.args[0] == "rsa" and not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError
    except OSError as error:
        ctx.stderr.write(
            f"Could not open file or uri for loading private key from {path}: {error.strerror}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 1
    except (ValueError, TypeError):
        ctx.stderr.write(f"Could not read private key from {path}\n".encode("utf-8", "surrogateescape"))
        return 1
    if "check" in options:
        ctx.line("Key is valid" if "pkey" in ctx.args[0] else "RSA key ok")
    if "modulus" in options:
        ctx.line(_modulus(key.public_key()))
    if "pubout" in options:
        ctx.stdout.write(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    elif "noout" not in options:
        ctx.stdout.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return 0


def _rand(ctx: Context, options: dict[str, str], operands: list[str]) -> int:
    if not operands or not is_digits(operands[-1]):
        ctx.stderr.write(b"Extra arguments given.\nrand: Use -help for summary.\n")
        return 1
    size = min(int(operands[-1]), 1 << 20)
    data = b""
    while len(data) < size:
        data += hashlib.sha512(f"{ctx.machine.seed}:{ctx.machine.count('openssl rand')}".encode()).digest()
    data = data[:size]
    if "hex" in options:
        ctx.line(data.hex())
    elif "base64" in options:
        ctx.line(base64.b64encode(data).decode())
    else:
        ctx.stdout.write(data)
    return 0


def _digest(ctx: Context, options: dict[str, str], operands: list[str]) -> int:
    kind = next((name for name in (*options, ctx.args[0]) if name in ("sha256", "sha1", "md5", "sha512")), "sha256")
    label = {"sha256": "SHA2-256", "sha512": "SHA2-512", "sha1": "SHA1", "md5": "MD5"}[kind]
    for path in operands or [""]:
        try:
            data = ctx.files.read(path) if path else ctx.stdin.read()
        except OSError as error:
            ctx.stderr.write(f"{path}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
            return 1
        ctx.line(f"{label}({path or 'stdin'})= {hashlib.new(kind, data, usedforsecurity=False).hexdigest()}")
    return 0


def _base64(ctx: Context, options: dict[str, str], _operands: list[str]) -> int:
    try:
        data = ctx.files.read(options["in"]) if "in" in options else ctx.stdin.read()
        if "d" in options:
            ctx.stdout.write(base64.b64decode(data))
            return 0
    except (OSError, ValueError):
        return 1
    text = base64.b64encode(data).decode()
    for start in range(0, len(text), 64):
        ctx.line(text[start : start + 64])
    return 0
