"""receipt: issued for a trial of a run, shown, verified, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run
from runners.records_io import read_records


@pytest.mark.slow
def test_the_receipt_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["compile", "packs/starter", "--out", "starter"]) == 0
    assert run(["keygen", "me.key"]) == 0
    assert run(["keygen", "other.key"]) == 0
    assert run(["sign", "starter", "--key", "me.key", "--unproven"]) == 0
    played = [
        "run",
        "starter",
        "--trust",
        "me.key.pub",
        "-a",
        "gold",
        "-a",
        "nop",
        "-s",
        "process-recovery",
        "-w",
        "primary",
    ]
    assert run([*played, "--executor", "local", "--out", "first", "--quiet"]) == 0
    ids = {record.trial.agent.name: record.trial_id for record in read_records(tmp_path / "first")}
    issue = ["--bundle", "starter", "--trust", "me.key.pub", "--key", "me.key", "--out"]
    assert run(["receipt", "issue", "first", ids["gold"][:12], *issue, "gold"]) == 0
    assert run(["receipt", "issue", "first", ids["nop"][:12], *issue, "nop"]) == 1
    assert not Path("nop").exists()
    capsys.readouterr()
    assert run(["receipt", "verify", "gold/receipt.dsse.json", "--trust", "me.key.pub"]) == 0
    assert "VERIFIED: starter" in capsys.readouterr().out
    assert run(["receipt", "show", "gold/receipt.dsse.json", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["computed"], shown["receipt"]["agent"], shown["receipt"]["proven"]) == ("VERIFIED", "gold", False)
    assert run(["receipt", "verify", "gold/receipt.dsse.json", "--trust", "other.key.pub"]) == 1
    assert "signed by none of the trusted keys" in capsys.readouterr().err
    data = Path("gold/receipt.dsse.json").read_bytes()
    Path("gold/receipt.dsse.json").write_bytes(data.replace(b"payload", b"payl0ad", 1))
    assert run(["receipt", "verify", "gold/receipt.dsse.json", "--trust", "me.key.pub"]) == 1


def test_what_is_no_receipt_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "receipt.dsse.json"
    path.write_text("{}")
    assert run(["receipt", "show", str(path)]) == 1
    assert "is not a DSSE envelope" in capsys.readouterr().err
    assert run(["receipt", "show", str(tmp_path / "none.json")]) == 1
