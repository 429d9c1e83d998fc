"""Hosts of one's own are only touched where that was said, and by one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from breakfix.cli.main import run

PROVE = ("prove", "kernel_packs/scheduling", "--quiet")
INVENTORY = ("--inventory", "hosts.ini")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*PROVE, "--backend", "kernel", *INVENTORY), "say --i-own-these-hosts"),
        ((*PROVE, *INVENTORY, "--i-own-these-hosts"), "--inventory is for --backend kernel, not for sim"),
    ],
)
def test_what_is_not_said_is_not_assumed(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(arguments)) == 1
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_run_on_them_stays_in_one_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bundle"
    assert run(["compile", "kernel_packs/scheduling", "--out", str(folder)]) == 0
    assert run(["keygen", str(tmp_path / "me.key")]) == 0
    assert run(["sign", str(folder), "--key", str(tmp_path / "me.key"), "--unproven"]) == 0
    call = ["run", str(folder), "--trust", str(tmp_path / "me.key.pub"), "-a", "nop", "--out", str(tmp_path / "run")]
    capsys.readouterr()
    assert run([*call, "--backend", "kernel", *INVENTORY, "--i-own-these-hosts"]) == 1
    assert "needs --executor local" in " ".join(capsys.readouterr().err.split())
