"""Whatever is typed: no traceback, no hang, and the world goes on."""

from __future__ import annotations

import random

import pytest

from runners.sim.machine import Machine
from runners.sim.shell.running import run_line
from runners.sim.shell.session import Limits, Session, ShellResult
from tests.differential.harness import ENVIRONMENT, base_machine

_BASE = base_machine(1_700_000_000.0)
_SMALL = Limits(steps=60_000, output_bytes=4096, seconds=30.0)
_PIECES = (
    "echo", " ", "$(", ")", "`", '"', "'", "${", "}", "{", "|", "||", "&&", ";", "\n", "<", ">", "<<E", ">>", "&",
    "$((",
    "))", "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "while", "case", "esac", "x=1", "$x", "${x:-", "*",
    "~", "{1..9}", "\\", "#", "!", "a", "=~", "(", "function f", "f()", "sed s/a/b/", "awk", "grep -E (",
    "find . -exec",
    "sort -k", "printf %d", "${x//a/b}", "xargs", "cat", "\0", "\x1b[0m", "\udc80", "é", "2>&1", "read", "local",
    "exec",
    "trap", "set -e", "eval", "test", "[", "]", "-eq", "tr", "cut -f", "tar xf", "date -d", "dd", "expr", "return",
)  # fmt: skip


def fresh() -> tuple[Machine, Session]:
    machine = _BASE.fork()
    session = Session(
        variables=dict(ENVIRONMENT), cwd="/root", pid=machine.processes.allocate(), started=machine.clock.now
    )  # fmt: skip
    return machine, session


def run(text: str, limits: Limits = _SMALL) -> ShellResult:
    machine, session = fresh()
    result = run_line(machine, session, text, limits)
    after = run_line(machine, session, "echo alive", _SMALL)
    assert after.stdout == b"alive\n" or session.options & {"noexec"} or "exec" in text or "alias" in text
    return result


@pytest.mark.parametrize(
    "text",
    [
        "while true; do :; done", "until false; do :; done", "for ((;;)); do :; done", ":(){ :|:& };:",
        "f() { f | f; }; f",
        "yes", "yes | cat", "cat /dev/zero", "tail -f /etc/passwd & wait", "sleep 1000",
        "cat < /dev/zero | wc",
        "echo {1..100000000}", "echo {1..1000}{1..1000}{1..1000}", "x=a; while :; do x=$x$x; done",
        "printf %1000000000s",
        "seq 1000000000", "a=(); while :; do a+=(1 2 3); done", "x=$(yes)", "read x < <(sleep 1000)",
        "wait $(sleep 999)",
        "dd if=/dev/zero bs=1M", "trap 'while :; do :; done' EXIT; exit",
        "cat <(yes)", "find / -exec yes \\;", "awk 'BEGIN { while (1) x = x \"aaaaaaaa\" }'",
        "sed ':a;s/x*/xx/;ba' /etc/passwd",
        "echo | sed ':a;ba'", "eval \"$(printf 'echo %.0s' {1..9999})\" | yes",
    ],
)  # fmt: skip
def test_endless_work_ends_as_timed_out(text: str) -> None:
    assert run(text).timed_out


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000, "$(" * 3000, "{ " * 2000, "${" * 3000, "[[ " + "( " * 2000,
        "echo $((" + "(" * 3000, "if true; then " * 800,
        'echo "' + "x" * 1_000_000, "echo " + "a" * 1_000_000, "echo " + "a " * 100_000,
        "'" * 100_001, "`" * 9999, "\\" * 10_000,
        "f() { f; }; f", "x='$x'; eval eval eval $x", "a[a[a[a[a[0]]]]]=1", "echo ${a[${a[${a[0]}]}]}", "((x=x=x=x=1))",
        "expr " + "'(' " * 500, "test " + "! " * 500 + "x", "find / " + "\\( " * 300,
        "((" + "-" * 5000 + "1))",
        "grep -E '" + "(" * 2000 + "' /etc/passwd", "x=1; declare -n x=x; echo $x", "a=b; b=a; echo $((a))",
        "alias a=b b=a; a",
        "exec 5<>/tmp/x; cat <&5",
        "cat /dev/urandom | head -c 10 | wc -c", "kill -9 $$", "exec nosuch",
        "exec >/dev/full; echo x",
        "source /dev/stdin <<< 'echo hi'", "set -n", "cd /nosuch; pwd", "printf '%s' $'\\xff\\xfe'",
        "sed 's/\\(a\\)/\\9/'",
        "x=$(printf '\\0')",
        "getopts", "shift 99", "break 5", "return", "unset PATH; ls", "IFS=; echo $PATH",
        "echo ${!}",
    ],
)  # fmt: skip
def test_odd_lines_give_an_answer(text: str) -> None:
    run(text, Limits(steps=2_000_000, output_bytes=4096, seconds=30.0))


def test_output_is_cut_at_its_limit() -> None:
    result = run("seq 100000", Limits(steps=3_000_000, output_bytes=1000, seconds=30.0))
    assert result.truncated
    assert len(result.output) == 1000


def fuzz(count: int, seed: int) -> None:
    choose = random.Random(seed)
    machine, session = fresh()
    for number in range(count):
        if number % 3 == 0:
            text = "".join(
                chr(choose.choice((choose.randrange(128), choose.randrange(0x300))))
                for _ in range(choose.randrange(60))
            )
        else:
            text = choose.choice(("", " ")).join(choose.choice(_PIECES) for _ in range(choose.randrange(1, 14)))
        if number % 50 == 0:
            machine, session = fresh()
        try:
            result = run_line(machine, session, text, Limits(steps=20_000, output_bytes=2048, seconds=5.0))
        except Exception as error:
            raise AssertionError(f"{text!r}") from error
        assert len(result.output) <= 2048


def test_fuzzed_lines() -> None:
    fuzz(2_000, 7)


@pytest.mark.slow
def test_many_fuzzed_lines() -> None:
    fuzz(20_000, 11)


def test_the_same_line_costs_the_same_anywhere() -> None:
    text = "for i in {1..50}; do echo $RANDOM; done | sort -n | shuf | md5sum; mktemp -u"
    assert run(text) == run(text)
