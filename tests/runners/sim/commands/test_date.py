"""date: zones by name, which not every machine that runs the tests has, and a clock that nobody may set."""

from __future__ import annotations

import pytest

from tests.runners.sim.worlds import opened, typed


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("TZ=America/New_York date -d @1700000000", "Tue Nov 14 17:13:20 EST 2023"),
        ("TZ=:Asia/Kolkata date -d @1700000000 +%FT%T%::z%Z", "2023-11-15T03:43:20+05:30:00IST"),
        ("TZ=America/New_York date -u -d @0 -Is", "1970-01-01T00:00:00+00:00"),
        ("TZ=../../etc/passwd date -d @0 +%H:%M", "00:00"),
        ("TZ= date -d @0 +%Z", "UTC"),
    ],
)
def test_a_process_may_have_a_zone_of_its_own(command: str, said: str) -> None:
    assert typed(opened().live, command).output.decode() == said + "\n"


@pytest.mark.parametrize("command", ["date -s '2020-01-01 12:00'", "date 010112002020"])
def test_the_clock_is_not_the_machines_to_set(command: str) -> None:
    live = opened().live
    done = typed(live, command)
    assert done.output.decode() == "date: cannot set date: Operation not permitted\nWed Jan  1 12:00:00 UTC 2020\n"
    assert done.exit_code == 1
    assert not typed(live, "date +%Y").output.startswith(b"2020")
