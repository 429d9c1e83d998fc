"""Programs that never end, or that want all memory, are stopped by the budget and leave the machine as it was."""

from __future__ import annotations

import pytest

from tests.runners.sim.commands.beside import opened_at_rest, run_away

LINES = [
    "awk 'BEGIN { while (1) x++ }'",
    "awk 'BEGIN { for (;;) ; }'",
    "awk 'BEGIN { s = \"ab\"; while (1) s = s s }'",
    "awk 'BEGIN { while (1) a[n++] = n }'",
    "awk 'BEGIN { while (1) print \"y\" }'",
    "awk 'BEGIN { $1000000000 = 1 }'",
    "awk 'BEGIN { printf \"%1000000000d\", 1 }'",
    'awk \'BEGIN { s = "aa"; while (1) gsub(/a/, "aa", s) }\'',
    "yes | awk '{ n++ }'",
    "yes | sed 's/y/n/'",
    "echo a | sed ':a;s/a/aa/;ba'",
    "echo a | sed ':a;ba'",
    "yes | xargs echo",
    "base64 /dev/zero",
    "dd if=/dev/zero bs=1G | cat > /dev/null",
    "dd if=/dev/zero of=/dev/null bs=1M",
    "md5sum /dev/zero",
    "od /dev/zero",
    "cmp /dev/zero /dev/zero",
]


@pytest.mark.parametrize("line", LINES)
def test_it_ends(line: str) -> None:
    assert run_away(line)[1].timed_out


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("awk 'function f(n) { return f(n + 1) } BEGIN { f(0) }'", 139),
        ("dd if=/dev/zero of=/full bs=1M", 1),
        ("dd if=/dev/zero of=/full bs=1M count=100000", 1),
        ("fallocate -l 1T /full", 1),
    ],
)
def test_it_fails(line: str, status: int) -> None:
    _, result = run_away(line)
    assert result.exit_code == status or result.timed_out


@pytest.mark.parametrize(
    "line",
    [
        "awk '{ print > \"/o\" NR }' /etc/passwd",
        'awk \'BEGIN { while ((getline l < "/etc/passwd") > 0) n++; print > "/x" }\'',
        "md5sum /etc/passwd /etc/group",
        "diff /etc/passwd /etc/group",
        "split -n 3 /etc/passwd /p",
        "dd if=/etc/passwd of=/d",
        "diff <(cat /etc/passwd) /etc/passwd",
        "awk 1 /etc/passwd < /etc/group",
        "xz -k /etc/passwd",
    ],
)
def test_nothing_stays_open(line: str) -> None:
    machine, result = run_away(line)
    assert not result.timed_out
    assert dict(machine.files.opens) == opened_at_rest()
