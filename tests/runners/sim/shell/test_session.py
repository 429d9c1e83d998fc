"""What lives on between an agent's lines, and how an interactive shell words its messages."""

from __future__ import annotations

import pickle

from runners.sim.machine import Job, Machine
from runners.sim.shell.running import Console, run_job, run_line
from runners.sim.shell.session import Limits, Session
from tests.runners.sim.shell.test_hostile import fresh


def say(machine: Machine, session: Session, text: str) -> str:
    return run_line(machine, session, text).output.decode()


def test_variables_functions_and_folder_live_on() -> None:
    machine, session = fresh()
    say(machine, session, "x=5; f() { echo f$x; }; cd /tmp; export E=1; shopt -s nullglob; umask 027")
    assert say(machine, session, "f; pwd; echo nomatch*; umask; bash -c 'echo $E'") == "f5\n/tmp\n\n0027\n1\n"


def test_a_forked_session_goes_its_own_way() -> None:
    machine, session = fresh()
    say(machine, session, "a=(1 2); declare -A m=([k]=v); x=1")
    other = session.fork()
    say(machine.fork(), other, "a+=(3); m[k]=w; x=2; cd /etc")
    assert say(machine, session, "echo ${a[@]} ${m[k]} $x $PWD") == "1 2 v 1 /root\n"


def test_a_session_pickles() -> None:
    machine, session = fresh()
    say(machine, session, "f() { echo $((x + 1)); }; x=41; trap 'echo bye' EXIT")
    copy = pickle.loads(pickle.dumps(session))
    assert say(machine, copy, "f; exit") == "42\nbye\n"


def test_messages_of_an_interactive_shell_have_no_line_numbers() -> None:
    machine, session = fresh()
    assert say(machine, session, "nosuch") == "bash: nosuch: command not found\n"
    assert say(machine, session, "echo )") == "bash: syntax error near unexpected token `)'\n"
    assert say(machine, session, "cat < /nope") == "bash: /nope: No such file or directory\n"
    assert say(machine, session, "echo ${x:?gone}; echo no") == "bash: x: gone\n"
    assert say(machine, session, "cd /nope") == "bash: cd: /nope: No such file or directory\n"


def test_permissions_hold_for_every_user_but_root() -> None:
    machine, session = fresh()
    say(machine, session, "echo secret > /tmp/s; chmod 600 /tmp/s; printf '#!/bin/sh\\necho ran\\n' > /tmp/p")
    session.cred = session.cred._replace(uid=33, gid=33)
    assert say(machine, session, "cat /tmp/s") == "cat: /tmp/s: Permission denied\n"
    assert say(machine, session, "echo x > /etc/new") == "bash: /etc/new: Permission denied\n"
    assert say(machine, session, "/tmp/p") == "bash: /tmp/p: Permission denied\n"
    assert run_line(machine, session, "/tmp/p").exit_code == 126


def test_a_full_disk_makes_writers_fail() -> None:
    machine, session = fresh()
    machine.files.update_mount("/", size=machine.files.usage[1].bytes + 4096 * 3)
    assert "No space left on device" in say(machine, session, "seq 10000 > /tmp/big")
    assert say(machine, session, "rm /tmp/big; echo ok > /tmp/small; cat /tmp/small") == "ok\n"


def test_a_deleted_file_that_is_open_keeps_its_space() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    before = machine.files.usage[1].bytes
    run_line(machine, session, "exec 7> /tmp/held; head -c 40960 /dev/zero >&7; rm /tmp/held", console=console)
    held = machine.files.usage[1].bytes
    assert held - before >= 40960
    run_line(machine, session, "exec 7>&-", console=console)
    assert machine.files.usage[1].bytes < held


def test_background_jobs_go_on_between_lines() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    first = run_line(machine, session, "(sleep 5; echo later > /tmp/f) &", console=console)
    assert first.output.startswith(b"[1] ")
    assert run_line(machine, session, "cat /tmp/f", console=console).exit_code == 1
    assert run_line(machine, session, "sleep 6; cat /tmp/f", console=console).stdout == b"later\n"


def test_a_job_for_a_daemon() -> None:
    machine, _ = fresh()
    result = run_job(machine, Job(("sh", "-c", "echo out; echo err >&2; exit 3"), cred=fresh()[1].cred))
    assert result == (3, b"out\n", b"err\n", False)


def test_time_is_virtual() -> None:
    machine, session = fresh()
    before = machine.clock.now
    say(machine, session, "sleep 90")
    assert 90 <= machine.clock.now - before < 91
    assert run_line(machine, session, "sleep 100", Limits(seconds=10)).timed_out


def test_functions_may_call_themselves_a_thousand_times() -> None:
    machine, session = fresh()
    text = "f() { if (( $1 > 0 )); then f $(( $1 - 1 )); else echo bottom; fi; }; f 1500"
    assert say(machine, session, text) == "bottom\n"


def test_arrays_are_a_subshells_own_once_it_changes_them() -> None:
    machine, session = fresh()
    text = (
        "a=(1 2); (a[0]=9; a[5]=x; unset 'a[1]'; echo ${a[@]}); f() { local a; a[0]=5; (:); }; f; a[1]=7; echo ${a[@]}"
    )
    assert say(machine, session, text) == "9 x\n1 7\n"
    other = session.fork()
    assert say(machine, session, "a[0]=parent; echo ${a[0]}") == "parent\n"
    assert say(machine, other, "echo ${a[0]}; a[0]=child") == "1\n"
    assert say(machine, session, "echo ${a[0]}") == "parent\n"


def test_pipelines_of_a_session_end_cleanly_one_after_another() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    for text, expected in (
        ("yes | head -1", b"y\n"),
        ("seq 9 | cat | cat | tail -1", b"9\n"),
        ("sleep 9 | true; echo b", b"b\n"),
    ):
        for _ in range(3):
            assert run_line(machine, session, text, console=console).stdout == expected
            assert not console.hub.tasks
    assert run_line(machine, session, "yes | cat", Limits(steps=50_000), console=console).timed_out
    assert run_line(machine, session, "seq 3 | wc -l", console=console).stdout == b"3\n"


def test_a_builtin_in_a_pipeline_waits_for_no_job() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    done = run_line(machine, session, "sleep 7 & sleep 0.1; jobs | wc -l; jobs -p | cat | wc -l", console=console)
    assert (done.stdout, done.timed_out) == (b"1\n1\n", False)
    assert machine.clock.now - session.started < 1
    assert (
        run_line(machine, session, "(wait; echo $(wait %1; echo $?)); wait; jobs", console=console).stdout == b"127\n"
    )
    assert 7 < machine.clock.now - session.started < 8


def test_jobs_that_end_with_a_line_out_of_time_are_gone() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    assert run_line(machine, session, "sleep 90 & sleep 80", Limits(seconds=10), console=console).timed_out
    told = run_line(machine, session, "jobs; pgrep sleep", console=console)
    assert (told.stdout, told.exit_code) == (b"[1]+  Killed                  sleep 90\n", 1)
    assert run_line(machine, session, "jobs", console=console).stdout == b""


def test_a_job_has_opened_its_files_before_the_next_command_runs() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    for job in (
        "sleep 30 > /tmp/f",
        "(sleep 30; echo x) > /tmp/f 2>&1",
        "echo x | cat > /tmp/f",
        "g > /tmp/f",
        "if :; then sleep 1; fi > /tmp/f",
        "sleep 5 | { sleep 6 > /tmp/f; }",
    ):
        done = run_line(machine, session, f"g() {{ sleep 3; }}; {job} & rm /tmp/f; echo $?", console=console)
        assert done.stdout == b"0\n", job
    done = run_line(machine, session, "sleep 1 > /nosuch/f & echo $?; wait $!; echo $?", console=console)
    assert done.stdout == b"0\n1\n"
    assert b"bash: /nosuch/f: No such file or directory\n" in done.stderr
    inside = "(sleep 2 > /tmp/f & rm /tmp/f); true | { sleep 2 > /tmp/f & rm /tmp/f; }; echo $?"
    assert run_line(machine, session, inside, console=console).stdout == b"0\n"


def test_a_job_never_delays_the_shell() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())
    before = machine.clock.now
    run_line(machine, session, "echo $(sleep 5; echo x) > /tmp/f & sleep 9 > /tmp/g & true", console=console)
    assert machine.clock.now - before < 1
    text = "while :; do :; done & (while :; do :; done) & ls /etc/passwd; kill %% %-"
    said = run_line(machine, session, text, console=console)
    assert (said.stdout, said.timed_out) == (b"/etc/passwd\n", False)


def test_a_stopped_job_rests_until_it_is_continued() -> None:
    machine, session = fresh()
    console = Console(machine, session, Limits())

    def out(text: str) -> str:
        return run_line(machine, session, text, console=console).stdout.decode()

    assert out("(sleep 2; echo late) & kill -STOP $!; sleep 5; ps -o stat= -p $!; jobs") == (
        "T\n[1]+  Stopped                 (sleep 2; echo late)\n"
    )
    assert out("jobs -r; jobs -s | wc -l; bg; jobs") == (
        "1\n[1]+ (sleep 2; echo late) &\n[1]+  Running                 (sleep 2; echo late) &\n"
    )
    assert out("wait") == "late\n"
    assert out("sleep 9 & kill -STOP $!; kill -9 $!; wait $!; echo $?") == "137\n"
    assert run_line(machine, session, "sleep 9 & kill -STOP $!; wait", Limits(seconds=30), console=console).timed_out
