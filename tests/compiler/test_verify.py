from __future__ import annotations

import dataclasses
import json
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler import archive
from compiler.bundle import write_bundle, write_envelope
from compiler.codec import dump, load_value
from compiler.keys import load_private
from compiler.layout import sha256
from compiler.manifest import read_manifest
from compiler.model import Bundle
from compiler.refusals import (
    Altered,
    BadEnvelope,
    BadManifest,
    BadPath,
    BadProof,
    Extra,
    Refusal,
    Stranger,
    UnknownFormat,
    Unsigned,
    WrongSubject,
)
from compiler.resolve import resolve
from compiler.signing import sign
from compiler.trust import Trust
from compiler.verify import VerifiedBundle, read_proof_of, read_unsigned, verify, verify_under_ephemeral_key
from scenario_dsl.errors import AuthorError, InternalError
from scenario_dsl.values import thaw
from tests.compiler.conftest import Signer, proof_of
from tests.compiler.libraries import RECOVERY, library


def every_file(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# -- what passes


def test_a_proven_bundle_comes_in(bundle: Bundle, signer: Signer, signed: Path) -> None:
    verified = verify(signed, signer.trust)
    assert verified.digest == bundle.digest
    assert verified.files == bundle.files
    assert verified.proof == proof_of(bundle)
    assert verified.proven
    assert verified.key_id == signer.trust.keys[0].key_id
    assert verified.content.scenarios["process-recovery"] == resolve(RECOVERY, library())
    assert verified.content is verified.content


def test_an_unproven_bundle_says_so(bundle: Bundle, signer: Signer, tmp_path: Path) -> None:
    verified = verify(signer.write(bundle, tmp_path / "out"), signer.trust)
    assert verified.proof is None
    assert not verified.proven


def test_the_tar_and_its_envelope_are_enough(signer: Signer, signed: Path, tmp_path: Path) -> None:
    shutil.copy(signed / "bundle.tar", tmp_path / "small.tar")
    with pytest.raises(Unsigned, match=r"small\.dsse\.json"):
        verify(tmp_path / "small.tar", signer.trust)
    shutil.copy(signed / "bundle.dsse.json", tmp_path / "small.dsse.json")
    assert verify(tmp_path / "small.tar", signer.trust).proven
    shutil.move(tmp_path / "small.dsse.json", tmp_path / "elsewhere")
    assert verify(tmp_path / "small.tar", signer.trust, envelope=tmp_path / "elsewhere").proven


def test_nothing_is_read_from_disk_again(signer: Signer, signed: Path) -> None:
    verified = verify(signed, signer.trust)
    shutil.rmtree(signed)
    assert list(verified.content.scenarios) == ["find-the-500", "process-recovery"]


def test_it_pickles_and_its_bytes_are_held_against_the_digest(signer: Signer, signed: Path) -> None:
    verified = verify(signed, signer.trust)
    back = pickle.loads(pickle.dumps(verified))
    assert isinstance(back, VerifiedBundle)
    assert (back.digest, back.proof, back.files, back.key_id) == (
        verified.digest,
        verified.proof,
        verified.files,
        verified.key_id,
    )
    spoilt = pickle.dumps(verified).replace(b"systemctl start", b"systemctl xtart")
    with pytest.raises(Altered):
        pickle.loads(spoilt)


def test_only_the_door_makes_one(bundle: Bundle, signer: Signer, signed: Path) -> None:
    manifest = read_manifest(bundle.files["manifest.json"])
    with pytest.raises(InternalError):
        VerifiedBundle(object(), manifest, bundle.files, None, "key")
    with pytest.raises(TypeError):
        verify(signed, signer.trust).files["manifest.json"] = b""  # type: ignore[index]


def test_a_bundle_can_be_proven_before_it_is_signed(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "out")
    assert read_unsigned(tmp_path / "out") == bundle
    assert read_proof_of(tmp_path / "out") is None
    verified = verify_under_ephemeral_key(bundle)
    assert not verified.proven
    assert verified.bundle == bundle
    spoilt = dataclasses.replace(bundle, files={**bundle.files, "systems/web-server.json": b"{}"})
    with pytest.raises(Altered):
        verify_under_ephemeral_key(spoilt)


# -- flipped bytes


def test_every_file_is_covered_at_random_positions(signer: Signer, signed: Path) -> None:
    choose = random.Random(20)
    files = every_file(signed)
    assert {path.name for path in files} >= {"bundle.tar", "bundle.dsse.json", "proof.json", "manifest.json"}
    positions = [(path, choose.randrange(path.stat().st_size)) for path in files]
    weights = [path.stat().st_size for path in files]
    while len(positions) < 260:
        path = choose.choice(files) if choose.random() < 0.7 else choose.choices(files, weights)[0]
        positions.append((path, choose.randrange(path.stat().st_size)))
    for path, position in positions:
        good = path.read_bytes()
        bad = bytearray(good)
        bad[position] ^= choose.randrange(1, 256)
        path.write_bytes(bytes(bad))
        with pytest.raises(AuthorError):
            verify(signed, signer.trust)
        path.write_bytes(good)
    assert verify(signed, signer.trust).proven


@pytest.mark.slow
def test_two_hundred_positions_of_every_file_are_covered(signer: Signer, signed: Path) -> None:
    choose = random.Random(22)
    for path in every_file(signed):
        good = path.read_bytes()
        for position in choose.sample(range(len(good)), min(200, len(good))):
            flipped = good[position] ^ choose.randrange(1, 256)
            path.write_bytes(good[:position] + bytes([flipped]) + good[position + 1 :])
            with pytest.raises(AuthorError):
                verify(signed, signer.trust)
        path.write_bytes(good)


def test_every_byte_of_the_envelope_is_covered(signer: Signer, signed: Path) -> None:
    path = signed / "bundle.dsse.json"
    good = path.read_bytes()
    for position in range(len(good)):
        # Each bit in turn; 0x20 among them, which changes the case of a letter.
        flipped = good[position] ^ (1 << position % 8)
        path.write_bytes(good[:position] + bytes([flipped]) + good[position + 1 :])
        with pytest.raises(Refusal):
            verify(signed / "bundle.tar", signer.trust)


def test_flips_in_the_tar_alone_are_refused(signer: Signer, signed: Path) -> None:
    choose = random.Random(21)
    tar = signed / "bundle.tar"
    good = tar.read_bytes()
    # The padding between entries and the end of the archive are bytes too.
    for position in [*(choose.randrange(len(good)) for _ in range(100)), 300, 511, len(good) - 1, len(good) - 2000]:
        tar.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
        with pytest.raises(WrongSubject):
            verify(tar, signer.trust)


@pytest.mark.parametrize(
    "change", [lambda data: data + b"\n", lambda data: data[:-1], lambda data: b"", lambda data: b" " + data]
)
def test_no_file_may_grow_or_shrink(change: Callable[[bytes], bytes], signer: Signer, signed: Path) -> None:
    for path in every_file(signed):
        good = path.read_bytes()
        path.write_bytes(change(good))
        with pytest.raises(AuthorError):
            verify(signed, signer.trust)
        path.write_bytes(good)


def test_a_changed_file_is_named(signer: Signer, signed: Path) -> None:
    path = signed / "bundle" / "scenarios" / "process-recovery" / "solutions.json"
    path.write_bytes(path.read_bytes().replace(b"reboot", b"xeboot"))
    with pytest.raises(Altered, match=r"scenarios/process-recovery/solutions\.json"):
        verify(signed, signer.trust)


# -- whose word it is


def test_a_strangers_signature_is_refused(bundle: Bundle, signed: Path, new_signer: Callable[[], Signer]) -> None:
    with pytest.raises(Stranger, match=r"author in .*author\.pub"):
        verify(signed, new_signer().trust)
    with pytest.raises(Stranger, match="none in nowhere"):
        verify(signed, Trust(source="nowhere", keys=()))


def test_a_borrowed_key_id_decides_nothing(bundle: Bundle, signer: Signer, signed: Path) -> None:
    stranger = Ed25519PrivateKey.generate()
    forged = thaw(load_value(sign(bundle, stranger, proof_of(bundle))))
    forged["signatures"][0]["keyid"] = signer.trust.keys[0].key_id  # type: ignore[index,call-overload]
    write_envelope(signed, dump(forged))
    with pytest.raises(Stranger):
        verify(signed, signer.trust)


def test_the_right_key_is_found_among_several(signer: Signer, signed: Path, new_signer: Callable[[], Signer]) -> None:
    keys = (*new_signer().trust.keys, *signer.trust.keys, *new_signer().trust.keys)
    assert verify(signed, Trust(source="three", keys=keys)).key_id == signer.trust.keys[0].key_id


def test_a_second_signature_is_no_way_in(bundle: Bundle, signer: Signer, signed: Path) -> None:
    first = json.loads((signed / "bundle.dsse.json").read_bytes())
    second = json.loads(sign(bundle, Ed25519PrivateKey.generate(), proof_of(bundle)))
    first["signatures"] += second["signatures"]
    write_envelope(signed, dump(first))
    with pytest.raises(BadEnvelope, match="one signature"):
        verify(signed, signer.trust)


def test_an_envelope_in_the_other_base64_alphabet_is_refused(
    bundle: Bundle, new_signer: Callable[[], Signer], tmp_path: Path
) -> None:
    signer, body = new_signer(), {"signatures": [{"sig": ""}]}
    while not set(body["signatures"][0]["sig"]) & set("+/"):  # nearly every signature has one of them
        signer = new_signer()
        out = signer.write(bundle, tmp_path / "out")
        body = json.loads((out / "bundle.dsse.json").read_bytes())
    body["signatures"][0]["sig"] = body["signatures"][0]["sig"].replace("+", "-").replace("/", "_")
    write_envelope(out, dump(body))
    with pytest.raises(BadEnvelope, match="canonical"):
        verify(out, signer.trust)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"payload":"","payloadType":"application/vnd.in-toto+json","signatures":[]}',
        b'{"payload":"!","payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":"","sig":""}]}',
        b'{"payload":"","payloadType":"text/plain","signatures":[{"keyid":"","sig":""}]}',
        b"[" * 100_000,
    ],
)
def test_other_envelopes_are_refused(body: bytes, signer: Signer, signed: Path) -> None:
    write_envelope(signed, body)
    with pytest.raises(BadEnvelope):
        verify(signed, signer.trust)


# -- bundles that a trusted key signed, and that are wrong all the same


def signed_anew(files: dict[str, bytes], signer: Signer, out: Path, name: str = "small") -> Path:
    bundle = Bundle(name=name, version="0.1.0", digest=sha256(files["manifest.json"]), files=files)
    write_bundle(bundle, out)
    write_envelope(out, sign(bundle, load_private(signer.private), None))
    return out


def changed_manifest(bundle: Bundle, change: Callable[[dict[str, list[object]]], object]) -> dict[str, bytes]:
    manifest = json.loads(bundle.files["manifest.json"])
    change(manifest)
    return {**bundle.files, "manifest.json": dump(manifest)}


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (lambda manifest: manifest.update(format="breakfix-bundle/2"), UnknownFormat),
        (lambda manifest: manifest.update(surprise=1), BadManifest),
        (lambda manifest: manifest["files"].append(manifest["files"][0]), BadManifest),
        (lambda manifest: manifest["files"].reverse(), BadManifest),
        (lambda manifest: manifest["files"].pop(), Extra),
        (lambda manifest: manifest["files"][0].update(path="../../etc/passwd"), BadPath),
        (lambda manifest: manifest["files"][0].update(size=1), Altered),
        (lambda manifest: manifest["pack"].update(name="other"), WrongSubject),
    ],
)
def test_a_wrong_manifest_is_refused_whoever_signed(
    change: Callable[[dict[str, list[object]]], object],
    refusal: type[Refusal],
    bundle: Bundle,
    signer: Signer,
    tmp_path: Path,
) -> None:
    out = signed_anew(changed_manifest(bundle, change), signer, tmp_path / "out")
    with pytest.raises(refusal):
        verify(out, signer.trust)


def test_a_manifest_with_a_key_twice_is_refused(bundle: Bundle, signer: Signer, tmp_path: Path) -> None:
    doubled = bundle.files["manifest.json"].replace(b'{"files":', b'{"files":[],"files":', 1)
    out = signed_anew({**bundle.files, "manifest.json": doubled}, signer, tmp_path / "out")
    with pytest.raises(BadManifest, match="canonical"):
        verify(out, signer.trust)


def test_content_that_contradicts_the_manifest_is_refused(bundle: Bundle, signer: Signer, tmp_path: Path) -> None:
    files = changed_manifest(bundle, lambda manifest: manifest["scenarios"][0].update(name="other"))  # type: ignore[attr-defined]
    verified = verify(signed_anew(files, signer, tmp_path / "out"), signer.trust)
    with pytest.raises(BadManifest, match="other things"):
        _ = verified.content


def test_a_tar_of_other_files_is_refused(bundle: Bundle, signer: Signer, signed: Path) -> None:
    (signed / "bundle.tar").write_bytes(archive.pack({"manifest.json": bundle.files["manifest.json"]}))
    with pytest.raises(WrongSubject, match=r"bundle\.tar"):
        verify(signed, signer.trust)


# -- proofs


def test_a_proof_that_fails_or_is_anothers_is_never_signed(bundle: Bundle) -> None:
    key = Ed25519PrivateKey.generate()
    with pytest.raises(BadProof, match="does not hold for find-the-500, process-recovery"):
        sign(bundle, key, proof_of(bundle, passed=False))
    with pytest.raises(BadProof, match="another bundle"):
        sign(bundle, key, dataclasses.replace(proof_of(bundle), bundle_digest="0" * 64))


def test_a_proof_that_leaves_a_scenario_out_is_refused(bundle: Bundle, signer: Signer, tmp_path: Path) -> None:
    for scenarios in (("find-the-500",), ("find-the-500", "find-the-500"), ("find-the-500", "process-recovery", "x")):
        out = signer.write(bundle, tmp_path / "out", proof_of(bundle, *scenarios))
        with pytest.raises(BadProof, match="exactly the scenarios"):
            verify(out, signer.trust)


def test_another_proof_beside_the_signed_one_is_refused(bundle: Bundle, signer: Signer, signed: Path) -> None:
    (signed / "proof.json").write_bytes(dump(proof_of(bundle, "find-the-500")))
    with pytest.raises(BadProof, match="not the proof that was signed"):
        verify(signed, signer.trust)
