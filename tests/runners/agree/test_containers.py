"""The simulated server and real containers say the same, as far as they have to."""

from __future__ import annotations

import pytest

from breakfix.content import SHIPPED, shipped_packs
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.agree.agreeing import agree
from runners.agree.comparing import LEAST, shares
from runners.backends.registry import find_backend
from scenario_dsl.library import load_library
from tests.engine import built


@pytest.mark.engine
def test_the_simulated_server_agrees_with_a_container() -> None:
    built("web-server")
    content = verify_under_ephemeral_key(compile_pack(load_library(shipped_packs()["starter"], SHIPPED))).content
    found = agree(content, (find_backend("sim"), find_backend("container")), scenarios=("permission-repair",))
    counted = {share.matter: share for share in shares(found.compared)}
    assert counted.keys() == LEAST.keys()
    differing = [one for one in found.compared if not one.agrees]
    assert all(share.holds for share in counted.values()), (counted, differing)
