"""A bundle of another shape is refused: links, files that are none, what is missing, added or mixed."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.layout import LARGEST_FILE
from compiler.model import Bundle
from compiler.refusals import (
    BadPath,
    BadProof,
    EmptyFolder,
    Extra,
    Missing,
    NotAPlainFile,
    Refusal,
    TooLarge,
    Unsigned,
)
from compiler.verify import verify
from tests.compiler.conftest import Signer


def symlink_inside(out: Path) -> None:
    shutil.move(out / "bundle" / "manifest.json", out / "bundle" / "systems" / "x.json")
    (out / "bundle" / "manifest.json").symlink_to("systems/x.json")


def symlink_outside(out: Path) -> None:
    shutil.move(out / "bundle" / "manifest.json", out.parent / "manifest.json")
    (out / "bundle" / "manifest.json").symlink_to(out.parent / "manifest.json")


def symlinked_folder(out: Path) -> None:
    shutil.move(out / "bundle", out.parent / "elsewhere")
    (out / "bundle").symlink_to(out.parent / "elsewhere")


def symlinked_subfolder(out: Path) -> None:
    shutil.move(out / "bundle" / "systems", out.parent / "systems")
    (out / "bundle" / "systems").symlink_to(out.parent / "systems")


def symlinked_tar(out: Path) -> None:
    shutil.move(out / "bundle.tar", out.parent / "bundle.tar")
    (out / "bundle.tar").symlink_to(out.parent / "bundle.tar")


def hard_link(out: Path) -> None:
    os.link(out / "bundle" / "manifest.json", out.parent / "other-name")


def fifo(out: Path) -> None:
    (out / "bundle" / "manifest.json").unlink()
    os.mkfifo(out / "bundle" / "manifest.json")


def added_socket(out: Path) -> None:
    here = os.getcwd()
    os.chdir(out / "bundle")  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s")
    finally:
        os.chdir(here)


def folder_for_file(out: Path) -> None:
    (out / "bundle.tar").unlink()
    (out / "bundle.tar").mkdir()


def file_for_folder(out: Path) -> None:
    shutil.rmtree(out / "bundle" / "systems")
    (out / "bundle" / "systems").write_text("x")


def upper_case(out: Path) -> None:
    (out / "bundle" / "Manifest.json").write_text("{}")


def renamed_by_case(out: Path) -> None:
    os.rename(out / "bundle" / "systems", out / "bundle" / "Systems")


def huge(out: Path) -> None:
    os.truncate(out / "bundle" / "manifest.json", LARGEST_FILE + 1)


@pytest.mark.parametrize(
    ("spoil", "refusal", "named"),
    [
        (lambda out: (out / "bundle" / "extra.json").write_text("{}"), Extra, "extra.json"),
        (lambda out: (out / "bundle" / ".hidden").write_text(""), BadPath, ".hidden"),
        (lambda out: (out / "bundle" / "a\nb").write_text(""), BadPath, "a\\nb"),
        (lambda out: (out / "notes.txt").write_text("x"), Extra, "notes.txt"),
        (lambda out: (out / "bundle" / "systems" / "web-server.json").unlink(), EmptyFolder, "systems"),
        (
            lambda out: (out / "bundle" / "scenarios" / "find-the-500" / "scenario.json").unlink(),
            Missing,
            "scenario.json",
        ),
        (lambda out: (out / "bundle" / "manifest.json").unlink(), Missing, "manifest.json"),
        (lambda out: (out / "bundle.tar").unlink(), Missing, "bundle.tar"),
        (lambda out: shutil.rmtree(out / "bundle"), Missing, "bundle"),
        (lambda out: (out / "bundle.dsse.json").unlink(), Unsigned, "bundle.dsse.json"),
        (lambda out: (out / "proof.json").unlink(), Missing, "proof.json"),
        (lambda out: (out / "bundle" / "empty").mkdir(), EmptyFolder, "empty"),
        (lambda out: os.rename(out / "bundle" / "manifest.json", out / "bundle" / "m.json"), Missing, "manifest.json"),
        (symlink_inside, NotAPlainFile, "manifest.json"),
        (symlink_outside, NotAPlainFile, "manifest.json"),
        (symlinked_folder, NotAPlainFile, "bundle"),
        (symlinked_subfolder, NotAPlainFile, "systems"),
        (symlinked_tar, NotAPlainFile, "bundle.tar"),
        (hard_link, NotAPlainFile, "manifest.json"),
        (fifo, NotAPlainFile, "manifest.json"),
        (added_socket, NotAPlainFile, "s: is a socket"),
        (folder_for_file, NotAPlainFile, "bundle.tar"),
        (file_for_folder, Extra, "systems"),
        (upper_case, BadPath, "Manifest.json"),
        (renamed_by_case, BadPath, "Systems/"),
        (huge, TooLarge, "manifest.json"),
    ],
)
def test_another_shape_is_refused(
    spoil: Callable[[Path], object], refusal: type[Refusal], named: str, signer: Signer, signed: Path
) -> None:
    spoil(signed)
    with pytest.raises(refusal) as caught:
        verify(signed, signer.trust)
    assert named in str(caught.value)


def test_a_link_to_a_good_folder_is_refused(signer: Signer, signed: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(signed)
    with pytest.raises(NotAPlainFile):
        verify(tmp_path / "link", signer.trust)


def test_files_of_two_good_bundles_do_not_mix(bundle: Bundle, signer: Signer, signed: Path, tmp_path: Path) -> None:
    other = signer.write(dataclasses.replace(bundle), tmp_path / "other")
    shutil.copy(other / "bundle.dsse.json", signed / "bundle.dsse.json")
    with pytest.raises(BadProof, match="signed as unproven"):
        verify(signed, signer.trust)
