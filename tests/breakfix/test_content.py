"""What a user calls packs, scenarios and systems, and what they are told when there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from breakfix.content import find_system, open_pack, open_scenario, shipped_packs
from scenario_dsl.errors import AuthorError


@pytest.mark.parametrize(
    "name",
    [
        "process-recovery",
        "starter/process-recovery",
        "packs/starter/process-recovery",
        str(shipped_packs()["starter"] / "process-recovery"),
        str(shipped_packs()["starter"] / "scenarios" / "process-recovery.yml"),
    ],
)
def test_a_scenario_has_several_names(name: str) -> None:
    library, scenario = open_scenario(name)
    assert (library.pack.name, scenario.name) == ("starter", "process-recovery")


@pytest.mark.parametrize(
    ("look", "name", "told"),
    [
        (open_pack, "startr", "did you mean `starter`?"),
        (open_pack, "nothing-like-it", "shipped packs: "),
        (open_scenario, "proces-recovery", "did you mean `process-recovery`?"),
        (open_scenario, "starter/Process_Recovry", "the pack starter has no scenario `Process_Recovry`; did you mean"),
        (open_scenario, "startr/process-recovery", "did you mean `starter`?"),
        (find_system, "web-servr", "did you mean `web-server`?"),
    ],
)
def test_a_slip_of_the_pen_is_understood(look: Callable[[str], object], name: str, told: str) -> None:
    with pytest.raises(AuthorError) as raised:
        look(name)
    assert told in str(raised.value)
