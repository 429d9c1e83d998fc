from __future__ import annotations

import pytest

from runners.sim.files.content import Content
from runners.sim.machine import Job, JobResult, Machine
from runners.sim.programs.cron import CrontabError, due, parse
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("61 * * * * true", "bad minute"),
        ("* 24 * * * true", "bad hour"),
        ("* * 0 * * true", "bad day-of-month"),
        ("* * * 13 * true", "bad month"),
        ("* * * * 8 true", "bad day-of-week"),
        ("*/0 * * * * true", "bad minute"),
        ("@often true", "bad time specifier"),
        ("* * * * *", "bad command"),
    ],
)
def test_bad_lines_are_named_as_cron_names_them(line: str, reason: str) -> None:
    with pytest.raises(CrontabError) as caught:
        parse(f"# comment\n{line}\n", "root")
    assert (caught.value.reason, caught.value.line) == (reason, 2)


@pytest.mark.parametrize(
    ("schedule", "is_due"),
    [
        ("24 9 * * *", True), ("*/5 * * * *", False), ("*/4 9-17 14 mar *", True), ("24 9 * * sat", True),
        ("24 9 * * 1-5", False), ("24 9 1 * sat", True), ("@hourly", False),
    ],
)  # fmt: skip
def test_what_is_due_on_saturday_the_14th_of_march_at_9_24(schedule: str, is_due: bool) -> None:
    assert due(parse(f"{schedule} true", "root")[0], server()) is is_due


def test_variables_hold_for_the_lines_below_them() -> None:
    first, second = parse("* * * * * a\nMAILTO=ops\n* * * * * b\n", "root")
    assert first.variables == ()
    assert second.variables == (("MAILTO", "ops"),)


def record(machine: Machine) -> list[Job]:
    jobs: list[Job] = []

    def run(_machine: Machine, job: Job) -> JobResult:
        jobs.append(job)
        return JobResult(0)

    machine.run_job = run
    view = machine.view()
    view.write("/usr/bin/sh", Content.of(b"\x7fELF")._replace(program="sh"))
    view.chmod("/usr/bin/sh", 0o755)
    return jobs


def test_jobs_run_as_their_user_and_are_logged() -> None:
    machine = server()
    jobs = record(machine)
    machine.advance(400)
    commands = {job.argv[-1]: job.cred.uid for job in jobs}
    assert commands["/opt/shop/scripts/clean-sessions.sh"] == 996
    assert "(shop) CMD (/opt/shop/scripts/clean-sessions.sh)" in messages(machine)
    assert "(shop) CMD (/opt/shop/scripts/clean-sessions.sh)" in machine.view().text("/var/log/cron.log")[-400:]
    assert {run.user for run in machine.cron[-2:]} == {"shop", "root"}


def test_a_stopped_cron_runs_nothing() -> None:
    machine = server()
    manager.stop(machine, "cron")
    machine.advance(900)
    assert not any("CMD" in said for said in messages(machine))


def test_a_crontab_that_others_may_write_is_not_trusted() -> None:
    machine = server()
    machine.view().chmod("/etc/cron.d/shop", 0o666)
    machine.advance(400)
    assert not any("clean-sessions" in said for said in messages(machine))
