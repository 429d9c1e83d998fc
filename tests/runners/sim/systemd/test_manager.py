from __future__ import annotations

import pytest

from runners.sim.lifecycle import signal
from runners.sim.machine import Machine
from runners.sim.systemd import manager
from runners.sim.systemd.manager import UnitError
from tests.runners.sim.servers import messages, server


@pytest.fixture
def machine() -> Machine:
    return server()


def unit(machine: Machine, name: str, text: str) -> None:
    machine.view().write(f"/etc/systemd/system/{name}.service", text.encode())


def test_everything_runs_after_the_boot(machine: Machine) -> None:
    states = {name: machine.systemd.get(name) for name in manager.known(machine)}
    assert {name for name, state in states.items() if state.active != "active"} == set()
    nginx = states["nginx.service"]
    assert machine.processes.get(nginx.main_pid).argv[0].startswith("nginx: master process")


def test_a_killed_main_process_fails_the_unit_in_systemds_words(machine: Machine) -> None:
    pid = manager.state_of(machine, "postgresql").main_pid
    signal(machine, pid, 9)
    state = manager.state_of(machine, "postgresql")
    assert (state.active, state.sub, state.result, state.exit_code, state.exit_status) == (
        "failed",
        "failed",
        "signal",
        "killed",
        9,
    )
    said = messages(machine, "postgresql.service")
    assert said[0] == "postgresql.service: Main process exited, code=killed, status=9/KILL"
    assert "postgresql.service: Failed with result 'signal'." in said
    assert manager.processes_of(machine, "postgresql.service") == []


def test_stop_and_start_say_what_systemd_says(machine: Machine) -> None:
    assert manager.stop(machine, "ssh").ok
    assert manager.start(machine, "ssh").ok
    said = [
        one
        for one in messages(machine, "ssh.service")
        if not one.startswith(("Received", "Server", "ssh.service: Consumed"))
    ]
    assert said == [
        "Stopping ssh.service - OpenBSD Secure Shell server...",
        "ssh.service: Deactivated successfully.",
        "Stopped ssh.service - OpenBSD Secure Shell server.",
        "Starting ssh.service - OpenBSD Secure Shell server...",
        "Started ssh.service - OpenBSD Secure Shell server.",
    ]


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("ExecStart=/opt/nothing", 203, "x.service: Failed to locate executable /opt/nothing: No such file or directory"),
        ("ExecStart=/etc/hostname", 203, "x.service: Failed at step EXEC spawning /etc/hostname: Permission denied"),
        ("ExecStart=/usr/sbin/cron\nUser=nosuch", 217, "x.service: Failed to determine user credentials: No such process"),
        ("ExecStart=/usr/sbin/cron\nGroup=nosuch", 216, "x.service: Failed at step GROUP spawning /usr/sbin/cron: No such process"),
        ("ExecStart=/usr/sbin/cron\nUser=shop\nSupplementaryGroups=adm nosuch", 216,
         "x.service: Failed at step GROUP spawning /usr/sbin/cron: No such process"),
        ("ExecStart=/usr/sbin/cron\nWorkingDirectory=/nope", 200,
         "x.service: Changing to the requested working directory failed: No such file or directory"),
    ],
)  # fmt: skip
def test_steps_that_fail_before_the_program_runs(machine: Machine, text: str, status: int, message: str) -> None:
    unit(machine, "x", f"[Service]\n{text}\n")
    assert manager.start(machine, "x").ok, "a simple service counts as started once it is forked"
    state = manager.state_of(machine, "x")
    assert (state.active, state.result, state.exit_status) == ("failed", "exit-code", status)
    assert message in messages(machine, "x.service")


@pytest.mark.parametrize(
    ("identity", "gid", "groups"),
    [
        ("User=deploy", 1001, {1001, 994}),
        ("User=deploy\nGroup=nogroup", 65534, {65534, 994}),  # listed in shop; its own group is not its any more
        ("User=shop\nGroup=nogroup", 65534, {65534}),
        ("User=shop\nGroup=nogroup\nSupplementaryGroups=adm ssl-cert", 65534, {65534, 4, 102}),
        ("SupplementaryGroups=adm", 0, {4}),
    ],
)
def test_a_service_is_in_the_groups_that_its_unit_and_the_account_files_give_it(
    machine: Machine, identity: str, gid: int, groups: set[int]
) -> None:
    unit(machine, "x", f"[Service]\nExecStart=/usr/local/bin/report-export --rows 1\n{identity}\n")
    assert manager.start(machine, "x").ok
    process = machine.processes.get(manager.state_of(machine, "x").main_pid)
    assert process is not None
    assert (process.cred.gid, set(process.cred.groups)) == (gid, groups)


def test_a_new_member_of_a_group_is_one_from_the_next_start_on(machine: Machine) -> None:
    def groups() -> frozenset[int]:
        process = machine.processes.get(manager.state_of(machine, "worker").main_pid)
        assert process is not None
        return process.cred.groups

    view = machine.view()
    view.write("/etc/group", view.read("/etc/group").replace(b"adm:x:4:anna", b"adm:x:4:anna,shop"))
    assert 4 not in groups()
    manager.restart(machine, "worker")
    assert 4 in groups()


def test_a_missing_environment_file_fails_before_the_fork(machine: Machine) -> None:
    unit(machine, "x", "[Service]\nExecStart=/usr/sbin/cron\nEnvironmentFile=/nope\n")
    outcome = manager.start(machine, "x")
    assert (outcome.result, outcome.reason) == ("failed", "resources")
    assert outcome.message.startswith(
        "Job for x.service failed because of unavailable resources or another system error."
    )
    assert "x.service: Failed to load environment files: No such file or directory" in messages(machine, "x.service")
    unit(machine, "y", "[Service]\nExecStart=/usr/bin/redis-server --port 7000\nEnvironmentFile=-/nope\n")
    assert manager.start(machine, "y").ok


def test_restarts_until_the_start_limit(machine: Machine) -> None:
    machine.view().chown("/etc/shop/secret.key", 0, 0)
    manager.restart(machine, "shop")
    assert manager.state_of(machine, "shop").sub == "auto-restart"
    machine.advance(120)
    state = manager.state_of(machine, "shop")
    assert (state.active, state.result) == ("failed", "exit-code")
    said = messages(machine, "shop.service")
    assert "shop.service: Scheduled restart job, restart counter is at 1." in said
    assert "shop.service: Start request repeated too quickly." in said
    assert said[-1] == "Failed to start shop.service - Northwind Coffee shop."
    machine.view().chown("/etc/shop/secret.key", 0, 994)
    manager.reset_failed(machine, "shop")
    assert manager.state_of(machine, "shop").active == "inactive"
    assert manager.start(machine, "shop").ok
    assert manager.state_of(machine, "shop").active == "active"


def test_too_many_manual_starts_hit_the_limit(machine: Machine) -> None:
    for _ in range(5):
        assert manager.restart(machine, "cron").ok
    outcome = manager.restart(machine, "cron")
    assert (outcome.result, outcome.reason) == ("failed", "start-limit-hit")
    assert "To force a start use" in outcome.message


def test_masked_missing_and_bad_units_are_refused(machine: Machine) -> None:
    assert [change.message for change in manager.mask(machine, "nginx")] == [
        "Created symlink /etc/systemd/system/nginx.service \u2192 /dev/null."
    ]
    manager.stop(machine, "nginx")
    with pytest.raises(UnitError, match=r"Unit nginx\.service is masked\."):
        manager.start(machine, "nginx")
    assert manager.is_enabled(machine, "nginx") == "masked"
    manager.unmask(machine, "nginx")
    assert manager.start(machine, "nginx").ok
    with pytest.raises(UnitError, match=r"Unit nothing\.service not found\."):
        manager.start(machine, "nothing")
    unit(machine, "bad", "[Service]\nUser=root\n")
    with pytest.raises(UnitError, match="bad unit file setting"):
        manager.start(machine, "bad")


def test_enabling_makes_the_links_that_systemctl_names(machine: Machine) -> None:
    assert manager.is_enabled(machine, "nginx") == "enabled"
    assert [change.message for change in manager.disable(machine, "nginx")] == [
        'Removed "/etc/systemd/system/multi-user.target.wants/nginx.service".'
    ]
    assert manager.is_enabled(machine, "nginx") == "disabled"
    assert manager.is_enabled(machine, "logrotate.service") == "static"
    assert manager.enable(machine, "nginx")[0].link == "/etc/systemd/system/multi-user.target.wants/nginx.service"
    assert manager.enable(machine, "nginx") == []


def test_an_edited_unit_counts_only_after_daemon_reload(machine: Machine) -> None:
    view = machine.view()
    text = view.read("/etc/systemd/system/worker.service").replace(b"Type=simple", b"Type=simple\nUMask=0077")
    machine.advance(1)
    view.write("/etc/systemd/system/worker.service", text)
    assert manager.needs_reload(machine, "worker.service")
    assert manager.unit_file(machine, "worker.service").get("Service", "UMask") == ""
    manager.daemon_reload(machine)
    assert not manager.needs_reload(machine, "worker.service")
    assert manager.unit_file(machine, "worker.service").get("Service", "UMask") == "0077"


def test_what_requires_a_unit_stops_and_fails_with_it(machine: Machine) -> None:
    unit(
        machine,
        "needy",
        "[Unit]\nRequires=redis-server.service\nAfter=redis-server.service\n[Service]\nExecStart=/usr/sbin/cron\n",
    )
    manager.start(machine, "needy")
    manager.stop(machine, "redis-server")
    assert manager.state_of(machine, "needy").active == "inactive"
    machine.view().write("/etc/redis/redis.conf", b"nonsense 1\n")
    outcome = manager.start(machine, "needy")
    assert outcome.result == "dependency"
    assert "needy.service: Job needy.service/start failed with result 'dependency'." in messages(
        machine, "needy.service"
    )


def test_a_stopped_process_is_killed_when_its_time_is_over(machine: Machine) -> None:
    pid = manager.state_of(machine, "worker").main_pid
    signal(machine, pid, 19)
    manager.stop(machine, "worker")
    state = manager.state_of(machine, "worker")
    assert (state.active, state.result) == ("failed", "timeout")
    assert "worker.service: State 'stop-sigterm' timed out. Killing." in messages(machine, "worker.service")


def test_oneshots_finish_and_timers_start_them(machine: Machine) -> None:
    unit(machine, "once", "[Unit]\nDescription=Once\n[Service]\nType=oneshot\nExecStart=/usr/sbin/nginx -t -q\n")
    machine.view().write("/etc/systemd/system/once.timer", b"[Timer]\nOnCalendar=*:0/5\n")
    manager.start(machine, "once.timer")
    machine.advance(310)
    assert "Finished once.service - Once." in messages(machine, "once.service")
    assert manager.state_of(machine, "once").active == "inactive"


def test_a_condition_that_does_not_hold_skips_the_start(machine: Machine) -> None:
    manager.stop(machine, "ssh")
    machine.view().write("/etc/ssh/sshd_not_to_be_run", b"")
    assert manager.start(machine, "ssh").result == "skipped"
    assert (
        "was skipped because of an unmet condition check (ConditionPathExists=!/etc/ssh/sshd_not_to_be_run)."
        in messages(machine, "ssh.service")[-1]
    )
