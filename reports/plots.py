"""Tables to SVG, with the same bytes each time: fixed hash salt, no date, no identifiers that depend on the run.

Figures have no background and no colours of their own. They are drawn in stand-in colours which are then replaced by
CSS variables (`var(--ink)`), so that a page's light and dark themes reach into them. `standalone` gives the file form.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from reports.measures import hosted
from reports.statistics import Estimate
from reports.table import Table
from reports.tables import Tables
from reports.text import printable, shortened

VERDICTS = ("VERIFIED", "RECOVERED_UNPROVEN", "NOT_RECOVERED", "HARMFUL", "UNKNOWN")
MOST_AGENTS = 30
_MOST_LINES = 8
_LINE = 0.065
"""The height of a line of text on an axis from 0 to 1."""
WIDTH = 5.4
"""Inches; 72 units of the SVG each. Small enough that labels stay readable when a phone shows the whole figure."""

INK, SOFT, RULE, ACCENT = "#010203", "#010204", "#010205", "#010206"
_VERDICT_INK = dict(zip(VERDICTS, ("#010210", "#010211", "#010212", "#010213", "#010214"), strict=True))
# Stand-in -> (CSS variable, value in light, value in dark).
PALETTE = {
    INK: ("ink", "#1d1f21", "#e9e6df"),
    SOFT: ("soft", "#62666b", "#a3a19b"),
    RULE: ("rule", "#e2dfd8", "#35373a"),
    ACCENT: ("accent", "#1f6f63", "#5cc2ae"),
    _VERDICT_INK["VERIFIED"]: ("verified", "#1f7a5a", "#4fbf95"),
    _VERDICT_INK["RECOVERED_UNPROVEN"]: ("unproven", "#d69a2d", "#e2b458"),
    _VERDICT_INK["NOT_RECOVERED"]: ("lost", "#a7abb0", "#6c7178"),
    _VERDICT_INK["HARMFUL"]: ("harmful", "#b83a34", "#e5736b"),
    _VERDICT_INK["UNKNOWN"]: ("unknown", "#dcd9d2", "#3f4347"),
}
_LINE_INKS = (
    ACCENT,
    _VERDICT_INK["HARMFUL"],
    _VERDICT_INK["RECOVERED_UNPROVEN"],
    _VERDICT_INK["VERIFIED"],
    SOFT,
    INK,
)
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "breakfix",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "xtick.color": RULE,
    "xtick.labelcolor": SOFT,
    "ytick.color": RULE,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0.0,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """`svg` goes inside a page. `alt` says in a sentence what there is to see; `note` how to read it."""

    name: str
    title: str
    alt: str
    svg: str
    note: str = ""
    wide: bool = False

    @property
    def standalone(self) -> str:
        """The figure as a file of its own, in light or dark as its reader prefers."""
        variables = "".join(f"--{name}:light-dark({light},{dark});" for name, light, dark in PALETTE.values())
        style = f"<style>svg{{color-scheme:light dark;--sans:system-ui,sans-serif;{variables}}}</style>"
        head, body = self.svg.split(">", 1)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{head}>{style}{body}\n'


def draw(tables: Tables, attempts: pd.DataFrame, trends: Table | None = None) -> tuple[Plot, ...]:
    """All plots, from the tables and the `named` attempts frame. No data, no plots."""
    if not tables.agents:
        return ()
    agents = tables.agents[:MOST_AGENTS]
    cut = f"The first {len(agents)} of {len(tables.agents)} agents." if len(agents) < len(tables.agents) else ""
    counted = hosted(attempts)
    return (
        _leaderboard(tables, agents, cut),
        _verdicts(counted, agents, cut),
        _commands(counted, agents, cut),
        _cost(tables, counted, agents, cut),
        *([] if trends is None else [_trends(trends, agents, cut)]),
    )


def _leaderboard(tables: Tables, agents: Sequence[str], cut: str) -> Plot:
    score, verified = (_by_agent(tables, name) for name in ("score", "verified"))

    def paint(axes: Axes) -> None:
        for row, agent in enumerate(agents):
            _bar(axes, row - 0.17, score[agent], _VERDICT_INK["NOT_RECOVERED"])
            _bar(axes, row + 0.17, verified[agent], _VERDICT_INK["VERIFIED"])
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25%", "50%", "75%", "100%"])
        _rows(axes, agents)
        axes.grid(axis="x")

    best = verified[agents[0]].value
    return Plot(
        name="leaderboard",
        title="Score, and how much of it is proven",
        alt=f"Bars for {len(agents)} agents: score and verified rate, each with its interval. "
        f"{printable(agents[0])} is first" + (f" with {best:.0%} verified." if best is not None else "."),
        svg=_svg("leaderboard", paint, height=0.55 + 0.5 * len(agents)),
        note=_joined("Grey: score. Green: verified rate. Lines: 95% intervals.", cut),
    )


def _verdicts(attempts: pd.DataFrame, agents: Sequence[str], cut: str) -> Plot:
    counts = attempts.groupby(["player", "verdict"]).size().to_dict()

    def paint(axes: Axes) -> None:
        for row, agent in enumerate(agents):
            total = sum(counts.get((agent, verdict), 0) for verdict in VERDICTS)
            left = 0.0
            for verdict in VERDICTS:
                count = counts.get((agent, verdict), 0)
                if not count:
                    continue
                share = count / total
                axes.barh(row, share, left=left, height=0.56, color=_VERDICT_INK[verdict], linewidth=0)
                left += share
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25%", "50%", "75%", "100%"])
        _rows(axes, agents)

    return Plot(
        name="verdicts",
        title="What became of the attempts",
        alt=f"Stacked bars for {len(agents)} agents: the share of attempts with each of the five verdicts.",
        svg=_svg("verdicts", paint, height=0.55 + 0.5 * len(agents)),
        note=cut,
    )


def _commands(attempts: pd.DataFrame, agents: Sequence[str], cut: str) -> Plot:
    needed = {
        str(agent): sorted(float(value) for value in group.dropna())
        for agent, group in attempts.groupby("player")["commands_to_repair"]
    }

    def paint(axes: Axes) -> None:
        most = max((values[-1] for values in needed.values() if values), default=1.0)
        for row, agent in enumerate(agents):
            values = needed.get(agent, [])
            if not values:
                axes.text(0.02 * most, row, "no repair", va="center_baseline", color=SOFT)
                continue
            middle = float(pd.Series(values).median())
            low, high = (float(pd.Series(values).quantile(share)) for share in (0.1, 0.9))
            axes.plot([low, high], [row, row], color=ACCENT, linewidth=5, alpha=0.3, solid_capstyle="round")
            axes.plot([middle], [row], "o", color=ACCENT, markersize=6)
        axes.set_xlim(0, most * 1.08)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_xlabel("commands")
        _rows(axes, agents)
        axes.grid(axis="x")

    return Plot(
        name="commands",
        title="Commands to repair",
        alt=f"For {len(agents)} agents: the median of commands until the last objective, and the middle 80 per cent.",
        svg=_svg("commands", paint, height=0.8 + 0.5 * len(agents)),
        note=_joined("Dot: median. Band: the middle 80%. Attempts that met every objective.", cut),
    )


def _cost(tables: Tables, attempts: pd.DataFrame, agents: Sequence[str], cut: str) -> Plot:
    """Score against money where every agent's cost is known and somebody paid, else against commands."""
    costs = {str(agent): rows["cost"] for agent, rows in attempts.groupby("player")}
    paid = all(not column.isna().any() for column in costs.values()) and any(
        column.sum() > 0 for column in costs.values()
    )
    column, what = ("cost", "cost of an attempt") if paid else ("commands", "commands in an attempt")
    price = {str(agent): float(rows.mean()) for agent, rows in attempts.groupby("player")[column] if rows.notna().any()}
    score = _by_agent(tables, "score")
    shown = [agent for agent in agents if agent in price and score[agent].value is not None]

    def paint(axes: Axes) -> None:
        widest = max([price[agent] for agent in shown], default=1.0) or 1.0
        for agent in shown:
            estimate, at = score[agent], price[agent]
            if estimate.low is not None and estimate.high is not None:
                axes.plot([at, at], [estimate.low, estimate.high], color=ACCENT, linewidth=3, alpha=0.3)
            axes.plot([at], [estimate.value or 0.0], "o", color=ACCENT, markersize=6)
        _labels(axes, [(price[agent], score[agent].value or 0.0, agent) for agent in shown], near=0.35 * widest)
        axes.set_xlim(-0.02 * widest, 1.4 * widest)
        _percent_axis(axes)
        axes.set_xlabel(what)

    return Plot(
        name="cost",
        title="Score against cost",
        alt=f"Points for {len(shown)} agents: score upwards, {what} to the right.",
        svg=_svg("cost", paint, height=3.3),
        note=_joined(
            "Mean cost of an attempt." if paid else "Nothing was paid, or a price is unknown: commands stand for it.",
            "Lines: 95% intervals of the score.",
            cut,
        ),
    )


def _trends(trends: Table, agents: Sequence[str], cut: str) -> Plot:
    runs = list(dict.fromkeys(str(run) for run in trends.column("run")))
    rows = zip(*(trends.column(name) for name in ("agent", "run", "verified")), strict=True)
    seen: dict[str, list[tuple[int, float, float, float]]] = {}
    for agent, run, estimate in rows:
        if isinstance(estimate, Estimate) and estimate.value is not None:
            point = (runs.index(str(run)), estimate.value, estimate.low or 0.0, estimate.high or 0.0)
            seen.setdefault(str(agent), []).append(point)
    shown = [agent for agent in agents if agent in seen][:_MOST_LINES]

    def paint(axes: Axes) -> None:
        for number, agent in enumerate(shown):
            # Lines that would cover each other stand a little apart.
            aside = 0.05 * (number - (len(shown) - 1) / 2)
            at = [place + aside for place, *_ in seen[agent]]
            colour = _LINE_INKS[number % len(_LINE_INKS)]
            axes.plot(at, [value for _, value, *_ in seen[agent]], "-o", color=colour, linewidth=1.6, markersize=4)
            for place, (_, _, low, high) in zip(at, seen[agent], strict=True):
                axes.plot([place, place], [low, high], color=colour, linewidth=3, alpha=0.25)
        ends = [(seen[agent][-1][0] + 0.1, seen[agent][-1][1], agent) for agent in shown]
        _labels(axes, ends, near=float(len(runs)))
        axes.set_xlim(-0.5, len(runs) - 0.5 + 0.35 * len(runs))
        axes.set_xticks(range(len(runs)), [shortened(printable(run), 14) for run in runs])
        _percent_axis(axes)

    left_out = len(seen) - len(shown)
    return Plot(
        name="trends",
        title="Verified, run by run",
        alt=f"Lines for {len(shown)} agents over {len(runs)} runs: the verified rate, with its interval.",
        svg=_svg("trends", paint, height=3.3, width=max(WIDTH, 1.2 + 0.9 * len(runs))),
        note=_joined("Bands: 95% intervals.", f"{left_out} agents are left out." if left_out else cut),
        wide=len(runs) > 8,
    )


def _labels(axes: Axes, points: Sequence[tuple[float, float, str]], *, near: float) -> None:
    """A name beside each point (x, y, name), set higher where one that is `near` in x already stands there."""
    placed: list[tuple[float, float]] = []
    for x, y, name in sorted(points, key=lambda point: (point[1], point[0], point[2])):
        height = y
        while any(abs(x - at) < near and abs(height - other) < _LINE - 1e-9 for at, other in placed):
            height = max(other for at, other in placed if abs(x - at) < near) + _LINE
        placed.append((x, height))
        text = shortened(printable(name), 20)
        axes.annotate(text, (x, height), xytext=(7, 0), textcoords="offset points", va="center_baseline")


def _percent_axis(axes: Axes) -> None:
    """From 0 to 100% upwards, and on to the highest label."""
    highest = max([text.xy[1] for text in axes.texts if isinstance(text, Annotation)], default=1.0)
    axes.set_ylim(-0.03, max(1.06, highest + _LINE / 2))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25%", "50%", "75%", "100%"])
    axes.tick_params(axis="y", labelcolor=SOFT)
    axes.grid(axis="y")


def _by_agent(tables: Tables, name: str) -> dict[str, Estimate]:
    pairs = zip(tables.leaderboard.column("agent"), tables.leaderboard.column(name), strict=True)
    return {str(agent): value for agent, value in pairs if isinstance(value, Estimate)}


def _bar(axes: Axes, row: float, estimate: Estimate, colour: str) -> None:
    if estimate.value is None:
        return
    axes.barh(row, estimate.value, height=0.28, color=colour, linewidth=0)
    if estimate.low is not None and estimate.high is not None:
        axes.plot([estimate.low, estimate.high], [row, row], color=INK, linewidth=1.1, solid_capstyle="butt")


def _rows(axes: Axes, agents: Sequence[str]) -> None:
    """One row for each agent, the first on top."""
    axes.set_yticks(range(len(agents)), [shortened(printable(agent), 24) for agent in agents])
    axes.set_ylim(len(agents) - 0.45, -0.55)


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _svg(name: str, paint: Callable[[Axes], None], *, height: float, width: float = WIDTH) -> str:
    """The SVG element, without prolog and metadata; its identifiers begin with `name`, its title is the caller's."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, count=1, flags=re.DOTALL)
    # Only inside tags: a label may read like one of these patterns.
    text = re.sub(r"<[^>]*>", lambda tag: _themed(tag.group(), name), text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _themed(tag: str, name: str) -> str:
    """A tag with identifiers of its own and CSS variables for colours and typeface."""
    tag = re.sub(r'\bid="', f'id="{name}-', tag).replace("url(#", f"url(#{name}-")
    tag = tag.replace('xlink:href="#', f'xlink:href="#{name}-').replace("'DejaVu Sans'", "var(--sans)")
    for stand_in, (variable, _, _) in PALETTE.items():
        tag = tag.replace(stand_in, f"var(--{variable})")
    return tag


def labelled(plot: Plot) -> str:
    """The plot's SVG with its description for screen readers."""
    head, body = plot.svg.split(">", 1)
    return f'{head} role="img" aria-label={quoteattr(plot.alt)}><title>{escape(plot.title)}</title>{body}'
