"""/bin/sh where it is typed to, and where daemons run it. What it does with a script is compared with a real one."""

from __future__ import annotations

import pickle

import pytest

from runners.formats.shell.grammar.dash import DashParser
from runners.formats.shell.parser import parse
from runners.sim.machine import Machine
from runners.sim.shell.running import Console, run_line
from runners.sim.shell.session import Limits, Session
from tests.runners.sim.admin.line import Terminal
from tests.runners.sim.shell.test_hostile import fresh
from tests.runners.sim.worlds import typed, web_server


def dash() -> tuple[Machine, Session]:
    machine, _ = fresh()
    pid = machine.processes.allocate()
    return machine, Session(variables={"HOME": "/root"}, cwd="/root", name="sh", pid=pid, dialect="dash")


def test_sh_is_a_link() -> None:
    sh = Terminal()
    assert sh("readlink -f /bin/sh; ls -l /usr/bin/sh | cut -c1").out == "/usr/bin/dash\nl\n"
    assert sh("dpkg -S /usr/bin/sh /usr/bin/dash").out == "dash: /usr/bin/sh\ndash: /usr/bin/dash\n"


def test_it_counts_the_lines_that_are_typed() -> None:
    machine, session = dash()
    console = Console(machine, session, Limits())
    said = []
    for text in ("nope", "echo hi\ncd /x", "f() {\n  nope2\n}\nf", "echo )", "cat < /x", "eval nope3"):
        said.append(run_line(machine, session, text, console=console).stderr.decode())
    assert said == [
        "sh: 1: nope: not found\n",
        "sh: 3: cd: can't cd to /x\n",
        "sh: 5: nope2: not found\n",
        'sh: 8: Syntax error: ")" unexpected\n',
        "sh: 9: cannot open /x: No such file\n",
        "sh: 10: eval: nope3: not found\n",
    ]


def test_a_failure_that_ends_a_script_does_not_end_what_is_typed_to() -> None:
    machine, session = dash()
    for text in (". /x; echo no", "set -o pipefail", "echo ${x^^}; echo no", "shift 9", "echo $((1+))", "export -f x"):
        done = run_line(machine, session, text)
        assert done.exit_code == 2, text
        assert run_line(machine, session, "echo on").stdout == b"on\n"


def test_its_jobs_are_listed_newest_first_and_not_announced() -> None:
    machine, session = dash()
    console = Console(machine, session, Limits())
    assert run_line(machine, session, "sleep 1 & sleep 9 &", console=console).output == b""
    assert run_line(machine, session, "jobs", console=console).stdout.decode() == (
        "[2] + Running                    sleep 9\n[1] - Running                    sleep 1\n"
    )
    assert run_line(machine, session, "sleep 2", console=console).stderr.decode() == (
        "[1] - Done                       sleep 1\n"
    )
    assert run_line(machine, session, "kill -STOP %2; jobs", console=console).stdout.decode() == (
        "[2] + Stopped (signal)           sleep 9\n"
    )


def test_its_session_pickles_and_forks() -> None:
    machine, session = dash()
    run_line(machine, session, "f() { echo {1,2} $RANDOM; }")
    copy = pickle.loads(pickle.dumps(session)).fork()
    assert run_line(machine, copy, "f; [[ x ]]").output == b"{1,2}\nsh: 2: [[: not found\n"


def test_daemons_run_it() -> None:
    live = web_server()
    typed(live, "printf '[Service]\\nExecStart=/bin/sh -c \"[[ a ]] && echo yes\"\\n' > /etc/systemd/system/d.service")
    said = typed(live, "systemctl daemon-reload; systemctl start d; journalctl -u d -o cat").output
    assert b"\n/bin/sh: 1: [[: not found\n" in said
    typed(live, "printf '* * * * * root echo {1..2} > /tmp/out; source /x 2>> /tmp/out\\n' > /etc/cron.d/t")
    assert typed(live, "sleep 61; cat /tmp/out", seconds=90).output == b"{1..2}\n/bin/sh: 1: source: not found\n"


def test_programs_run_it() -> None:
    live = web_server()
    for command in (
        """awk 'BEGIN { system("[[ a ]]") }'""",
        "perl -e 'system(\"[[ a ]]; :\")'",
        "echo x | xargs sh -c '[[ a ]]'",
        "find /etc/hostname -exec sh -c '[[ a ]]' \\;",
        "echo '[[ a ]]' | sh",
    ):
        assert b": 1: [[: not found\n" in typed(live, command).output, command


def test_one_is_entered_and_left() -> None:
    live = web_server()
    assert typed(live, "sh").output == b""
    entered = typed(live, "echo {1,2}; nope")
    assert (entered.prompt, entered.output) == ("# ", b"{1,2}\nsh: 1: nope: not found\n")
    assert typed(live, "exit 3").output == b""
    assert typed(live, "echo $? {1,2}").output == b"3 1 2\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("while true; do done", '"done" unexpected'),
        ("if then", '"then" unexpected'),
        ("for i in a b\necho", 'word unexpected (expecting "do")'),
        ("echo >", "end of file unexpected"),
        ("echo > ;", '";" unexpected'),
        ("case x in x) echo", 'end of file unexpected (expecting ";;")'),
        ("echo ${x", "Missing '}'"),
        ("until x; do\n\n", 'end of file unexpected (expecting "done")'),
    ],
)
def test_what_does_not_parse(text: str, message: str) -> None:
    problem = parse(text, kind=DashParser).problem
    assert problem is not None
    assert problem.message == f"Syntax error: {message}"
