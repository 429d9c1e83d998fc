"""SourceText -> Document: YAML events to a tree with places, refusing what authors did not mean.

The tree is built from events, without recursion, so that no nesting can exhaust a stack; depth, size and the expansion
of aliases are capped while reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import yaml
from yaml.error import Mark, MarkedYAMLError

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.nodes import Document, Entry, ListNode, MapNode, Node, ScalarNode, Style
from scenario_dsl.problems import reading as problems
from scenario_dsl.source import SourceText, Span
from scenario_dsl.syntax import explain
from scenario_dsl.yaml12 import NumberOutOfRange, resolve

MAX_DEPTH = 40
MAX_VALUES = 20_000
LOADER: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""libyaml's scanner where PyYAML was built with it: same events, some ten times as fast."""

_STYLES: dict[str | None, Style] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
_CORE_TAGS = frozenset({"tag:yaml.org,2002:str"})


@dataclass(slots=True)
class _Open:
    """A collection whose end has not been read."""

    start: int
    flow: bool
    mapping: bool
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: tuple[str, Span] | None = None
    size: int = 1
    depth: int = 1


class _Stop(Exception):  # noqa: N818 (it is a way out, not an error)
    """Reading on would make no sense; the diagnostic is already noted."""


@dataclass(slots=True)
class _Reader:
    source: SourceText
    found: list[Diagnostic] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    root: Node | None = None
    total: int = 0

    def span(self, event: Any) -> Span:
        return Span(self.at(event.start_mark), self.at(event.end_mark))

    def at(self, mark: Mark) -> int:
        return self.source.index(mark.line, mark.column)

    def scalar(self, event: Any) -> None:
        span = self.span(event)
        style = _STYLES[event.style]
        value: Any = event.value
        self.tag(event, span)
        if style == "plain" and event.tag is None:
            try:
                value = resolve(event.value)
            except NumberOutOfRange:
                self.found.append(problems.YamlNumberRange(source=self.source, span=span))
                value = 0
        node = ScalarNode(span=span, value=value, style=style)
        self.anchored(event.anchor, span, node)
        self.put(node)

    def tag(self, event: Any, span: Span) -> None:
        if event.tag == "!":
            # `run: ! grep -q x` would silently lose its `!`.
            mark = Span(span.start, span.start + 1)
            meaning = "YAML reads this as a tag"
            self.found.append(problems.YamlTextStart(source=self.source, span=mark, sign="!", meaning=meaning))
        elif event.tag is not None and event.tag not in _CORE_TAGS:
            end = self.source.text.find(" ", span.start)
            written = Span(span.start, min(end if end >= 0 else span.end, self.source.line_end(span.start)))
            name = self.source.text[written.start : written.end]
            if not name.startswith("!"):
                # An anchor stands before the tag: name the tag itself, underline the node's beginning.
                name = event.tag
            self.found.append(problems.YamlTag(source=self.source, span=written, tag=name))

    def open(self, event: Any, *, mapping: bool) -> None:
        span = self.span(event)
        self.tag(event, span)
        if len(self.stack) >= MAX_DEPTH:
            mark = Span(span.start, span.start + 1)
            self.found.append(problems.YamlTooDeep(source=self.source, span=mark, most=MAX_DEPTH))
            raise _Stop
        self.anchored(event.anchor, span, None)
        self.stack.append(_Open(span.start, bool(event.flow_style), mapping, event.anchor))

    def close(self, event: Any) -> None:
        done = self.stack.pop()
        span = Span(done.start, self.at(event.end_mark))
        node: Node
        if done.mapping:
            node = MapNode(span=span, entries=done.entries, flow=done.flow, size=done.size, depth=done.depth)
        else:
            node = ListNode(span=span, items=tuple(done.items), flow=done.flow, size=done.size, depth=done.depth)
        if done.anchor is not None:
            self.anchors[done.anchor] = node
        self.put(node)

    def anchored(self, anchor: str | None, span: Span, node: Node | None) -> None:
        if anchor is None:
            return
        if anchor in self.places:
            label = Label(span=_first_line(self.source, self.places[anchor]), text="first here")
            self.found.append(
                problems.YamlAnchorTwice(
                    source=self.source, span=_first_line(self.source, span), labels=(label,), anchor=anchor
                )
            )
        self.places[anchor] = span
        self.anchors[anchor] = node

    def alias(self, event: Any) -> None:
        span = self.span(event)
        name = event.anchor
        node = self.anchors.get(name)
        if node is None:
            if name in self.anchors:
                label = Label(span=_first_line(self.source, self.places[name]), text="the anchor")
                self.found.append(problems.YamlAliasCycle(source=self.source, span=span, labels=(label,), anchor=name))
            else:
                self.found.append(problems.YamlAnchorUnknown(source=self.source, span=span, anchor=name))
            self.put(ScalarNode(span=span, value="", style="plain"))
            return
        if len(self.stack) + node.depth > MAX_DEPTH:
            self.found.append(problems.YamlTooDeep(source=self.source, span=span, most=MAX_DEPTH))
            raise _Stop
        self.put(replace(node, span=span, anchor=node.anchor or node.span))

    def put(self, node: Node) -> None:
        """Hang a finished node into the collection that is open."""
        self.total += node.size if node.anchor else 1
        if self.total > MAX_VALUES:
            mark = _first_line(self.source, node.span)
            kind = problems.YamlAliasBomb if node.anchor else problems.YamlTooMany
            self.found.append(kind(source=self.source, span=mark, most=MAX_VALUES))
            raise _Stop
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.size += node.size
        parent.depth = max(parent.depth, node.depth + 1)
        if not parent.mapping:
            parent.items.append(node)
        elif parent.key is None:
            parent.key = self.key(parent, node)
        else:
            name, span = parent.key
            parent.key = None
            if name not in parent.entries:
                parent.entries[name] = Entry(key=span, value=node)

    def key(self, parent: _Open, node: Node) -> tuple[str, Span]:
        span = _first_line(self.source, node.span)
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
            self.found.append(
                self.template(node) or problems.YamlKeyNotText(source=self.source, span=span, found=kind_of(node))
            )
            return self.source.text[span.start : span.end], span
        if node.value == "<<" and node.style == "plain":
            self.found.append(problems.YamlMergeKey(source=self.source, span=span))
        if node.value in parent.entries:
            label = Label(span=parent.entries[node.value].key, text="first given here")
            self.found.append(problems.YamlDuplicateKey(source=self.source, span=span, labels=(label,), key=node.value))
        return node.value, span

    def template(self, key: Node) -> Diagnostic | None:
        """A `{{ name }}` without quotes: to YAML, a mapping whose key is a mapping."""
        start, text = key.span.start - 1, self.source.text
        end = text.find("}}", start, self.source.line_end(key.span.start)) + 2
        if not isinstance(key, MapNode) or text[start : start + 2] != "{{" or end < 2:
            return None
        return problems.YamlBareTemplate(source=self.source, span=Span(start, end), written=text[start:end])


def kind_of(node: Node) -> str:
    """What a value is, in words."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a mapping"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return "a boolean"
    return "text" if isinstance(node.value, str) else "a number"


def _first_line(source: SourceText, span: Span) -> Span:
    return Span(span.start, max(span.start, min(span.end, source.line_end(span.start))))


def _events(source: SourceText) -> Iterator[Any]:
    events: Iterator[Any] = yaml.parse(source.text, Loader=LOADER)
    return events


def parse(source: SourceText) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    """The document, and what was found on the way. The document is None where no tree could be made."""
    reader = _Reader(source)
    try:
        _read(reader)
    except _Stop:
        return None, tuple(reader.found)
    except MarkedYAMLError as error:
        # Whatever else was found before the text stopped being YAML is still true.
        return None, (*reader.found, explain(source, error))
    except yaml.YAMLError as error:
        detail = str(error).splitlines()[0]
        return None, (*reader.found, problems.YamlSyntax(source=source, span=Span(0, 0), detail=detail))
    root = reader.root
    if isinstance(root, MapNode) and root.entries:
        return Document(source=source, root=root), tuple(reader.found)
    if root is None or (isinstance(root, ScalarNode) and root.value is None) or isinstance(root, MapNode):
        return None, (*reader.found, problems.FileEmpty(source=source, span=Span(0, 0)))
    span = _first_line(source, root.span)
    return None, (*reader.found, problems.YamlNotMapping(source=source, span=span, found=kind_of(root)))


def _read(reader: _Reader) -> None:
    documents = 0
    for event in _events(reader.source):
        if isinstance(event, yaml.ScalarEvent):
            reader.scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            reader.open(event, mapping=True)
        elif isinstance(event, yaml.SequenceStartEvent):
            reader.open(event, mapping=False)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            reader.close(event)
        elif isinstance(event, yaml.AliasEvent):
            reader.alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                span = reader.span(event)
                mark = _first_line(reader.source, Span(span.start, max(span.end, span.start + 1)))
                reader.found.append(problems.YamlSeveralDocuments(source=reader.source, span=mark))
                raise _Stop
            if event.tags or (event.version and event.version[0] != 1):
                reader.found.append(
                    problems.YamlDirective(source=reader.source, span=Span(0, reader.source.line_end(0)))
                )
