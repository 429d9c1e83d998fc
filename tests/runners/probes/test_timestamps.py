"""When lines of log files were written."""

from __future__ import annotations

import pytest

from runners.probes.timestamps import recent, written


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2026-03-14T09:00:05.250000+00:00 small systemd[1]: x", 1773478805.25),
        ("2026-03-14T10:00:05.25+01:00 small x", 1773478805.25),
        ('10.0.0.7 - - [14/Mar/2026:09:00:05 +0000] "GET / HTTP/1.1" 200 1', 1773478805.0),
        ("2026/03/14 09:00:05 [error] 811#811: x", 1773478805.0),
        ("2026-03-14 09:00:05.250 UTC [12] LOG:  x", 1773478805.25),
        ("264:M 14 Mar 2026 09:00:05.250 * Ready", 1773478805.0),
        ("Mar 14 09:00:05 small x", 1773478805.0),
        ("no time here", None),
        ("2026-13-99T09:00:05 x", None),
    ],
)
def test_times_of_log_lines(line: str, at: float | None) -> None:
    assert written(line, 1773478900.0) == at


def test_lines_without_a_time_belong_to_the_one_before() -> None:
    lines = ["2026-03-14T09:00:00Z old", "  more", "2026-03-14T09:00:10Z new", "  more of it"]
    assert list(recent(iter(lines), 1773478805.0, 1773478900.0)) == lines[2:]


def test_last_years_syslog_line_is_not_of_the_future() -> None:
    at = written("Dec 31 23:00:00 small x", 1773478900.0)
    assert at is not None
    assert at < 1773478900.0
