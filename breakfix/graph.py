"""A scenario as a picture for its author: cause, cascades, symptom and objectives, from left to right."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from scenario_dsl.model import Answer, Objective, Probe
from scenario_dsl.values import Value, strings
from scenario_dsl.worlds import ResolvedFault, ResolvedScenario, World

_COLUMNS = ("cause", "cascade", "symptom", "objective")
_COLOURS = {"cause": "#c2410c", "cascade": "#b45309", "symptom": "#475569", "objective": "#15803d"}
_WIDTH, _GAP_X, _GAP_Y, _LINE, _PAD = 3.1, 1.1, 0.35, 0.2, 0.16
_LETTERS = 34
"""Letters that fit into a box's width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One box: `column` is one of cause, cascade, symptom, objective; the first line is its title."""

    name: str
    column: str
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + 2 * _PAD


def nodes_and_edges(world: World) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
    """What is drawn of one world. An edge says: this brings about, or is measured by, that."""
    nodes: list[Node] = []
    edges: list[tuple[str, str]] = []
    for index, fault in enumerate(world.faults):
        nodes.append(Node(name=f"cause {index}", column="cause", lines=(fault.fault, *_wrapped(_arguments(fault)))))
    causes = [node.name for node in nodes]
    for index, cascade in enumerate(world.cascades):
        name = f"cascade {cascade.name}"
        effect = ", ".join(fault.fault for fault in cascade.inject)
        when = f"when {_probe(cascade.when)}{_after(cascade.after.commands, cascade.after.seconds)}"
        nodes.append(Node(name=name, column="cascade", lines=(*_wrapped(cascade.name), *_wrapped(f"{when}: {effect}"))))
        earlier = world.cascades[:index]
        sources = [f"cascade {other.name}" for other in earlier if _shares(cascade.when, other.inject)]
        edges += [(source, name) for source in sources[-1:] or causes]
    nodes.append(Node(name="symptom", column="symptom", lines=tuple(_wrapped(world.complaint.strip()))))
    last = [node.name for node in nodes if node.column == "cascade"][-1:] or causes
    edges += [(source, "symptom") for source in last]
    for objective in world.objectives:
        name = f"objective {objective.name}"
        title = f"{objective.points:g}  {objective.name}"
        nodes.append(Node(name=name, column="objective", lines=(*_wrapped(title), *_wrapped(_check(objective)))))
        edges += [(f"cascade {objective.armed_by}", name)] if objective.armed_by else [("symptom", name)]
    return tuple(nodes), tuple(edges)


def draw(scenario: ResolvedScenario, world: World) -> str:
    """The SVG text; the same scenario gives the same bytes."""
    nodes, edges = nodes_and_edges(world)
    columns = [[node for node in nodes if node.column == column] for column in _COLUMNS]
    columns = [column for column in columns if column]
    heights = [sum(node.height for node in column) + _GAP_Y * (len(column) - 1) for column in columns]
    height = max(heights)
    places: dict[str, tuple[float, float, Node]] = {}
    for number, (column, own) in enumerate(zip(columns, heights, strict=True)):
        y = (height + own) / 2
        for node in column:
            places[node.name] = (number * (_WIDTH + _GAP_X), y - node.height / 2, node)
            y -= node.height + _GAP_Y
    width = len(columns) * (_WIDTH + _GAP_X) - _GAP_X
    with mpl.rc_context({"svg.hashsalt": "breakfix", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(width + 0.6, height + 1.3))
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(-0.3, width + 0.3)
        axes.set_ylim(-0.3, height + 1.0)
        axes.axis("off")
        axes.text(0, height + 0.65, f"{scenario.name}: {scenario.title}", fontsize=13, weight="bold")
        axes.text(
            0, height + 0.35, f"world {world.name}; {' → '.join(column[0].column for column in columns)}", fontsize=9
        )
        for source, target in edges:
            axes.add_patch(_arrow(places[source], places[target]))
        for x, y, node in places.values():
            axes.add_patch(_box(x, y, node))
            for row, line in enumerate(node.lines):
                top = y + node.height / 2 - _PAD - row * _LINE
                axes.text(x + _PAD, top, line, fontsize=8, va="top", weight="bold" if row == 0 else "normal")
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _box(x: float, y: float, node: Node) -> FancyBboxPatch:
    return FancyBboxPatch(
        (x, y - node.height / 2),
        _WIDTH,
        node.height,
        boxstyle="round,pad=0,rounding_size=0.08",
        facecolor="white",
        edgecolor=_COLOURS[node.column],
        linewidth=1.5,
    )


def _arrow(source: tuple[float, float, Node], target: tuple[float, float, Node]) -> FancyArrowPatch:
    same_column = source[0] == target[0]
    start = (
        (source[0] + _WIDTH / 2, source[1] - source[2].height / 2) if same_column else (source[0] + _WIDTH, source[1])
    )
    end = (target[0] + _WIDTH / 2, target[1] + target[2].height / 2) if same_column else (target[0], target[1])
    return FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color="#64748b", shrinkA=0, shrinkB=0)


def _arguments(fault: ResolvedFault) -> str:
    return ", ".join(f"{name} {value}" for name, value in fault.arguments.items())


def _check(objective: Objective) -> str:
    check = objective.check
    if isinstance(check, Probe):
        return _probe(check)
    return check.question if isinstance(check, Answer) else f"seen in an output: {check.output}"


def _probe(probe: Probe) -> str:
    return f"{probe.type}: " + ", ".join(f"{name} {value}" for name, value in probe.arguments.items())


def _after(commands: int, seconds: float) -> str:
    parts = ([f"{commands} commands"] if commands else []) + ([f"{seconds:g} s"] if seconds else [])
    return f", {' and '.join(parts)} later" if parts else ""


def _shares(when: Probe, faults: tuple[ResolvedFault, ...]) -> bool:
    """Does the condition look at something that these faults touch?"""
    looked = tuple(_texts(when.arguments))
    return any(text.startswith(looked) for fault in faults for text in _texts(fault.arguments))


def _texts(arguments: Mapping[str, Value]) -> Iterator[str]:
    return (text for _, text in strings(arguments))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _LETTERS, max_lines=5, placeholder=" …") or [""]
