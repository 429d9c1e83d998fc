"""Whole runs in this process: exactly the plan, whatever happened in between, and the same bytes every time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from compiler.model import PackContent
from runners import store
from runners.agents.registry import parse_agent
from runners.course import Course, retrying
from runners.plan import Plan, PlanError, plan
from runners.pool.chunking import ChunkSize
from runners.pool.local import LocalExecutor
from runners.record_index import INDEX_FILE
from runners.records import TrialRecord
from runners.records_io import RECORDS_FILE, Line, RecordsError, read_records
from runners.replay import ReplayError, replay
from runners.run import Progress, Summary, run
from runners.store import (
    PLAN_FILE,
    RunFolderError,
    open_run,
    read_plan,
)
from runners.trials import Job, Work, run_trial
from runners.worlds import WorldError
from scenario_dsl.errors import HostError, InternalError
from scenario_dsl.worlds import ResolvedScenario, World
from tests.runners.cases import bundle_of, cascading, investigation, repair
from tests.runners.toy import ToyBackend, ToyWorld

BUNDLE = bundle_of(repair(), investigation(), cascading())
AGENTS = tuple(parse_agent(name) for name in ("gold", "bad", "nop", "random"))
ROOT = Path(__file__).parents[2]
COLUMNS = "SELECT trial_id, ordinal, outcome, start, length, agent, pack, kind, tokens, cost FROM trials ORDER BY start"


def planned(attempts: int = 2) -> Plan:
    return plan((BUNDLE,), AGENTS, backends=("toy",), attempts=attempts)


def start(folder: Path, made: Plan | None = None, backend: ToyBackend | None = None, *, retries: int = 2) -> Summary:
    used = backend or ToyBackend()
    return run(
        made or planned(),
        (BUNDLE,),
        AGENTS,
        (used,),
        folder,
        executor=LocalExecutor(),
        course=Course(retries=retrying(retries)),
    )


def final(folder: Path) -> dict[str, TrialRecord]:
    """The last record of each trial."""
    return {record.trial_id: record for record in sorted(read_records(folder), key=lambda record: record.ordinal)}


class Unlucky(ToyBackend):
    """Fails to open worlds, so many times a seed."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures
        self.seen: Counter[int] = Counter()

    def open(self, content: PackContent, scenario: ResolvedScenario, world: World, *, seed: int) -> ToyWorld:
        if scenario.name == "repair" and world.name == "noise" and self.seen[seed] < self.failures:
            self.seen[seed] += 1
            raise WorldError("no room")
        return super().open(content, scenario, world, seed=seed)


class Tearing(LocalExecutor):
    """Is interrupted after so many chunks."""

    def __init__(self, chunks: int) -> None:
        super().__init__()
        self.chunks = chunks

    def play(self, jobs: Iterator[Job], stopping: object) -> Iterator[Sequence[Line]]:
        for number, lines in enumerate(super().play(jobs, stopping)):
            if number >= self.chunks:
                os.kill(os.getpid(), signal.SIGINT)
            yield lines


def test_every_planned_trial_has_one_record(tmp_path: Path) -> None:
    seen: list[Progress] = []
    made = planned()
    summary = run(
        made, (BUNDLE,), AGENTS, (ToyBackend(),), tmp_path / "r", executor=LocalExecutor(), progress=seen.append
    )
    records = list(read_records(tmp_path / "r"))
    assert [record.trial_id for record in records] == [job.trial_id for job in made.jobs()]
    assert (summary.planned, summary.done, summary.resumed, summary.errored) == (made.size, made.size, 0, 0)
    assert seen[-1].done == made.size
    assert sum(len(progress.lines) for progress in seen) == made.size
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [INDEX_FILE, PLAN_FILE, RECORDS_FILE]
    assert read_plan(tmp_path / "r") == made


def test_gold_earns_everything_nop_nothing_and_bad_is_found_out(tmp_path: Path) -> None:
    start(tmp_path)
    scores: dict[str, set[float | None]] = {}
    for record in read_records(tmp_path):
        if record.trial.role == "primary":
            scores.setdefault(record.trial.agent.name, set()).add(record.score)
    assert scores["gold"] == {1.0, 0.99}
    assert scores["nop"] == {0.0}
    controls = [record for record in read_records(tmp_path) if record.trial.role == "control"]
    assert {record.score for record in controls} == {None}
    assert {record.outcome for record in controls if record.trial.agent.name == "gold"} == {"Passed"}


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    start(tmp_path / "one")
    start(tmp_path / "two")
    assert (tmp_path / "one" / RECORDS_FILE).read_bytes() == (tmp_path / "two" / RECORDS_FILE).read_bytes()


@pytest.mark.parametrize("cut", [0, 1, 300, 20_000, 10**9])
def test_a_torn_run_goes_on_to_the_same_records(tmp_path: Path, cut: int) -> None:
    start(tmp_path / "whole")
    start(tmp_path / "torn")
    path = tmp_path / "torn" / RECORDS_FILE
    os.truncate(path, max(0, path.stat().st_size - cut))
    summary = start(tmp_path / "torn")
    assert summary.done == planned().size
    assert path.read_bytes() == (tmp_path / "whole" / RECORDS_FILE).read_bytes()


def test_a_finished_run_plays_nothing_again(tmp_path: Path) -> None:
    start(tmp_path)
    before = (tmp_path / RECORDS_FILE).read_bytes()
    summary = start(tmp_path)
    assert summary.resumed == planned().size
    assert (tmp_path / RECORDS_FILE).read_bytes() == before


def test_the_index_is_rebuilt_from_the_records(tmp_path: Path) -> None:
    start(tmp_path)
    rows = sqlite3.connect(tmp_path / INDEX_FILE).execute(COLUMNS).fetchall()
    (tmp_path / INDEX_FILE).write_bytes(b"no database at all, and long enough to be taken for a broken one" * 20)
    with open_run(tmp_path, planned()) as writer:
        assert len(writer.played) == planned().size
    assert sqlite3.connect(tmp_path / INDEX_FILE).execute(COLUMNS).fetchall() == rows
    data = (tmp_path / RECORDS_FILE).read_bytes()
    begin, length = rows[7][3:5]
    assert rows[7][0].encode() in data[begin : begin + length]


def test_another_plan_is_refused_with_the_difference(tmp_path: Path) -> None:
    start(tmp_path)
    with pytest.raises(RunFolderError, match=r"another plan.*\n  attempts: 2 in the stored plan, 3 now"):
        start(tmp_path, planned(attempts=3))


def test_two_runs_into_one_folder_are_refused(tmp_path: Path) -> None:
    with (
        open_run(tmp_path, planned()),
        pytest.raises(RunFolderError, match="another run is writing there"),
        open_run(tmp_path, planned()),
    ):
        pass


def test_a_damaged_line_is_refused_and_not_skipped(tmp_path: Path) -> None:
    start(tmp_path)
    path = tmp_path / RECORDS_FILE
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3][:-5]
    path.write_bytes(b"\n".join(lines))
    (tmp_path / INDEX_FILE).unlink()
    with pytest.raises(RecordsError, match=r"records\.jsonl:4: "):
        start(tmp_path)


def test_records_without_a_plan_are_not_touched(tmp_path: Path) -> None:
    start(tmp_path)
    (tmp_path / PLAN_FILE).unlink()
    with pytest.raises(RunFolderError, match=r"holds index\.sqlite and no plan\.json"):
        start(tmp_path)
    with pytest.raises(RunFolderError, match="not a run folder"):
        read_plan(tmp_path)


def test_errored_trials_are_played_again_and_each_attempt_is_kept(tmp_path: Path) -> None:
    summary = start(tmp_path, backend=Unlucky(1))
    assert (summary.done, summary.errored) == (planned().size, 0)
    assert summary.retried > 0
    records = list(read_records(tmp_path))
    assert len(records) == planned().size + summary.retried
    errored = [record for record in records if record.outcome == "Errored"]
    assert {record.ordinal for record in errored} == {0}
    assert errored[0].error == "the world failed: no room"
    assert {record.outcome for record in final(tmp_path).values()} <= {"Passed", "Failed"}


def test_what_stays_errored_is_shown_and_counted(tmp_path: Path) -> None:
    summary = start(tmp_path, backend=Unlucky(99), retries=1)
    assert summary.done == summary.planned
    errored = [record for record in final(tmp_path).values() if record.outcome == "Errored"]
    assert len(errored) == summary.errored > 0
    assert {record.ordinal for record in errored} == {1}
    assert start(tmp_path, backend=Unlucky(99), retries=1).resumed == summary.planned

    # How often to try again is how a run is played, not what: it may be another number when the run goes on.
    patient = start(tmp_path, retries=2)
    assert (patient.resumed, patient.errored) == (summary.planned - summary.errored, 0)
    assert patient.done == patient.planned


def test_what_the_backend_cannot_do_is_unsupported(tmp_path: Path) -> None:
    summary = start(tmp_path, backend=ToyBackend(unsupported="fault `x` needs a clock"))
    assert summary.unsupported == summary.done == planned().size
    assert {record.error for record in read_records(tmp_path)} == {"fault `x` needs a clock"}


def test_a_fault_of_ours_is_errored_and_says_where() -> None:
    job = next(planned().jobs())
    record = run_trial(job, Work(contents={}, factories={}, backend=ToyBackend()))
    assert record.outcome == "Errored"
    assert record.error is not None
    assert record.error.startswith("unexpected KeyError")
    assert "run_trial" in record.error


def test_an_interrupted_run_drains_and_goes_on(tmp_path: Path) -> None:
    made = planned()
    summary = run(made, (BUNDLE,), AGENTS, (ToyBackend(),), tmp_path, executor=Tearing(1))
    assert summary.interrupted
    assert 0 < summary.done < made.size
    assert len(list(read_records(tmp_path))) == summary.done
    again = start(tmp_path)
    assert (again.resumed, again.done, again.interrupted) == (summary.done, made.size, False)
    assert sorted(record.trial_id for record in read_records(tmp_path)) == sorted(job.trial_id for job in made.jobs())


def test_a_full_disk_while_opening_is_the_hosts_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store, "open_index", full)
    with pytest.raises(HostError, match="cannot write"), open_run(tmp_path / "run", planned()):
        pass


def test_a_full_disk_stops_the_run_with_everything_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = planned()
    jobs = list(made.jobs())
    work = Work(
        contents={BUNDLE.digest: BUNDLE.content},
        factories={spec.identity: spec.factory for spec in AGENTS},
        backend=ToyBackend(),
    )
    lines = [Line.of(run_trial(job, work)) for job in jobs[:3]]
    with open_run(tmp_path, made) as writer:
        writer.append(lines[:2])

        def half(data: memoryview) -> int:
            os.write(writer._stream.fileno(), data[: len(data) // 2])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(writer, "_write", half)
        with pytest.raises(HostError, match="cannot write") as raised:
            writer.append(lines[2:])
    assert "goes on where it stopped" in raised.value.remedy
    assert [record.trial_id for record in read_records(tmp_path)] == [job.trial_id for job in jobs[:2]]
    assert start(tmp_path).resumed == 2


def test_a_run_folder_that_cannot_be_made_is_the_hosts_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="cannot write"):
        start(tmp_path / "file" / "run")


@pytest.mark.parametrize("missing", ["bundle", "agent", "backend"])
def test_a_run_needs_what_its_plan_names(tmp_path: Path, missing: str) -> None:
    made = planned() if missing != "backend" else replace(planned(), backends=("other",))
    bundles = () if missing == "bundle" else (BUNDLE,)
    agents = AGENTS[1:] if missing == "agent" else AGENTS
    with pytest.raises(PlanError, match=f"the plan (needs the|is for the) {missing}"):
        run(made, bundles, agents, (ToyBackend(),), tmp_path, executor=LocalExecutor())


def test_an_executor_has_to_be_started() -> None:
    with pytest.raises(InternalError):
        next(LocalExecutor().play(iter(()), lambda: False))


def test_chunks_follow_cost_and_shrink_towards_the_end() -> None:
    size = ChunkSize(workers=2)
    assert size.next(1000) == 4
    size.measured(4, 0.04)
    assert size.next(1000) == 20
    assert size.next(40) == 10
    assert size.next(1) == 1
    size.measured(20, 60.0)
    assert size.next(1000) == 1
    cheap = ChunkSize(workers=2)
    cheap.measured(1, 0.0)
    assert cheap.next(10**6) == 64


# -- replay


def test_every_kind_of_record_replays_to_the_same(tmp_path: Path) -> None:
    start(tmp_path)
    for record in read_records(tmp_path):
        again = replay(record, (BUNDLE,), ToyBackend())
        assert again.differences == ()
        assert replace(again.record, mode="live") == record
        assert again.record.mode == "replay"


def test_a_record_that_was_altered_does_not_replay(tmp_path: Path) -> None:
    start(tmp_path)
    gold = next(record for record in read_records(tmp_path) if record.trial.agent.name == "gold" and record.commands)
    turns = (replace(gold.turns[0], output="nothing to see"), *gold.turns[1:])
    assert "turn 1: its output differs" in replay(replace(gold, turns=turns), (BUNDLE,), ToyBackend()).differences
    (said,) = replay(replace(gold, score=0.123), (BUNDLE,), ToyBackend()).differences
    assert said.startswith("its score differs: 0.123, now ")


def test_what_cannot_be_replayed_says_why(tmp_path: Path) -> None:
    start(tmp_path)
    record = next(read_records(tmp_path))
    with pytest.raises(ReplayError, match="not given here"):
        replay(record, (), ToyBackend())
    with pytest.raises(ReplayError, match="backend `sim`"):
        replay(replace(record, trial=replace(record.trial, backend="sim")), (BUNDLE,), ToyBackend())
    with pytest.raises(ReplayError, match="no episode"):
        replay(replace(record, outcome="Errored"), (BUNDLE,), ToyBackend())


# -- a real kill


@pytest.mark.slow
def test_a_killed_run_started_again_yields_exactly_the_plan(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.runners.long_run", str(tmp_path / "run")]
    for _ in range(2):
        process = subprocess.Popen(command, cwd=ROOT)
        before = _size(tmp_path / "run")
        deadline = time.monotonic() + 60
        while _size(tmp_path / "run") <= before + 50_000 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert subprocess.run(command, cwd=ROOT, timeout=120).returncode == 0
    identifiers = [record.trial_id for record in read_records(tmp_path / "run")]
    assert sorted(identifiers) == sorted(job.trial_id for job in read_plan(tmp_path / "run").jobs())


def _size(folder: Path) -> int:
    path = folder / RECORDS_FILE
    return path.stat().st_size if path.exists() else 0
