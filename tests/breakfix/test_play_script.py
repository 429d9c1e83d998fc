"""`breakfix play --system NAME -c SCRIPT` beside `bash -c SCRIPT`: both streams and the exit code, to the byte."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from breakfix.cli import console
from breakfix.cli.main import run
from tests.runners.sim.worlds import web_server

SCRIPTS = (
    "echo out; echo err >&2; exit 3",
    "nosuch",
    "ls /nowhere",
    "cd /nowhere",
    "echo ${x?unset}",
    "if",
    "echo 'a",
    "((",
    "fi",
    "false",
    "exit 300",
    "exit -1",
    "set -e; false; echo no",
    "trap 'echo bye' EXIT; exit 5",
    "cat /nowhere | wc -l",
    'read x; echo "[$x]"',
    "cat",
    "exec nosuch",
    "exec ''",
    "printf 'no newline'",
    "printf '\\xff\\xfe\\x00x'",
    "return 1",
    "break",
    "local x",
    "declare -r a=1; a=2; echo after",
    "set -u; echo $zz; echo after",
    "source /nowhere",
    "./nofile",
    "/etc",
    "/etc/passwd",
    "echo $((1/0)); echo x",
    "echo hi > /nowhere/x",
    "while true; do",
    "{ echo a; }; }",
    "unset -f f; f",
    "let 'x=1+'",
    "echo $((1*))",
    "shopt expand_aliases",
    "echo a >&9",
    "yes | head -2",
    "bash -c 'exit 7'; echo $?",
    "type nosuch",
    "echo {a,b",
    'echo "$(nosuch)"; echo $?',
    "f() { echo $1; }; f a; f",
    "timeout 1 sleep 5; echo $?",
    "exit 256",
    "exit abc",
    "echo $0 $#",
    "history | head -3",
    "kill -9 $$",
    "kill -TERM $$",
    "kill -PIPE $$",
    "kill -INT $$; echo alive",
    "trap 'echo caught' TERM; kill $$; echo on",
)


@pytest.fixture
def booted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One boot for many scripts: each still has a fresh world."""
    monkeypatch.setattr(console, "find_system", lambda name: name)
    monkeypatch.setattr(console, "open_system", lambda _system, *, seed: web_server(seed))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.usefixtures("booted")
def test_as_bash(script: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    # Whoever runs the tests in the background ignores an interrupt, and bash would leave it so.
    real = subprocess.run(
        ["/usr/bin/env", "--default-signal=INT,QUIT", bash, "-c", script],
        capture_output=True, stdin=subprocess.DEVNULL, cwd=tmp_path, timeout=20, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    # argv[0] of a shell started by its path is that path: bash says the name it was called by.
    said = real.stderr.replace(f"{bash}: ".encode(), b"bash: ")
    out = real.stdout.replace(bash.encode(), b"bash")
    code = run(["play", "--system", "web-server", "-c", script])
    ours = capfdbinary.readouterr()
    assert (ours.out, ours.err, code) == (out, said, real.returncode if real.returncode >= 0 else 128 - real.returncode)


def test_what_runs_away_ends_as_timeout_does(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["play", "--system", "web-server", "-c", "echo begun; while :; do :; done; echo never"]) == 124
    assert capfdbinary.readouterr() == (b"begun\n", b"")


def test_each_script_has_a_world_of_its_own(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for _ in range(2):
        assert run(["play", "--system", "web-server", "-c", "ls /root/mark; touch /root/mark"]) == 0
        assert b"No such file or directory" in capfdbinary.readouterr().err


def test_bytes_leave_the_process_as_they_are() -> None:
    """From outside, with arguments that are no UTF-8 and a large output into a pipe."""
    script = b"printf '%s' '\xff\xfe'; seq 100000 | tail -c 100000; echo last >&2; exit 9"
    done = subprocess.run(
        [sys.executable, "-m", "breakfix", "play", "--system", "web-server", "-c", script],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 9, done.stderr
    assert done.stdout.startswith(b"\xff\xfe")
    assert done.stdout.endswith(b"\n100000\n")
    assert done.stderr == b"last\n"
