"""A document as a tree whose every node knows its place. Made by `scenario_dsl.parsing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scenario_dsl.source import SourceText, Span
from scenario_dsl.values import Route, Scalar, Value

Style = Literal["plain", "single", "double", "literal", "folded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """`anchor` is where the value really stands, when an alias put it here. `size` and `depth` count values and levels
    with aliases expanded."""

    span: Span
    value: Scalar
    style: Style
    anchor: Span | None = None
    size: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNode:
    span: Span
    items: tuple[Node, ...]
    flow: bool
    anchor: Span | None = None
    size: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    key: Span
    value: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode:
    span: Span
    entries: Mapping[str, Entry]
    flow: bool
    anchor: Span | None = None
    size: int = 1
    depth: int = 0


Node: TypeAlias = ScalarNode | ListNode | MapNode


def value_of(node: Node) -> Value:
    """The plain value of a tree."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, ListNode):
        return tuple(value_of(item) for item in node.items)
    return {key: value_of(entry.value) for key, entry in node.entries.items()}


def data_of(node: Node) -> object:
    """The tree as the lists and dicts that jsonschema takes."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, ListNode):
        return [data_of(item) for item in node.items]
    return {key: data_of(entry.value) for key, entry in node.entries.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One parsed file: its text and its tree."""

    source: SourceText
    root: MapNode

    def node(self, route: Route) -> Node:
        """The node at a route; a route that leads on past a scalar ends there."""
        node: Node = self.root
        for step in route:
            if isinstance(node, MapNode) and isinstance(step, str) and step in node.entries:
                node = node.entries[step].value
            elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
            else:
                break
        return node

    def key(self, route: Route) -> Span:
        """Where the key that a route ends in stands; for an item of a list, the item's first line."""
        if not route:
            return self.head(self.root)
        parent = self.node(route[:-1])
        if isinstance(parent, MapNode) and isinstance(route[-1], str) and route[-1] in parent.entries:
            return parent.entries[route[-1]].key
        if isinstance(route[-1], str):
            # The key is not there: what should hold it stands for it.
            return self.key(route[:-1]) if len(route) > 1 else self.head(self.root)
        return self.head(self.node(route))

    def place(self, route: Route) -> Span:
        """What to underline for the value at a route: a scalar itself, a collection by its key or its head."""
        node = self.node(route)
        if isinstance(node, ScalarNode) and node.style in ("literal", "folded"):
            return self.key(route) if route and isinstance(route[-1], str) else self.head(node)
        if isinstance(node, ScalarNode) and node.span.end > node.span.start:
            return node.span
        if route and isinstance(route[-1], str):
            return self.key(route)
        return self.head(node)

    def head(self, node: Node) -> Span:
        """The beginning of a node: the first key of a mapping, or what stands on its first line."""
        if isinstance(node, MapNode) and node.entries and not node.flow:
            return next(iter(node.entries.values())).key
        end = min(node.span.end, self.source.line_end(node.span.start))
        return Span(node.span.start, max(end, node.span.start))

    def raw(self, route: Route) -> str:
        """A value as it is written in the file."""
        span = self.node(route).span
        return self.source.text[span.start : span.end]

    def within(self, route: Route, written: str) -> Span:
        """Where in the value at `route` a piece of text is written; the whole value where it cannot be found."""
        span = self.node(route).span
        at = self.source.text.find(written, span.start, span.end) if written else -1
        return Span(at, at + len(written)) if at >= 0 else self.place(route)


def stand_in(title: str) -> Document:
    """The document of what was made in code: diagnostics call it by this title and have no text to show."""
    return Document(source=SourceText(title, ""), root=MapNode(span=Span(0, 0), entries={}, flow=False))


def scalars(node: Node, route: Route = ()) -> Iterator[tuple[Route, ScalarNode]]:
    """Every scalar of a tree with its route."""
    if isinstance(node, ScalarNode):
        yield route, node
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from scalars(item, (*route, index))
    else:
        for key, entry in node.entries.items():
            yield from scalars(entry.value, (*route, key))
