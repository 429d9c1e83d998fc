"""Files and folders appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scenario_dsl.errors import HostError
from scenario_dsl.writing import write_file, write_tree


def test_a_file_appears_with_the_folders_above_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "plan.json"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(path.parent) == ["plan.json"]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = tmp_path / "plan.json", tmp_path / "tree"
    write_file(path, b"old")
    write_tree(folder, {"file": b"old"})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(HostError, match="No space left") as raised:
            write_file(path, b"new")
        with pytest.raises(HostError, match="No space left"):
            write_tree(folder, {"file": b"new"})
    assert "room" in raised.value.remedy
    assert path.read_bytes() == (folder / "file").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["plan.json", "tree"]


def test_a_place_that_cannot_be_written_is_the_hosts_fault(tmp_path: Path) -> None:
    write_file(tmp_path / "file", b"")
    with pytest.raises(HostError, match="cannot write"):
        write_file(tmp_path / "file" / "below", b"")
