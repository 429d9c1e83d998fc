"""Perl's functions on lists, arrays and hashes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from runners.sim.commands.perl.nodes import ArrayNode, Constant, HashNode, Index, Item, Node, Slice
from runners.sim.commands.perl.patterns import Matching, regex
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.values import Box, Reference, Value, integer, text, true


def gathered(rt: Runtime, arguments: Sequence[Node]) -> list[Value]:
    return [value for argument in arguments for value in argument.values(rt)]


def array(argument: Node, rt: Runtime) -> Any:
    assert isinstance(argument, ArrayNode)
    return argument.array(rt)


def push_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    values = gathered(rt, arguments[1:])
    rt.spend(len(values))
    found = array(arguments[0], rt)
    rt.room(len(found) + len(values))
    found += values
    return len(found)


def unshift_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = array(arguments[0], rt)
    found[:0] = gathered(rt, arguments[1:])
    return len(found)


def pop_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = array(arguments[0], rt)
    return found.pop() if found else None


def shift_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = array(arguments[0], rt)
    return found.pop(0) if found else None


def splice_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = array(arguments[0], rt)
    start = integer(arguments[1].scalar(rt)) if len(arguments) > 1 else 0
    start = max(start + len(found), 0) if start < 0 else min(start, len(found))
    count = integer(arguments[2].scalar(rt)) if len(arguments) > 2 else len(found) - start
    end = start + count if count >= 0 else max(len(found) + count, start)
    taken = found[start:end]
    found[start:end] = gathered(rt, arguments[3:])
    return taken


def keys_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    return [*node.hash(rt)] if isinstance(node, HashNode) else [*range(len(array(node, rt)))]


def hash_values(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    return [*node.hash(rt).values()] if isinstance(node, HashNode) else [*array(node, rt)]


def each_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    assert isinstance(node, HashNode)
    table = node.hash(rt)
    done = next((count for known, count in rt.walks if known is table), 0)
    rt.walks = [walk for walk in rt.walks if walk[0] is not table]
    if done >= len(table):
        return []
    rt.walks.append((table, done + 1))
    key = [*table][done]
    return [key, table[key]]


def exists_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    if isinstance(node, Item):
        return 1 if text(node.key.scalar(rt)) in node.base.hash(rt) else ""
    if isinstance(node, Index):
        return 1 if integer(node.index.scalar(rt)) < len(node.base.array(rt)) else ""
    return 1


def delete_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    if isinstance(node, Item):
        return [node.base.hash(rt).pop(text(node.key.scalar(rt)), None)]
    if isinstance(node, Slice) and isinstance(node.base, HashNode):
        return [node.base.hash(rt).pop(text(key), None) for key in node.keys.values(rt)]
    if isinstance(node, Index):
        value = node.scalar(rt)
        node.assign(rt, None)
        return [value]
    return []


def defined_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    node = arguments[0]
    if isinstance(node, ArrayNode):
        return 1 if node.array(rt) else ""
    return 1 if node.scalar(rt) is not None else ""


def undef_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    if arguments:
        node = arguments[0]
        if isinstance(node, ArrayNode | HashNode):
            node.assign_list(rt, [])
        else:
            node.assign(rt, None)
    return None


def reference(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    value = arguments[0].scalar(rt)
    return value.kind if isinstance(value, Reference) else ""


def reverse_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return gathered(rt, arguments)[::-1]


def with_topic(rt: Runtime, values: Sequence[Value], run: Callable[[], Any]) -> list[tuple[Value, Any]]:
    """Each value as $_ for a moment, with what `run` gives for it."""
    outer = rt.topic
    found = []
    try:
        for value in values:
            rt.spend()
            rt.topic = rt.names["$_"] = Box(value)
            found.append((value, run()))
    finally:
        rt.topic = rt.names["$_"] = outer
    return found


def map_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = with_topic(rt, gathered(rt, arguments[1:]), lambda: arguments[0].values(rt))
    return [value for _, values in found for value in values]


def grep_(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    found = with_topic(rt, gathered(rt, arguments[1:]), lambda: arguments[0].scalar(rt))
    return [value for value, kept in found if true(kept)]


def sort_(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    values = gathered(rt, arguments[1:])
    rt.spend(len(values))
    order = arguments[0]
    if isinstance(order, Constant):
        return sorted(values, key=text)
    left, right = rt.find("$a"), rt.find("$b")

    def compare(one: Value, other: Value) -> int:
        rt.spend()
        left.value, right.value = one, other
        found = order.scalar(rt)
        if isinstance(found, Reference):
            found = (found.target.call([], False) or [0])[-1]
        return integer(found)

    del line
    return sorted(values, key=functools.cmp_to_key(compare))


def unique(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    return [*{text(value): value for value in reversed(gathered(rt, arguments))}][::-1]


def found_first(rt: Runtime, arguments: Sequence[Node], _line: int) -> Value:
    for value, kept in with_topic(rt, gathered(rt, arguments[1:]), lambda: arguments[0].scalar(rt)):
        if true(kept):
            return value
    return None


def split_(rt: Runtime, arguments: Sequence[Node], line: int) -> Value:
    pattern = arguments[0] if arguments else Constant(" ")
    subject = text(arguments[1].scalar(rt)) if len(arguments) > 1 else text(rt.topic.value)
    limit = integer(arguments[2].scalar(rt)) if len(arguments) > 2 else 0
    rt.spend(1 + (len(subject) >> 4))
    if isinstance(pattern, Matching):
        written, flags = text(pattern.pattern.scalar(rt)), pattern.flags
    else:
        written, flags = text(pattern.scalar(rt)), ""
        if written == " ":
            subject, written = subject.lstrip(" \t\n\r\f\v"), r"\s+"
    if written == "^":
        flags += "m"
    parts: list[Value] = []
    data, end = subject.encode("latin-1", "replace"), 0
    for found in regex(rt, written, flags, line).iterate(data):
        if 0 < limit <= len(parts) + 1:
            break
        if (found.end == found.start and found.start in (0, len(data))) or (found.end == 0):
            continue
        parts.append(data[end : found.start].decode("latin-1"))
        parts += [found.group(at).decode("latin-1") if found.spans[at][0] >= 0 else None
                  for at in range(1, len(found.spans))]  # fmt: skip
        end = found.end
    if data:
        parts.append(data[end:].decode("latin-1"))
    if limit == 0:
        while parts and not parts[-1]:
            parts.pop()
    return parts
