"""Expressions of a Perl program that stand for a place: variables, elements, slices, and what is assigned to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.values import Box, Code, Errno, Reference, Value, integer, text
from runners.text import is_digits


class Node:
    """An expression. `many`: does it give a list where it stands on the left of an assignment?"""

    __slots__ = ("line",)
    many = False

    def __init__(self) -> None:
        self.line = 0

    def scalar(self, rt: Runtime) -> Value:
        found = self.values(rt)
        return found[-1] if found else None

    def values(self, rt: Runtime) -> list[Value]:
        return [self.scalar(rt)]

    def assign(self, rt: Runtime, value: Value) -> None:
        del value
        raise rt.die("Can't modify non-lvalue subroutine call", self.line)

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        self.assign(rt, values.pop(0) if values else None)

    def refuse(self, rt: Runtime, value: Value, kind: str) -> NoReturn:
        article = "an" if kind[0] in "AEIOU" else "a"
        if isinstance(value, Reference):
            raise rt.die(f"Not {article} {kind} reference", self.line)
        raise rt.die(f'Can\'t use string ("{text(value)[:32]}") as {article} {kind} ref', self.line)


class Constant(Node):
    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value

    def scalar(self, rt: Runtime) -> Value:
        del rt
        return self.value


class Scalar(Node):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def box(self, rt: Runtime) -> Box:
        if self.name == "$_":
            return rt.topic
        found = rt.find(self.name)
        assert isinstance(found, Box)
        return found

    def scalar(self, rt: Runtime) -> Value:
        return self.box(rt).value

    def assign(self, rt: Runtime, value: Value) -> None:
        self.box(rt).value = value


class Special(Node):
    """Variables that are asked of the running program: $1, $&, $., $!, $?, $$."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def scalar(self, rt: Runtime) -> Value:
        name = self.name
        if is_digits(name) or name in "&`'+":
            return _matched(rt, name)
        if name == ".":
            return rt.last_read[1].count if rt.last_read is not None else None
        if name == "!":
            return Errno(rt.errno, rt.problem) if rt.errno else ""
        if name == "?":
            return rt.child_status
        return rt.ctx.pid

    def assign(self, rt: Runtime, value: Value) -> None:
        if self.name == "." and rt.last_read is not None:
            rt.last_read[1].count = integer(value)
        elif self.name == "!":
            rt.errno = integer(value)
        elif self.name == "?":
            rt.child_status = integer(value)


def _matched(rt: Runtime, name: str) -> Value:
    found = rt.match
    if found is None:
        return None
    if name == "`":
        return found.data[: found.start].decode("latin-1")
    if name == "'":
        return found.data[found.end :].decode("latin-1")
    number = 0 if name == "&" else len(found.spans) - 1 if name == "+" else int(name)
    if number >= len(found.spans) or found.spans[number][0] < 0:
        return None
    return found.group(number).decode("latin-1")


class ArrayNode(Node):
    """An array by name."""

    __slots__ = ("name",)
    many = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def array(self, rt: Runtime) -> Any:
        return rt.find(self.name)

    def scalar(self, rt: Runtime) -> Value:
        return len(self.array(rt))

    def values(self, rt: Runtime) -> list[Value]:
        return [*self.array(rt)]

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        self.array(rt)[:] = values
        values.clear()

    def assign(self, rt: Runtime, value: Value) -> None:
        self.assign_list(rt, [value])


class HashNode(Node):
    """A hash by name."""

    __slots__ = ("name",)
    many = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def hash(self, rt: Runtime) -> Any:
        return rt.find(self.name)

    def scalar(self, rt: Runtime) -> Value:
        return len(self.hash(rt))

    def values(self, rt: Runtime) -> list[Value]:
        return [one for pair in self.hash(rt).items() for one in pair]

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        made = {text(key): value for key, value in zip(values[::2], [*values[1::2], None], strict=False)}
        found = self.hash(rt)
        found.clear()
        found.update(made)
        values.clear()


def _target(node: Node, inner: Node, rt: Runtime, kind: str) -> Any:
    """What a reference refers to; an undefined place becomes a reference to something new."""
    value = inner.scalar(rt)
    if value is None:
        value = Reference(kind, [] if kind == "ARRAY" else {} if kind == "HASH" else Box())
        inner.assign(rt, value)
    if not isinstance(value, Reference) or value.kind != kind:
        node.refuse(rt, value, kind)
    return value.target


class DerefArray(ArrayNode):
    __slots__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        super().__init__("")
        self.inner = inner

    def array(self, rt: Runtime) -> Any:
        return _target(self, self.inner, rt, "ARRAY")


class DerefHash(HashNode):
    __slots__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        super().__init__("")
        self.inner = inner

    def hash(self, rt: Runtime) -> Any:
        return _target(self, self.inner, rt, "HASH")


class DerefScalar(Scalar):
    __slots__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        super().__init__("")
        self.inner = inner

    def box(self, rt: Runtime) -> Box:
        found = _target(self, self.inner, rt, "SCALAR")
        assert isinstance(found, Box)
        return found


class Index(Node):
    """An element of an array."""

    __slots__ = ("base", "index")

    def __init__(self, base: ArrayNode, index: Node) -> None:
        super().__init__()
        self.base = base
        self.index = index

    def scalar(self, rt: Runtime) -> Value:
        array, at = self.base.array(rt), integer(self.index.scalar(rt))
        return array[at] if -len(array) <= at < len(array) else None

    def assign(self, rt: Runtime, value: Value) -> None:
        array, at = self.base.array(rt), integer(self.index.scalar(rt))
        if at < -len(array):
            raise rt.die(f"Modification of non-creatable array value attempted, subscript {at}", self.line)
        if at >= len(array):
            rt.spend(at - len(array))
            array.extend([None] * (at - len(array) + 1))
        array[at] = value


class Item(Node):
    """An element of a hash."""

    __slots__ = ("base", "key")

    def __init__(self, base: HashNode, key: Node) -> None:
        super().__init__()
        self.base = base
        self.key = key

    def scalar(self, rt: Runtime) -> Value:
        return self.base.hash(rt).get(text(self.key.scalar(rt)))

    def assign(self, rt: Runtime, value: Value) -> None:
        self.base.hash(rt)[text(self.key.scalar(rt))] = value


class Slice(Node):
    """@a[…], @h{…}, (…)[…]. `base`: where they are taken from; a list's own elements cannot be assigned to."""

    __slots__ = ("base", "keys")
    many = True

    def __init__(self, base: Node, keys: Node) -> None:
        super().__init__()
        self.base = base
        self.keys = keys

    def values(self, rt: Runtime) -> list[Value]:
        if isinstance(self.base, HashNode):
            table = self.base.hash(rt)
            return [table.get(text(key)) for key in self.keys.values(rt)]
        array = self.base.array(rt) if isinstance(self.base, ArrayNode) else self.base.values(rt)
        places = [integer(key) for key in self.keys.values(rt)]
        if not isinstance(self.base, ArrayNode) and not array:
            return []
        return [array[at] if -len(array) <= at < len(array) else None for at in places]

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        for key in self.keys.values(rt):
            value = values.pop(0) if values else None
            if isinstance(self.base, HashNode):
                self.base.hash(rt)[text(key)] = value
            elif isinstance(self.base, ArrayNode):
                Index(self.base, Constant(key)).assign(rt, value)


class LastIndex(Node):
    """$#a."""

    __slots__ = ("base",)

    def __init__(self, base: ArrayNode) -> None:
        super().__init__()
        self.base = base

    def scalar(self, rt: Runtime) -> Value:
        return len(self.base.array(rt)) - 1

    def assign(self, rt: Runtime, value: Value) -> None:
        array, size = self.base.array(rt), integer(value) + 1
        rt.spend(max(size - len(array), 0))
        array[:] = [*array[:size], *([None] * (size - len(array)))]


class Listed(Node):
    """(…, …): several expressions, or none."""

    __slots__ = ("parts",)
    many = True

    def __init__(self, parts: Sequence[Node]) -> None:
        super().__init__()
        self.parts = tuple(parts)

    def values(self, rt: Runtime) -> list[Value]:
        return [value for part in self.parts for value in part.values(rt)]

    def scalar(self, rt: Runtime) -> Value:
        value = None
        for part in self.parts:
            value = part.scalar(rt)
        return value

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        for part in self.parts:
            part.assign_list(rt, values)


class Declared(Node):
    """my, our, local. `parts`: what is declared; `listed`: did it stand in parentheses?"""

    __slots__ = ("how", "many", "parts")

    def __init__(self, how: str, parts: Sequence[Node], listed: bool) -> None:
        super().__init__()
        self.how = how
        self.parts = tuple(parts)
        self.many = listed or any(part.many for part in parts)

    def _declare(self, rt: Runtime) -> None:
        for part in self.parts:
            if isinstance(part, Scalar | ArrayNode | HashNode):
                if self.how == "my":
                    rt.declare(part.name)
                elif self.how == "local":
                    rt.localise(part.name)

    def scalar(self, rt: Runtime) -> Value:
        self._declare(rt)
        return self.parts[-1].scalar(rt)

    def values(self, rt: Runtime) -> list[Value]:
        self._declare(rt)
        return Listed(self.parts).values(rt)

    def assign(self, rt: Runtime, value: Value) -> None:
        self._declare(rt)
        self.parts[0].assign(rt, value)

    def assign_list(self, rt: Runtime, values: list[Value]) -> None:
        self._declare(rt)
        for part in self.parts:
            part.assign_list(rt, values)


class CallCode(Node):
    """&$f(…), $f->(…), f(…). `code`: what gives the subroutine, or its name."""

    __slots__ = ("arguments", "code")

    def __init__(self, code: Node | str, arguments: Node) -> None:
        super().__init__()
        self.code = code
        self.arguments = arguments

    def _call(self, rt: Runtime, many: bool) -> list[Value]:
        rt.spend(5)
        if isinstance(self.code, str):
            return rt.call(self.code, self.arguments.values(rt), many, self.line)
        value = self.code.scalar(rt)
        if not isinstance(value, Reference) or not isinstance(value.target, Code):
            self.refuse(rt, value, "CODE")
        assert isinstance(value, Reference)
        called = value.target
        assert isinstance(called, Code)
        return called.call(self.arguments.values(rt), many)

    def values(self, rt: Runtime) -> list[Value]:
        return self._call(rt, True)

    def scalar(self, rt: Runtime) -> Value:
        found = self._call(rt, False)
        return found[-1] if found else None
