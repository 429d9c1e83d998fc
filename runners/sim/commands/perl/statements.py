"""Statements of a Perl program: blocks, conditions, loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runners.sim.commands.perl.nodes import ArrayNode, Declared, Listed, Node, Scalar
from runners.sim.commands.perl.runtime import Next, Runtime, Scope
from runners.sim.commands.perl.values import Box, Died, PerlError, Value, true


class Statement:
    """`run` carries it out; `result` also gives what it came to, for the last one of a subroutine."""

    __slots__ = ()

    def run(self, rt: Runtime) -> None:
        self.result(rt, False)

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        raise NotImplementedError


class Expression(Statement):
    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def run(self, rt: Runtime) -> None:
        rt.spend()
        self.node.scalar(rt)

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        rt.spend()
        return self.node.values(rt) if many else [self.node.scalar(rt)]


class Block(Statement):
    __slots__ = ("statements",)

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = tuple(statements)

    def run(self, rt: Runtime) -> None:
        outer, rt.scope = rt.scope, Scope(rt.scope)
        depth = len(rt.saved)
        try:
            for statement in self.statements:
                statement.run(rt)
        finally:
            rt.restore(depth)
            rt.scope = outer

    def result(self, rt: Runtime, many: bool, names: Mapping[str, Any] | None = None) -> list[Value]:
        outer, rt.scope = rt.scope, Scope(rt.scope)
        rt.scope.names.update(names or {})
        depth = len(rt.saved)
        try:
            for statement in self.statements[:-1]:
                statement.run(rt)
            return self.statements[-1].result(rt, many) if self.statements else []
        finally:
            rt.restore(depth)
            rt.scope = outer


class Bare(Statement):
    """A block by itself: a loop that is gone through once."""

    __slots__ = ("block", "label")

    def __init__(self, block: Block, label: str) -> None:
        self.block = block
        self.label = label

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        try:
            return self.block.result(rt, many)
        except Next as jump:
            if jump.label not in ("", self.label):
                raise
        return []


class If(Statement):
    """`branches`: condition and block; the last condition may be None."""

    __slots__ = ("branches",)

    def __init__(self, branches: Sequence[tuple[Node | None, Statement]]) -> None:
        self.branches = tuple(branches)

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        rt.spend()
        value: Value = ""
        for test, block in self.branches:
            if test is not None:
                value = test.scalar(rt)
            if test is None or true(value):
                return block.result(rt, many)
        return [value]


class While(Statement):
    """`after`: the continue block, or the third part of a C-style loop. `late`: do {} while."""

    __slots__ = ("after", "block", "label", "late", "test")

    def __init__(
        self,
        test: Node | None,
        block: Statement,
        *,
        label: str = "",
        after: Statement | None = None,
        late: bool = False,
    ) -> None:
        self.test = test
        self.block = block
        self.label = label
        self.after = after
        self.late = late

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        del many
        first = self.late
        while first or self.test is None or true(self.test.scalar(rt)):
            first = False
            rt.spend()
            try:
                self.block.run(rt)
            except Next as jump:
                if jump.label not in ("", self.label):
                    raise
                if jump.last:
                    break
            if self.after is not None:
                self.after.run(rt)
        return []


class CFor(Statement):
    """for (…; …; …): the first part and the loop, in one scope."""

    __slots__ = ("loop", "start")

    def __init__(self, start: Statement | None, loop: While) -> None:
        self.start = start
        self.loop = loop

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        outer, rt.scope = rt.scope, Scope(rt.scope)
        try:
            if self.start is not None:
                self.start.run(rt)
            return self.loop.result(rt, many)
        finally:
            rt.scope = outer


class ForEach(Statement):
    """for my $x (…) { … }: the variable stands for the element itself, so what it is set to arrives there."""

    __slots__ = ("block", "items", "label", "variable")

    def __init__(self, variable: Node | None, items: Node, block: Statement, label: str) -> None:
        self.variable = variable
        self.items = items
        self.block = block
        self.label = label

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        del many
        outer, rt.scope = rt.scope, Scope(rt.scope)
        topic, name = rt.topic, self._name()
        try:
            for box, put in _aliases(rt, self.items):
                rt.spend()
                if name == "$_":
                    rt.topic = rt.names["$_"] = box
                else:
                    rt.scope.names[name] = box
                before = box.value
                try:
                    self.block.run(rt)
                except Next as jump:
                    if jump.label not in ("", self.label):
                        raise
                    if jump.last:
                        break
                finally:
                    if put is not None and box.value is not before:
                        put[0][put[1]] = box.value
        finally:
            rt.scope = outer
            rt.topic = rt.names["$_"] = topic
        return []

    def _name(self) -> str:
        node = self.variable.parts[0] if isinstance(self.variable, Declared) else self.variable
        return node.name if isinstance(node, Scalar) else "$_"


def _aliases(rt: Runtime, items: Node) -> Iterator[tuple[Box, tuple[Any, int] | None]]:
    """A box for each element, and where to put back what is done to it."""
    if isinstance(items, Listed) and len(items.parts) == 1:
        items = items.parts[0]
    if isinstance(items, ArrayNode):
        array = items.array(rt)
        at = 0
        while at < len(array):
            yield Box(array[at]), (array, at)
            at += 1
        return
    if isinstance(items, Listed):
        for part in items.parts:
            if isinstance(part, Scalar):
                yield part.box(rt), None
            else:
                yield from _aliases(rt, part)
        return
    for value in items.values(rt):
        yield Box(value), None


class Nothing(Statement):
    """A declaration that was carried out when it was read."""

    __slots__ = ()

    def result(self, rt: Runtime, many: bool) -> list[Value]:
        del rt, many
        return []


class DoBlock(Node):
    """do { … } and eval { … } as expressions."""

    __slots__ = ("block", "caught")

    def __init__(self, block: Block, *, caught: bool = False) -> None:
        super().__init__()
        self.block = block
        self.caught = caught

    def scalar(self, rt: Runtime) -> Value:
        found = self._result(rt, False)
        return found[-1] if found else None

    def values(self, rt: Runtime) -> list[Value]:
        return self._result(rt, True)

    def _result(self, rt: Runtime, many: bool) -> list[Value]:
        if not self.caught:
            return self.block.result(rt, many)
        return caught(rt, lambda: self.block.result(rt, many))


def caught(rt: Runtime, run: Any) -> list[Value]:
    """eval: what it came to; after `die` nothing, and $@ says why."""
    try:
        found: list[Value] = run()
    except Died as died:
        rt.set("$@", died.value)
        return []
    except PerlError as problem:
        rt.set("$@", str(problem))
        return []
    rt.set("$@", "")
    return found
