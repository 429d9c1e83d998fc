"""The table of bad habits: what the gate says today, and that none of them is VERIFIED."""

from __future__ import annotations

import re

import pytest

from tests.docs.habits import PAGE, REAL_PAGE, page, shipped


def sections() -> dict[str, list[list[str]]]:
    """Scenario -> the cells of each row, on both pages."""
    found: dict[str, list[list[str]]] = {}
    for part in (part for path in (PAGE, REAL_PAGE) for part in path.read_text(encoding="utf-8").split("\n## ")[1:]):
        rows = [line for line in part.splitlines() if line.startswith("|")][2:]
        found[part.splitlines()[0]] = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return found


def test_no_bad_habit_is_verified_and_each_scenario_has_at_least_four() -> None:
    tables = sections()
    assert tables.keys() == {scenario for content in shipped() for scenario in content.scenarios}
    for scenario, rows in tables.items():
        assert sum(row[0].startswith("**") for row in rows) >= 4, scenario
        assert {row[-1] for row in rows} <= {"HARMFUL", "NOT_RECOVERED", "RECOVERED_UNPROVEN", "UNKNOWN"}, scenario
        assert all(re.fullmatch(r"passes|refuses|harm|unknown|–|", cell) for row in rows for cell in row[1:-1])


def test_some_habit_of_every_scenario_gets_the_machine_up_again() -> None:
    for scenario, rows in sections().items():
        assert any(row[1] == "passes" for row in rows), scenario


@pytest.mark.slow
def test_the_table_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.docs.habits"
