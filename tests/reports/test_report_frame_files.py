"""Frames as files: they come back as they were, the same bytes each time, and say what they need."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import reports
from breakfix.cli.main import run
from reports import frame_files
from reports.frame_files import COLUMNS, as_files
from runners.records import AgentIdentity
from scenario_dsl.errors import HostError
from tests.reports.synthetic_records import SCENARIOS, record, run_records, write_run


def test_parquet_files_come_back_as_the_frames_they_were(tmp_path: Path) -> None:
    frames = reports.load(write_run(tmp_path, run_records(attempts=2)))
    files = as_files(frames, "parquet")
    assert set(files) == {f"{name}.parquet" for name in COLUMNS} | {"columns.json"}
    for name in COLUMNS:
        back = pd.read_parquet(io.BytesIO(files[f"{name}.parquet"]), dtype_backend="numpy_nullable")
        pd.testing.assert_frame_equal(back, getattr(frames, name), check_dtype=False)
    assert as_files(frames, "parquet") == files


def test_csv_files_hold_every_row_and_start_no_formula(tmp_path: Path) -> None:
    hostile = record(agent=AgentIdentity(name="=cmd()"), scenario=SCENARIOS[0], outcome="Errored", error="+1")
    frames = reports.load(write_run(tmp_path, [hostile]))
    files = as_files(frames, "csv")
    (row,) = pd.read_csv(io.BytesIO(files["trials.csv"])).to_dict("records")
    assert (row["agent"], row["infrastructure_error"]) == ("'=cmd()", "'+1")
    assert pd.isna(row["score"])
    assert files["turns.csv"].decode().splitlines()[0].split(",") == [column.name for column in COLUMNS["turns"]]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_run_without_records_has_files_too(tmp_path: Path, kind: str) -> None:
    assert run(["export", kind, str(write_run(tmp_path / "run", [])), "--out", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {f"{n}.{kind}" for n in COLUMNS} | {"columns.json"}


def test_the_columns_are_documented_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_run(tmp_path / "run", run_records(attempts=1))
    assert run(["export", "csv", str(where), "--out", str(tmp_path / "out"), "--json"]) == 0
    told = json.loads((tmp_path / "out" / "columns.json").read_text())
    assert [each["name"] for each in told["attempts"]] == [column.name for column in COLUMNS["attempts"]]
    assert all(each["doc"].endswith(".") for columns in told.values() for each in columns)
    written = json.loads(capsys.readouterr().out)["files"]
    assert written == {path.name: path.stat().st_size for path in sorted((tmp_path / "out").iterdir())}


def test_without_pyarrow_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(frame_files, "find_spec", lambda name: None)
    with pytest.raises(HostError, match="need pyarrow") as caught:
        as_files(reports.load(write_run(tmp_path, [])), "parquet")
    assert "breakfix[parquet]" in caught.value.remedy
