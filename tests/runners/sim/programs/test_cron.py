from __future__ import annotations

import pytest

from runners.formats.crontab import CrontabError, due, parse
from runners.sim.files.content import Content
from runners.sim.machine import Job, JobResult, Machine
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server
from tests.runners.sim.worlds import opened, typed


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
    assert due(parse(f"{schedule} true\n", "root")[0], server().clock.time()) is is_due


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


def test_a_table_without_a_last_newline_is_ignored_as_a_whole() -> None:
    machine, live = opened()
    typed(live, "printf '* * * * * root echo a > /tmp/a\n* * * * * root echo b > /tmp/b' > /etc/cron.d/nonl")
    assert typed(live, "sleep 120; ls /tmp/a /tmp/b", seconds=200).exit_code == 2
    ignored = "(*system*nonl) ERROR (Missing newline before EOF, this crontab file will be ignored)"
    assert messages(machine).count(ignored) == 1


def test_a_line_without_a_known_user_spoils_its_table() -> None:
    machine, live = opened()
    typed(live, "printf '* * * * * root touch /tmp/a\n* * * * * echo b\n' > /etc/cron.d/nouser")
    assert typed(live, "sleep 120; ls /tmp/a", seconds=200).exit_code == 2
    said = messages(machine)
    assert "Error: bad username; while reading /etc/cron.d/nouser" in said
    assert "(*system*nouser) ERROR (Syntax error, this crontab file will be ignored)" in said


def test_a_users_own_table_is_named_by_its_user() -> None:
    machine, live = opened()
    typed(live, "printf '* * * * *\n' > /var/spool/cron/crontabs/shop; chown shop /var/spool/cron/crontabs/shop")
    typed(live, "sleep 120", seconds=200)
    assert "Error: bad command; while reading crontab for user shop" in messages(machine)
    assert "(shop) ERROR (Syntax error, this crontab file will be ignored)" in messages(machine)


@pytest.mark.parametrize(
    ("written", "command", "given"),
    [
        ("date +\\%H", "date +%H", ""),
        ("date +%H > /tmp/x", "date +", "H > /tmp/x\n"),
        ("cat%one%two", "cat", "one\ntwo\n"),
        ("cat%100\\% sure%", "cat", "100% sure\n"),
        ("cat%", "cat", ""),
    ],
)
def test_a_percent_sign_ends_the_command_and_its_input_follows(written: str, command: str, given: str) -> None:
    assert parse(f"* * * * * {written}\n", "root")[0].parts == (command, given)


def test_the_shell_reads_what_follows_a_percent_sign() -> None:
    machine, live = opened()
    typed(live, "echo '* * * * * root cat > /tmp/cat%one%two' > /etc/cron.d/cat")
    typed(live, "echo '* * * * * root echo $(date +%H) > /tmp/pct' > /etc/cron.d/pct")
    assert typed(live, "sleep 61; cat /tmp/cat /tmp/pct", seconds=200).stdout == b"one\ntwo\n"
    said = messages(machine)
    assert "(root) CMD (cat > /tmp/cat)" in said
    assert "(root) CMD (echo $(date +)" in said
    assert "(CRON) info (No MTA installed, discarding output)" in said


def test_jobs_of_the_boot_run_once_for_each_boot() -> None:
    machine, live = opened()
    typed(live, "echo '@reboot root echo up >> /var/tmp/up' > /etc/cron.d/up; systemctl restart cron")
    assert messages(machine, "cron.service")[-1] == "(CRON) INFO (Skipping @reboot jobs -- not system startup)"
    assert typed(live, "cat /var/tmp/up").exit_code == 1
    typed(live, "reboot")
    assert typed(live, "systemctl restart cron; cat /var/tmp/up").stdout == b"up\n"
