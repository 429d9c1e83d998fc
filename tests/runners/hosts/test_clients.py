"""What a world's clients have come across by the time that it is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from runners.hosts.clients import Clients
from runners.system import SystemSpec, text
from scenario_dsl.values import Value

_NEWS: Mapping[str, Value] = {"name": "news", "every": "60s", "paths": ({"path": "/"}, {"path": "/news", "weight": 9})}
_TCP: Mapping[str, Value] = {"name": "probe", "kind": "tcp", "every": "120s", "target": "a:1"}


class Asking(Clients):
    """Writes down what would be asked, and asks nobody."""

    def __init__(self) -> None:
        self.asked = Counter[tuple[str, str]]()
        settings: Mapping[str, Value] = {"clients": (_NEWS, _TCP)}
        spec = SystemSpec(name="s", hostname="h", start_time=0.0, uptime=0.0, files=(), settings=settings)
        super().__init__(spec, "10.0.0.1", -1, 0)

    def _ask(self, client: Mapping[str, Value], way: Mapping[str, Value]) -> None:
        self.asked[text(client, "name"), text(way, "path")] += 1


@pytest.mark.parametrize(
    ("span", "machines", "asked"),
    [
        (3600, 1, {("news", "/"): 1, ("news", "/news"): 1, ("probe", ""): 1}),
        (3600, 4, {("news", "/"): 4, ("news", "/news"): 4, ("probe", ""): 4}),
        (200, 4, {("news", "/"): 2, ("news", "/news"): 1, ("probe", ""): 1}),
        (50, 4, {}),
    ],
    ids=["each way once", "and for each machine", "no more than there was time for", "no time"],
)
def test_they_catch_up(span: float, machines: int, asked: Mapping[tuple[str, str], int]) -> None:
    clients = Asking()
    try:
        clients.catch_up(span, machines)
        assert clients.asked == asked
    finally:
        clients.close()
