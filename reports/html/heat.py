"""Agents by scenarios, each cell the verified rate and a link to its episodes."""

from __future__ import annotations

from dataclasses import dataclass

from reports.html.links import Links
from reports.statistics import Estimate
from reports.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One cell: per cent without its sign, the share for its shade, the sentence behind it, and where it leads."""

    text: str
    share: str
    doc: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """The map; `rows` are (agent, its page, one `Spot` or None for each scenario)."""

    scenarios: tuple[tuple[str, str | None], ...]
    rows: tuple[tuple[str, str | None, tuple[Spot | None, ...]], ...]


def heat_map(tables: Tables, links: Links) -> Heat:
    """From the table of scenarios, in the report's order."""
    names = ("scenario", "agent", "verified")
    cells = {
        (scenario, agent): value
        for scenario, agent, value in zip(*(tables.scenario.column(name) for name in names), strict=True)
        if isinstance(value, Estimate)
    }
    return Heat(
        scenarios=tuple((scenario, links.of("scenario", scenario)) for scenario in tables.scenarios),
        rows=tuple(
            (
                agent,
                links.of("agent", agent),
                tuple(_spot(cells.get((scenario, agent)), agent, scenario, links) for scenario in tables.scenarios),
            )
            for agent in tables.agents
        ),
    )


def _spot(value: Estimate | None, agent: str, scenario: str, links: Links) -> Spot | None:
    if value is None or value.value is None:
        return None
    spread = "" if value.low is None or value.high is None else f", 95%: {100 * value.low:.0f}–{100 * value.high:.0f}"
    return Spot(
        text=f"{100 * value.value:.0f}",
        share=f"{value.value:.4g}",
        doc=f"{agent} at {scenario}: {value.successes} of {value.n} verified{spread}",
        href=links.episodes(agent=agent, scenario=scenario),
    )
