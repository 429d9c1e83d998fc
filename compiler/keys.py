"""Ed25519 keys as files: a private key (PKCS #8 PEM, mode 0600) and beside it the public one (`.pub`, PEM)."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]  # re-exported without saying so

from compiler.reading import read_file
from compiler.refusals import BadKey
from scenario_dsl.writing import writing_to

_LARGEST_KEY = 16 * 1024


def generate(private: Path) -> Path:
    """Make a new pair: `private`, and `<private>.pub`, whose path is returned. Existing files are never overwritten.

    Raises BadKey or HostError.
    """
    key = Ed25519PrivateKey.generate()
    public = public_path(private)
    for path in (private, public):
        if os.path.lexists(path):
            raise BadKey(str(path), "exists already; choose another name, or remove it if nothing needs it any more")
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with writing_to(private):
        _write_new(private, secret, 0o600)
        _write_new(public, public_pem(key.public_key()), 0o644)
    return public


def public_path(private: Path) -> Path:
    """Raises BadKey for a path that names no file."""
    if not private.name:
        raise BadKey(str(private), "is no name for a key's file")
    return private.with_name(private.name + ".pub")


def load_private(path: Path) -> Ed25519PrivateKey:
    """Raises BadKey when it is no Ed25519 key, is encrypted, or others may read it; Missing when it is not there."""
    data = read_file(path, limit=_LARGEST_KEY)
    if path.stat().st_mode & 0o077:
        raise BadKey(str(path), f"other users may read this private key; run: chmod 600 {path}")
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(str(path), "is not an unencrypted private key in PEM form") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(str(path), "is not an Ed25519 key")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """Raises BadKey when it is no Ed25519 public key; Missing when it is not there."""
    data = read_file(path, limit=_LARGEST_KEY)
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(str(path), "is not a public key in PEM form") from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(str(path), "is not an Ed25519 key")
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """A label for people and for finding a key again. It decides nothing: only the trust store does."""
    return str(SSlibKey.from_crypto(key).keyid)


def public_pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), mode)  # whatever the umask is
        file.write(data)
