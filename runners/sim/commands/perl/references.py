"""Expressions that make references and subroutines, run commands, and leave loops."""

from __future__ import annotations

from typing import Any

from runners.sim.commands import children
from runners.sim.commands.awk.streams import external
from runners.sim.commands.perl.nodes import ArrayNode, Declared, HashNode, Node, Scalar
from runners.sim.commands.perl.runtime import Next, Return, Runtime
from runners.sim.commands.perl.values import Box, Code, Reference, Value, text


class MakeReference(Node):
    r"""\$x, \@a, [ … ], { … }."""

    __slots__ = ("inner", "kind")

    def __init__(self, kind: str, inner: Node) -> None:
        super().__init__()
        self.kind = kind
        self.inner = inner

    def scalar(self, rt: Runtime) -> Value:
        if self.kind == "[":
            return Reference("ARRAY", self.inner.values(rt))
        if self.kind == "{":
            values = self.inner.values(rt)
            return Reference(
                "HASH", {text(key): one for key, one in zip(values[::2], [*values[1::2], None], strict=False)}
            )
        inner: Any = self.inner
        if isinstance(inner, Declared):
            inner.values(rt)
            inner = inner.parts[0]
        if isinstance(inner, ArrayNode):
            return Reference("ARRAY", inner.array(rt))
        if isinstance(inner, HashNode):
            return Reference("HASH", inner.hash(rt))
        if isinstance(inner, Scalar):
            return Reference("SCALAR", inner.box(rt))
        return Reference("SCALAR", Box(inner.scalar(rt)))


class MakeCode(Node):
    """sub { … }. `body` is called in a scope of its own, under the one that it was made in."""

    __slots__ = ("body",)

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    def code(self, rt: Runtime) -> Code:
        made_in, body = rt.scope, self.body

        def call(arguments: list[Value], many: bool) -> list[Value]:
            outer, rt.scope = rt.scope, made_in
            depth = len(rt.saved)
            rt.calls.append(many)
            try:
                return list(body.result(rt, many, {"@_": arguments}))
            except Return as returned:
                return returned.values
            finally:
                rt.calls.pop()
                rt.restore(depth)
                rt.scope = outer

        return Code(call)

    def scalar(self, rt: Runtime) -> Value:
        return Reference("CODE", self.code(rt))


class Command(Node):
    """`…` and qx: what a shell line prints."""

    __slots__ = ("line_node",)

    def __init__(self, line_node: Node) -> None:
        super().__init__()
        self.line_node = line_node

    def scalar(self, rt: Runtime) -> Value:
        rt.flush()
        data, status = children.shell_output(rt.ctx, external(text(self.line_node.scalar(rt))))
        rt.truth_of_status(status)
        return data.decode("latin-1")

    def values(self, rt: Runtime) -> list[Value]:
        return [*self.scalar(rt).splitlines(keepends=True)]


class Jump(Node):
    """next, last, return."""

    __slots__ = ("how", "label", "value")

    def __init__(self, how: str, label: str, value: Node | None) -> None:
        super().__init__()
        self.how = how
        self.label = label
        self.value = value

    def scalar(self, rt: Runtime) -> Value:
        if self.how == "return":
            raise Return(self.value.values(rt) if self.value is not None else [])
        raise Next(self.label, self.how == "last")
