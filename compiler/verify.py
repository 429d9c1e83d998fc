"""The one door by which a bundle comes in. Only what passed here is a `VerifiedBundle`, and runners take nothing else.

The order of the rules:

1. Every byte is read once, into memory; links, devices and what is too large are refused unread. From here on nothing
   is looked up on disk again.
2. The envelope is taken apart (it must be the canonical way to write itself) and its signature is checked against every
   trusted key. Until that holds, no other content is parsed: neither the statement, nor the manifest, nor the tar.
3. The statement is read (canonical again). It names the sha256 of the manifest and of the tar.
4. The tar's sha256 must be the signed one; the tar must be the one canonical way to write its files.
5. The manifest's sha256 must be the signed one; the files must be exactly those it lists, each with its sha256.
6. The folder's files must be the tar's files.
7. The proof in the statement must be about this manifest, hold, and cover every scenario; a `proof.json` beside the
   bundle must be that proof. A bundle signed as unproven has none.

A key id decides nothing: all trusted keys are tried. It is only compared afterwards, so that no byte of it can change.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler import archive
from compiler.content import content
from compiler.layout import ENVELOPE, FOLDER, LARGEST_TOTAL, MANIFEST, PROOF, TAR, sha256
from compiler.manifest import Manifest, check_files
from compiler.model import Bundle, PackContent, Proof
from compiler.reading import names_in, read_file, read_tree
from compiler.refusals import (
    BadEnvelope,
    BadProof,
    Extra,
    Missing,
    NotAPlainFile,
    Stranger,
    Unsigned,
    WrongSubject,
)
from compiler.signing import (
    Sealed,
    Statement,
    check_proof,
    decode,
    open_envelope,
    read_proof,
    sign,
    signed_bytes,
)
from compiler.trust import Trust, TrustedKey
from scenario_dsl.errors import InternalError

_DOOR = object()
# The tar holds up to LARGEST_TOTAL and, for each file, at most 1023 bytes of header and padding.
_LARGEST_TAR = 2 * LARGEST_TOTAL


class VerifiedBundle:
    """A bundle that passed every rule of this module. It holds its own bytes, and pickles.

    `digest` is the sha256 of the manifest; `proof` is None for a bundle signed as unproven; `key_id` labels the
    trusted key that signed it.
    """

    __slots__ = ("_content", "_files", "digest", "key_id", "name", "proof", "version")

    def __init__(self, door: object, manifest: Manifest, files: Mapping[str, bytes], proof: Proof | None, key_id: str):
        if door is not _DOOR:
            raise InternalError("a VerifiedBundle is made by compiler.verify alone")
        self._files = dict(files)
        self._content: PackContent | None = None
        self.name = manifest.pack.name
        self.version = manifest.pack.version
        self.digest = sha256(files[MANIFEST])
        self.proof = proof
        self.key_id = key_id

    def __reduce__(self) -> tuple[object, ...]:
        return _arrive, (self._files, self.proof, self.key_id, self.digest)

    def __repr__(self) -> str:
        return f"VerifiedBundle({self.name} {self.version}, {self.digest[:12]}, proven={self.proven})"

    @property
    def files(self) -> Mapping[str, bytes]:
        """Path inside the bundle -> bytes, read-only."""
        return MappingProxyType(self._files)

    @property
    def proven(self) -> bool:
        return self.proof is not None

    @property
    def content(self) -> PackContent:
        """The typed content, built when first asked for."""
        if self._content is None:
            self._content = content(self._files)
        return self._content

    @property
    def bundle(self) -> Bundle:
        """The same bytes without the claim that they are verified: what `sign` takes."""
        return Bundle(name=self.name, version=self.version, digest=self.digest, files=dict(self._files))


def verify(path: Path, trust: Trust, *, envelope: Path | None = None) -> VerifiedBundle:
    """Let a signed bundle in: the folder that `write_bundle` made, or its tar with the envelope beside it.

    `envelope` names the envelope of a tar that lies elsewhere. Raises a Refusal, which names the file and what is wrong
    with it.
    """
    if path.is_symlink():
        raise NotAPlainFile(str(path), "symbolic link")
    if path.is_dir():
        return _verify_folder(path, trust)
    tar = read_file(path, limit=_LARGEST_TAR)
    return _admit(tar, _read_envelope(envelope or envelope_of(path)), trust)


def envelope_of(tar: Path) -> Path:
    """Where the envelope of a tar lies: `web.tar` -> `web.dsse.json`."""
    return tar.with_name(tar.name.removesuffix(".tar") + ".dsse.json")


def read_unsigned(folder: Path) -> Bundle:
    """A compiled bundle before it is signed, for `prove` and `sign`: whole and consistent, but nobody's word for it."""
    _check_outer(folder)
    files = read_tree(folder / FOLDER)
    manifest = check_files(files)
    if read_file(folder / TAR, limit=_LARGEST_TAR) != archive.pack(files):
        raise WrongSubject(TAR, "content", "its own files", "those of the folder")
    return Bundle(name=manifest.pack.name, version=manifest.pack.version, digest=sha256(files[MANIFEST]), files=files)


def read_proof_of(folder: Path) -> Proof | None:
    """The proof that lies in a compiled folder, or None."""
    _check_outer(folder)
    return read_proof(read_file(folder / PROOF)) if PROOF in names_in(folder) else None


def verify_under_ephemeral_key(bundle: Bundle) -> VerifiedBundle:
    """The same door for a bundle just compiled, so that it can be proven before its author signs it.

    The key lives in memory only and is forgotten at once. The result is never `proven`.
    """
    key = Ed25519PrivateKey.generate()
    trust = Trust(source="memory", keys=(TrustedKey(name="ephemeral", key=key.public_key()),))
    return _admit(archive.pack(bundle.files), sign(bundle, key, None), trust)


def _verify_folder(folder: Path, trust: Trust) -> VerifiedBundle:
    names = _check_outer(folder)
    files = read_tree(folder / FOLDER)
    tar = read_file(folder / TAR, limit=_LARGEST_TAR)
    proof = read_file(folder / PROOF) if PROOF in names else None
    verified = _admit(tar, _read_envelope(folder / ENVELOPE), trust)
    _check_digest(MANIFEST, verified.digest, files.get(MANIFEST))
    check_files(files)
    _check_proof_file(proof, verified.proof)
    return verified


def _check_outer(folder: Path) -> tuple[str, ...]:
    """The folder's own entries: all that belong, and nothing else."""
    names = names_in(folder)
    for name in names:
        if name not in (FOLDER, TAR, PROOF, ENVELOPE):
            raise Extra(name)
    for name in (FOLDER, TAR):
        if name not in names:
            raise Missing(name)
    return names


def _read_envelope(path: Path) -> bytes:
    try:
        return read_file(path)
    except Missing as error:
        raise Unsigned(str(path)) from error


def _admit(tar: bytes, envelope: bytes, trust: Trust) -> VerifiedBundle:
    """Rules 2 to 5, and 7 as far as the statement goes."""
    sealed = open_envelope(envelope)
    key_id = check_signature(sealed, trust)
    statement = decode(sealed.payload)
    _check_digest(TAR, statement.tar_sha256, tar)
    files = archive.unpack(tar, name=TAR)
    _check_digest(MANIFEST, statement.manifest_sha256, files.get(MANIFEST))
    manifest = check_files(files)
    _check_statement(statement, manifest)
    return VerifiedBundle(_DOOR, manifest, files, statement.proof, key_id)


def check_signature(sealed: Sealed, trust: Trust) -> str:
    """The id of the trusted key that made the signature. Raises Stranger or BadEnvelope."""
    message = signed_bytes(sealed)
    for trusted in trust.keys:
        try:
            trusted.key.verify(sealed.signature, message)
        except InvalidSignature:
            continue
        if sealed.key_id != trusted.key_id:
            raise BadEnvelope(ENVELOPE, f"claims the key id {sealed.key_id}, but {trusted.key_id} signed it")
        return trusted.key_id
    raise Stranger(ENVELOPE, trust.names)


def _check_digest(name: str, signed: str, data: bytes | None) -> None:
    if data is None:
        raise Missing(name)
    found = sha256(data)
    if found != signed:
        raise WrongSubject(name, "content", signed, found)


def _check_statement(statement: Statement, manifest: Manifest) -> None:
    if (statement.pack, statement.version) != (manifest.pack.name, manifest.pack.version):
        signed, found = f"{statement.pack} {statement.version}", f"{manifest.pack.name} {manifest.pack.version}"
        raise WrongSubject(ENVELOPE, "pack", signed, found)
    if statement.proof is not None:
        check_proof(statement.proof, statement.manifest_sha256)
        proven = sorted(scenario.scenario for scenario in statement.proof.scenarios)
        if proven != sorted(scenario.name for scenario in manifest.scenarios):
            raise BadProof(ENVELOPE, "its proof does not cover exactly the scenarios of the bundle")


def _check_proof_file(data: bytes | None, signed: Proof | None) -> None:
    if data is None and signed is not None:
        raise Missing(PROOF)
    if data is not None:
        if signed is None:
            raise BadProof(PROOF, "lies beside a bundle that was signed as unproven")
        if read_proof(data) != signed:
            raise BadProof(PROOF, "is not the proof that was signed")


def _arrive(files: Mapping[str, bytes], proof: Proof | None, key_id: str, digest: str) -> VerifiedBundle:
    """Unpickling: the bytes come from a process that verified them, and are held against their digest once more."""
    manifest = check_files(files)
    if sha256(files[MANIFEST]) != digest:
        raise InternalError("a bundle changed on its way between processes")
    return VerifiedBundle(_DOOR, manifest, files, proof, key_id)
