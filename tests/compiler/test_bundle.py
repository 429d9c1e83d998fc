from __future__ import annotations

import dataclasses
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from compiler import archive
from compiler.bundle import compile_pack, write_bundle, write_proof
from compiler.content import content
from compiler.layout import is_bundle_path, slug, slugs
from compiler.manifest import check_files, read_manifest
from compiler.model import Bundle
from compiler.refusals import BadPath, BadTar, ForeignFolder, Refusal
from compiler.resolve import resolve, resolve_system
from scenario_dsl.errors import HostError
from scenario_dsl.model import Library
from tests.compiler.conftest import proof_of
from tests.compiler.libraries import INVESTIGATION, RECOVERY, SYSTEM, library

ROOT = Path(__file__).parents[2]
PROGRAM = """
import hashlib, sys, time
time.time = lambda: float(sys.argv[1])
from compiler import archive
from compiler.bundle import compile_pack
from tests.compiler.libraries import library
print(hashlib.sha256(archive.pack(compile_pack(library()).files)).hexdigest())
"""


def test_what_went_in_comes_out(bundle: Bundle) -> None:
    out = content(bundle.files)
    assert out.scenarios == {
        "find-the-500": resolve(INVESTIGATION, library()),
        "process-recovery": resolve(RECOVERY, library()),
    }
    assert out.systems == {"web-server": resolve_system(SYSTEM, library())}
    assert (out.name, out.version, out.canary, out.policies, out.digest) == (
        "small",
        "0.1.0",
        "canary-small",
        ("graded-submission",),
        bundle.digest,
    )


def test_the_manifest_lists_every_other_file(bundle: Bundle) -> None:
    manifest = check_files(bundle.files)
    assert [entry.path for entry in manifest.files] == sorted(set(bundle.files) - {"manifest.json"})
    assert all(is_bundle_path(path) for path in bundle.files)
    recovery = manifest.scenarios[1]
    assert [(world.name, world.file) for world in recovery.worlds] == [
        ("primary", "primary"),
        ("cache", "cache"),
        ("loud log", "loud-log"),
    ]
    assert {path.split("/")[1] for path in bundle.files if path.startswith("scenarios/")} == {
        "find-the-500",
        "process-recovery",
    }


def test_a_scenarios_digest_follows_its_own_files_and_its_system_only(bundle: Bundle) -> None:
    def digests(pack: Library) -> dict[str, str]:
        manifest = read_manifest(compile_pack(pack).files["manifest.json"])
        return {scenario.name: scenario.digest for scenario in manifest.scenarios}

    before = digests(library())
    after = digests(library(dataclasses.replace(RECOVERY, hints=("another",))))
    assert before["find-the-500"] == after["find-the-500"]
    assert before["process-recovery"] != after["process-recovery"]
    other_system = dataclasses.replace(library(), systems={SYSTEM.name: dataclasses.replace(SYSTEM, title="other")})
    assert all(before[name] != digest for name, digest in digests(other_system).items())


def test_solutions_lie_in_a_file_of_their_own(bundle: Bundle) -> None:
    holders = [path for path, data in bundle.files.items() if b"list-units --state=failed" in data]
    assert holders == ["scenarios/process-recovery/solutions.json"]


def test_the_tar_is_the_same_under_every_clock_locale_hash_seed_folder_and_umask(tmp_path: Path) -> None:
    surroundings = [
        ({"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}, ROOT, "022", "0"),
        (
            {"PYTHONHASHSEED": "4711", "TZ": "America/Adak", "LC_ALL": "C.UTF-8", "HOME": "/nowhere"},
            tmp_path,
            "077",
            "4e9",
        ),
    ]
    digests = set()
    for environment, folder, umask, clock in surroundings:
        done = subprocess.run(
            ["sh", "-c", f'umask {umask}; exec "$0" -c "$1" "$2"', sys.executable, PROGRAM, clock],
            env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **environment},
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_the_tar_holds_the_folders_files_with_nothing_of_the_machine(bundle: Bundle, tmp_path: Path) -> None:
    write_bundle(bundle, tmp_path / "out")
    with tarfile.open(tmp_path / "out" / "bundle.tar") as tar:
        entries = tar.getmembers()
    assert [entry.name for entry in entries] == sorted(bundle.files)
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.mode) for entry in entries} == {(0, 0, 0, "", 0o644)}
    assert archive.unpack((tmp_path / "out" / "bundle.tar").read_bytes(), name="t") == bundle.files


def test_writing_replaces_an_earlier_output_whole_and_nothing_else(bundle: Bundle, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    old_umask = os.umask(0o077)
    try:
        write_bundle(bundle, out, proof=proof_of(bundle), envelope=b"{}")
    finally:
        os.umask(old_umask)
    assert sorted(path.name for path in out.iterdir()) == ["bundle", "bundle.dsse.json", "bundle.tar", "proof.json"]
    assert stat.S_IMODE((out / "bundle" / "systems").stat().st_mode) == 0o755
    (out / "bundle" / "stale.json").write_text("{}")
    write_bundle(bundle, out)
    assert sorted(path.name for path in out.iterdir()) == ["bundle", "bundle.tar"]
    assert not (out / "bundle" / "stale.json").exists()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(ForeignFolder, match=r"notes\.txt"):
        write_bundle(bundle, out)
    assert (out / "notes.txt").read_text() == "mine"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_write_that_fails_leaves_what_was_there(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_bundle(bundle, out)
    before = sorted(path for path in tmp_path.rglob("*"))
    written = []
    original = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        written.append(self)
        if len(written) > 5:
            raise OSError(28, "No space left on device")
        return original(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HostError, match="No space"):
        write_bundle(bundle, out, proof=proof_of(bundle))
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_a_new_proof_takes_the_old_signature_away(bundle: Bundle, signed: Path) -> None:
    write_proof(signed, proof_of(bundle))
    assert sorted(path.name for path in signed.iterdir()) == ["bundle", "bundle.tar", "proof.json"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("loud log", "loud-log"), ("Größe/../x", "groe-x"), ("../../etc", "etc"), ("a" * 48, "a" * 48)],
)
def test_names_become_parts_of_paths(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_long_names_are_cut_and_stay_apart() -> None:
    one, other = slug("a" * 49), slug("a" * 50)
    assert one != other
    assert len(one) == len(other) == 48


def test_names_without_a_letter_and_names_alike_stay_apart() -> None:
    names = ["a b", "a-b", "A B", "…", "日本"]
    parts = slugs(names)
    assert [parts[name] for name in names[:3]] == ["a-b", "a-b-2", "a-b-3"]
    assert len(set(parts.values())) == len(names)
    assert all(is_bundle_path(part) for part in parts.values())


@pytest.mark.parametrize(
    "path", ["../a", "/a", "a//b", "a/./b", "a/..", "A", "a b", ".a", "", "a/", "a\n", "ä", "a" * 201]
)
def test_other_paths_are_refused(path: str) -> None:
    assert not is_bundle_path(path)
    with pytest.raises(BadPath):
        archive.pack({path: b""})


def test_a_tar_packed_by_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    subprocess.run(["tar", "-cf", "other.tar", "a.json"], cwd=tmp_path, check=True)
    with pytest.raises(BadTar, match="not the one way"):
        archive.unpack((tmp_path / "other.tar").read_bytes(), name="other.tar")
    os.symlink("a.json", tmp_path / "b.json")
    subprocess.run(["tar", "-cf", "link.tar", "b.json"], cwd=tmp_path, check=True)
    with pytest.raises(BadTar, match=r"b\.json is not a plain file"):
        archive.unpack((tmp_path / "link.tar").read_bytes(), name="link.tar")
    for junk in (b"", b"junk", b"\0" * 512):
        with pytest.raises(Refusal):
            archive.unpack(junk, name="junk.tar")
