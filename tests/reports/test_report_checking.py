"""A report held against its manifest, its signature and its records; and the records against their plan."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from breakfix.cli.main import run
from reports.build import build_report
from reports.checking import check_report
from reports.coverage import still_missing
from reports.manifest import ENVELOPE, MANIFEST, ReportError, read_manifest
from reports.reading import read
from runners.records import Trial, TrialRecord
from runners.records_io import RECORDS_FILE, Line, RecordsError
from tests.reports.synthetic_records import PLAYERS, SCENARIOS, run_records, write_run
from tests.reports.test_report_tables import A, attempt


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = write_run(tmp_path_factory.mktemp("made") / "run", run_records(players=PLAYERS[:2], attempts=2))
    build_report([where], where / "report")
    return where


@pytest.fixture
def made(reported: Path, tmp_path: Path) -> Path:
    """A run with its report in it, to be spoilt."""
    return Path(shutil.copytree(reported, tmp_path / "run"))


def test_the_manifest_names_run_bundles_records_and_every_file(made: Path) -> None:
    manifest = read_manifest(made / "report")
    assert (manifest.runs, manifest.baseline) == (("run",), None)
    assert [(pack, version) for pack, version, _ in manifest.bundles] == [("starter", "1.0.0")]
    written = {str(path.relative_to(made / "report")) for path in (made / "report").rglob("*") if path.is_file()}
    assert {entry.path for entry in manifest.files} == written - {MANIFEST}
    assert manifest.data == (made / "report" / MANIFEST).read_bytes()
    assert len(manifest.digest) == 64


def test_tables_are_made_again_and_compared(made: Path) -> None:
    checked = check_report(made / "report", [made])
    assert (checked.tables, checked.files) == (7, len(checked.manifest.files))
    assert check_report(made / "report", []).tables == 0


@pytest.mark.parametrize("path", ["index.html", "tables/gate.csv", "data/t00000.js", "plots/cost.svg"])
def test_an_altered_or_missing_file_is_named(made: Path, path: str) -> None:
    file = made / "report" / path
    data = file.read_bytes()
    file.write_bytes(data.replace(b"a", b"b", 1))
    with pytest.raises(ReportError, match=rf"{path}: is not the file"):
        check_report(made / "report", [])
    file.unlink()
    with pytest.raises(ReportError, match=rf"{path}: is missing"):
        check_report(made / "report", [])


def test_a_file_too_many_is_named(made: Path) -> None:
    (made / "report" / "agents" / "more.html").write_text("x")
    with pytest.raises(ReportError, match=r"more\.html: is no part of the report"):
        check_report(made / "report", [])


def test_a_table_that_was_changed_with_its_manifest_is_found_out(made: Path) -> None:
    report = made / "report"
    path = report / "tables" / "leaderboard.json"
    told = json.loads(path.read_bytes())
    told["rows"][1]["verified"]["value"] = 1.0
    path.write_text(json.dumps(told, indent=1) + "\n")
    reseal(report, "tables/leaderboard.json")
    check_report(report, [])
    with pytest.raises(ReportError, match=r"leaderboard\.json: is not what the records give: row 2, verified: .*1\.0"):
        check_report(report, [made])


def reseal(report: Path, path: str) -> None:
    """The manifest made to fit an altered file, as a forger would."""
    manifest = read_manifest(report)
    data = (report / path).read_bytes()
    entries = tuple(
        replace(each, sha256=hashlib.sha256(data).hexdigest(), size=len(data)) if each.path == path else each
        for each in manifest.files
    )
    (report / MANIFEST).write_bytes(replace(manifest, files=entries).data)


def test_other_records_are_found_out(made: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", run_records(players=PLAYERS[:2], attempts=3))
    with pytest.raises(ReportError, match="is about other records"):
        check_report(made / "report", [other])
    with pytest.raises(ReportError, match="made without a baseline"):
        check_report(made / "report", [made], baseline=other)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "breakfix-report/2"}', '{"format": "breakfix-report/1", "runs": 3}']
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ReportError):
        read_manifest(tmp_path)
    with pytest.raises(ReportError, match="not a report"):
        read_manifest(tmp_path / "nowhere")


def test_a_manifest_may_name_no_file_outside(made: Path) -> None:
    manifest = read_manifest(made / "report")
    outside = replace(manifest, files=(replace(manifest.files[0], path="../records.jsonl"),))
    (made / "report" / MANIFEST).write_bytes(outside.data)
    with pytest.raises(ReportError, match="not a report's manifest"):
        read_manifest(made / "report")


def test_a_signed_report_on_the_command_line(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keygen", str(tmp_path / "me.key")]) == 0
    assert run(["keygen", str(tmp_path / "other.key")]) == 0
    assert run(["report", str(made), "--key", str(tmp_path / "me.key")]) == 0
    report, public = str(made / "report"), str(tmp_path / "me.key.pub")
    capsys.readouterr()
    assert run(["verify", report, "--trust", public, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tables"], told["runs"], told["digest"]) == (7, ["run"], read_manifest(made / "report").digest)
    assert told["key_id"]
    assert run(["verify", report, "--trust", str(tmp_path / "other.key.pub")]) == 1
    assert "other" in capsys.readouterr().err
    # Made anew without a key, it is unsigned again.
    assert run(["report", str(made)]) == 0
    assert not (made / "report" / ENVELOPE).exists()
    assert run(["verify", report]) == 0
    assert "not signed" in capsys.readouterr().out
    assert run(["verify", report, "--trust", public]) == 1
    assert "is not signed" in capsys.readouterr().err


def test_a_signature_over_another_report_is_refused(made: Path, tmp_path: Path) -> None:
    assert run(["keygen", str(tmp_path / "me.key")]) == 0
    assert run(["report", str(made), "--key", str(tmp_path / "me.key")]) == 0
    envelope = (made / "report" / ENVELOPE).read_bytes()
    other = write_run(tmp_path / "other", run_records(players=PLAYERS[:1], attempts=1))
    build_report([other], other / "report")
    (other / "report" / ENVELOPE).write_bytes(envelope)
    assert run(["verify", str(other / "report"), "--trust", str(tmp_path / "me.key.pub")]) == 1


# -- the plan


def planned(attempts: list[list[TrialRecord]]) -> list[tuple[str, Trial]]:
    return [(each.trial_id, each.trial) for records in attempts for each in records]


def test_records_are_held_against_their_plan(tmp_path: Path) -> None:
    attempts = [attempt(A, SCENARIOS[1], number) for number in range(3)]
    run_folder = write_run(tmp_path / "run", [each for records in attempts[:2] for each in records])
    assert still_missing(read(run_folder), planned(attempts)) == 3
    assert still_missing(read(run_folder), planned(attempts[:2])) == 0
    with pytest.raises(RecordsError, match="is of no trial of the run's plan"):
        still_missing(read(run_folder), planned(attempts[:1]))
    easier = [(identifier, replace(trial, full_score=0.1)) for identifier, trial in planned(attempts)]
    with pytest.raises(RecordsError, match=r"its full_score is 0\.99, planned was 0\.1"):
        still_missing(read(run_folder), easier)


def test_an_unfinished_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attempts = [attempt(A, SCENARIOS[1], number) for number in range(3)]
    run_folder = write_run(tmp_path / "run", [each for records in attempts[:2] for each in records])
    files = build_report([run_folder], tmp_path / "out", plans=[planned(attempts)])
    assert files.missing == 3
    assert "3 planned trials have no record yet" in files.page.read_text()


# -- regressions on the command line


def test_a_regression_fails_where_it_is_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = [each for n in range(12) for each in attempt(A, SCENARIOS[1], n)]
    worse = [each for n in range(12) for each in attempt(A, SCENARIOS[1], n, twin="fail")]
    monday, tuesday = write_run(tmp_path / "monday", good), write_run(tmp_path / "tuesday", worse)
    compare = ["report", str(tuesday), "--baseline", str(monday)]
    assert run([*compare, "--fail-on-regression"]) == 4
    assert "a at process-recovery: verified 100% to 0%" in capsys.readouterr().out
    assert run(compare) == 0
    assert run(["report", str(monday), "--baseline", str(tuesday), "--fail-on-regression"]) == 0
    capsys.readouterr()
    assert run([*compare, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["regressions"]
    assert [(each["scenario"], each["call"]) for each in told] == [
        ("(all)", "regression"),
        ("process-recovery", "regression"),
    ]
    assert run(["report", str(monday), "--fail-on-regression"]) == 1
    page = (tuesday / "report" / "index.html").read_text()
    assert "2 regressions by more than chance." in page
    assert "twin says fail" in page
    assert run(["verify", str(tuesday / "report"), "--baseline", str(monday)]) == 0


def test_an_altered_record_is_not_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = tmp_path / "run"
    where.mkdir()
    lines = b"".join(Line.of(each).data + b"\n" for each in attempt(A, SCENARIOS[1], 0, met=(True, False, True)))
    altered = lines.replace(b'"met":false', b'"met":true ', 1)
    assert len(altered) == len(lines)
    (where / RECORDS_FILE).write_bytes(altered)
    assert run(["report", str(where)]) == 1
    assert "records.jsonl:1" in capsys.readouterr().err
