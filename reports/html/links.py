"""Where a report's pages lie, and the links between them. All are relative, so that the folder can be moved."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from reports.text import printable

INDEX = "index.html"
EPISODES = "episodes.html"
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The files of agents and scenarios by their labels; `up` leads from the current page to the report's folder."""

    agents: Mapping[str, str]
    scenarios: Mapping[str, str]
    up: str = ""

    def of(self, column: str, value: str) -> str | None:
        """Where the name in a cell of this column leads; None where it leads nowhere."""
        if column == "trial":
            return self.episodes(e=value)
        if column in ("agent", "first", "second"):
            file = self.agents.get(value)
        elif column == "scenario":
            file = self.scenarios.get(value)
        else:
            file = None
        return None if file is None else self.up + file

    def episodes(self, **wanted: str) -> str:
        """The viewer, showing the episodes that fit."""
        return f"{self.up}{EPISODES}#{urlencode({key: printable(value) for key, value in wanted.items()})}"


def links_for(agents: Sequence[str], scenarios: Sequence[str]) -> Links:
    return Links(
        agents={agent: f"agents/{slug(agent)}.html" for agent in agents},
        scenarios={scenario: f"scenarios/{slug(scenario)}.html" for scenario in scenarios},
    )


def slug(name: str) -> str:
    """A file's name for whatever name: readable, and different for different names on any file system."""
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest
