"""Keys that openssl makes are what was asked for, and fit the certificates made with them."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from runners.sim.certificates import belongs, parse, verify
from tests.runners.sim.admin.line import Terminal


@pytest.mark.parametrize(
    ("command", "kind", "bits"),
    [
        ("genrsa -out k", rsa.RSAPrivateKey, 2048),
        ("genrsa -out k 4096", rsa.RSAPrivateKey, 4096),
        ("genpkey -algorithm ED25519 -out k", Ed25519PrivateKey, None),
        ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out k", ec.EllipticCurvePrivateKey, 384),
        ("ecparam -name prime256v1 -genkey -noout -out k", ec.EllipticCurvePrivateKey, 256),
    ],
)
def test_keys_are_of_the_kind_asked_for(command: str, kind: type, bits: int | None) -> None:
    sh = Terminal()
    assert sh(f"openssl {command}").status == 0
    key = load_pem_private_key(sh("cat k").out.encode(), None)
    assert isinstance(key, kind)
    assert getattr(key, "key_size", None) == bits
    for self_signed in ("req -x509 -key k -subj /CN=a -out c", "req -new -key k -subj /CN=a -out r"):
        assert sh(f"openssl {self_signed}").status == 0
    assert sh("openssl x509 -req -in r -signkey k -days 3 -out v1").status == 0
    for name, version in (("c", x509.Version.v3), ("v1", x509.Version.v1)):
        text = sh(f"cat {name}").out
        certificate = parse(text)[0]
        assert certificate.version == version
        assert belongs(certificate, sh("cat k").out)
        assert verify([certificate], [certificate], certificate.not_valid_before_utc.timestamp() + 60) is None
        certificate.verify_directly_issued_by(certificate)


def test_two_keys_of_one_machine_differ() -> None:
    sh = Terminal()
    assert sh("openssl genrsa").out != sh("openssl genrsa").out
