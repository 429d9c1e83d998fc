"""Expressions of a Perl program that compute: operators, text with variables in it, patterns, references."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from runners.sim.commands.perl.nodes import Declared, Node
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.values import (
    Reference,
    Value,
    incremented,
    integer,
    number,
    plus,
    text,
    true,
    whole,
)

_SHORT = 4096
Operation = Callable[[Runtime, Value, Value, int], Value]


def _times(_rt: Runtime, left: Value, right: Value, _line: int) -> Value:
    found = number(left) * number(right)
    return whole(found) if type(found) is int else found


def _divide(rt: Runtime, left: Value, right: Value, line: int) -> Value:
    above, below = number(left), number(right)
    if not below:
        raise rt.die("Illegal division by zero", line)
    exact = type(above) is int and type(below) is int and above % below == 0
    return int(above // below) if exact else above / below


def _modulo(rt: Runtime, left: Value, right: Value, line: int) -> Value:
    below = integer(right)
    if not below:
        raise rt.die("Illegal modulus zero", line)
    return integer(left) % below


def _power(_rt: Runtime, left: Value, right: Value, _line: int) -> Value:
    base, exponent = number(left), number(right)
    try:
        if type(base) is int and type(exponent) is int and 0 <= exponent < 1024:
            return whole(base**exponent)
        return float(base) ** exponent
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _compared(left: Value, right: Value) -> int | None:
    one, other = number(left), number(right)
    return None if one != one or other != other else (one > other) - (one < other)


def _order(left: Value, right: Value) -> int:
    one, other = text(left), text(right)
    return (one > other) - (one < other)


def _truth(found: bool) -> Value:
    return 1 if found else ""


def _repeat(rt: Runtime, left: Value, right: Value, _line: int) -> Value:
    count = max(integer(right), 0)
    shown = text(left)
    rt.room(len(shown) * count)
    return shown * count


def _concatenated(rt: Runtime, left: Value, right: Value, _line: int) -> Value:
    found = text(left) + text(right)
    if len(found) > _SHORT:
        rt.room(len(found))
    return found


OPERATIONS: dict[str, Operation] = {
    "+": lambda _rt, left, right, _line: plus(number(left), number(right)),
    "-": lambda _rt, left, right, _line: plus(number(left), -number(right)),
    "*": _times,
    "/": _divide,
    "%": _modulo,
    "**": _power,
    ".": _concatenated,
    "x": _repeat,
    "==": lambda _rt, left, right, _line: _truth(_same(left, right)),
    "!=": lambda _rt, left, right, _line: _truth(not _same(left, right)),
    "<": lambda _rt, left, right, _line: _truth(number(left) < number(right)),
    ">": lambda _rt, left, right, _line: _truth(number(left) > number(right)),
    "<=": lambda _rt, left, right, _line: _truth(number(left) <= number(right)),
    ">=": lambda _rt, left, right, _line: _truth(number(left) >= number(right)),
    "<=>": lambda _rt, left, right, _line: _compared(left, right),
    "eq": lambda _rt, left, right, _line: _truth(text(left) == text(right)),
    "ne": lambda _rt, left, right, _line: _truth(text(left) != text(right)),
    "lt": lambda _rt, left, right, _line: _truth(text(left) < text(right)),
    "gt": lambda _rt, left, right, _line: _truth(text(left) > text(right)),
    "le": lambda _rt, left, right, _line: _truth(text(left) <= text(right)),
    "ge": lambda _rt, left, right, _line: _truth(text(left) >= text(right)),
    "cmp": lambda _rt, left, right, _line: _order(left, right),
    "&": lambda _rt, left, right, _line: integer(left) & integer(right),
    "|": lambda _rt, left, right, _line: integer(left) | integer(right),
    "^": lambda _rt, left, right, _line: integer(left) ^ integer(right),
    "<<": lambda _rt, left, right, _line: integer(left) << min(max(integer(right), 0), 64) & 0xFFFFFFFFFFFFFFFF,
    ">>": lambda _rt, left, right, _line: integer(left) >> min(max(integer(right), 0), 64),
}


def _same(left: Value, right: Value) -> bool:
    if isinstance(left, Reference) and isinstance(right, Reference):
        return left.target is right.target
    return number(left) == number(right)


class Binary(Node):
    __slots__ = ("left", "operation", "right")

    def __init__(self, operator: str, left: Node, right: Node) -> None:
        super().__init__()
        self.operation = OPERATIONS[operator]
        self.left = left
        self.right = right

    def scalar(self, rt: Runtime) -> Value:
        return self.operation(rt, self.left.scalar(rt), self.right.scalar(rt), self.line)


class Logical(Node):
    """&&, ||, //: the second only where the first does not decide."""

    __slots__ = ("left", "operator", "right")

    def __init__(self, operator: str, left: Node, right: Node) -> None:
        super().__init__()
        self.operator = operator
        self.left = left
        self.right = right

    def _decided(self, value: Value) -> bool:
        if self.operator == "//":
            return value is not None
        return true(value) == (self.operator == "||")

    def scalar(self, rt: Runtime) -> Value:
        value = self.left.scalar(rt)
        return value if self._decided(value) else self.right.scalar(rt)

    def values(self, rt: Runtime) -> list[Value]:
        value = self.left.scalar(rt)
        return [value] if self._decided(value) else self.right.values(rt)


class Not(Node):
    __slots__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        super().__init__()
        self.inner = inner

    def scalar(self, rt: Runtime) -> Value:
        return _truth(not true(self.inner.scalar(rt)))


class Unary(Node):
    __slots__ = ("inner", "operator")

    def __init__(self, operator: str, inner: Node) -> None:
        super().__init__()
        self.operator = operator
        self.inner = inner

    def scalar(self, rt: Runtime) -> Value:
        value = self.inner.scalar(rt)
        if self.operator == "~":
            return integer(value) ^ 0xFFFFFFFFFFFFFFFF
        if isinstance(value, str) and value[:1].isalpha():
            return f"-{value}"
        return -number(value)


class Condition(Node):
    __slots__ = ("no", "test", "yes")

    def __init__(self, test: Node, yes: Node, no: Node) -> None:
        super().__init__()
        self.test = test
        self.yes = yes
        self.no = no

    def scalar(self, rt: Runtime) -> Value:
        return (self.yes if true(self.test.scalar(rt)) else self.no).scalar(rt)

    def values(self, rt: Runtime) -> list[Value]:
        return (self.yes if true(self.test.scalar(rt)) else self.no).values(rt)

    def assign(self, rt: Runtime, value: Value) -> None:
        (self.yes if true(self.test.scalar(rt)) else self.no).assign(rt, value)


class Range(Node):
    """`a..b`: a list; in a condition the flip-flop over lines (`2..5`, `/a/../b/`)."""

    __slots__ = ("first", "last", "state", "tight")
    many = True

    def __init__(self, first: Node, last: Node, tight: bool) -> None:
        super().__init__()
        self.first = first
        self.last = last
        self.tight = tight
        self.state = 0

    def values(self, rt: Runtime) -> list[Value]:
        first, last = self.first.scalar(rt), self.last.scalar(rt)
        if isinstance(first, str) and first[:1].isalpha():
            return _letters(first, text(last), rt)
        low, high = integer(first), integer(last)
        rt.spend(max(high - low, 0))
        return [*range(low, high + 1)]

    def scalar(self, rt: Runtime) -> Value:
        if not self.state:
            if not self._holds(rt, self.first):
                return ""
            self.state = 1
            if self.tight:
                return 1
        else:
            self.state += 1
        count = self.state
        if self._holds(rt, self.last):
            self.state = 0
            return f"{count}E0"
        return count

    def _holds(self, rt: Runtime, edge: Node) -> bool:
        value = edge.scalar(rt)
        if type(value) is int and type(edge).__name__ == "Constant":
            return rt.last_read is not None and rt.last_read[1].count == value
        return true(value)


def _letters(first: str, last: str, rt: Runtime) -> list[Value]:
    found: list[Value] = [first]
    while found[-1] != last and len(found[-1]) <= len(last):
        rt.spend()
        found.append(incremented(found[-1]))
    return found if len(found[-1]) <= len(last) else found[:-1]


class Assign(Node):
    __slots__ = ("target", "value")

    def __init__(self, target: Node, value: Node) -> None:
        super().__init__()
        self.target = target
        self.value = value

    @property
    def many(self) -> bool:  # type: ignore[override]
        return self.target.many

    def scalar(self, rt: Runtime) -> Value:
        if self.target.many:
            values = self.value.values(rt)
            count = len(values)
            self.target.assign_list(rt, values)
            return count
        value = self.value.scalar(rt)
        self.target.assign(rt, value)
        return value

    def values(self, rt: Runtime) -> list[Value]:
        value = self.scalar(rt)
        if not self.target.many:
            return [value]
        return [one for part in _places(self.target) for one in part.values(rt)]

    def assign(self, rt: Runtime, value: Value) -> None:
        self.scalar(rt)
        self.place.assign(rt, value)

    @property
    def place(self) -> Node:
        """What was assigned to, to work on: `(my $x = $y) =~ s/…/…/`."""
        return _places(self.target)[0]


def _places(target: Node) -> Sequence[Node]:
    return target.parts if isinstance(target, Declared) else (target,)


class Update(Node):
    """`+=` and its like; `||=`, `&&=`, `//=` look first. `push`-like ones on arrays: `x=`, `.=` on scalars only."""

    __slots__ = ("operator", "target", "value")

    def __init__(self, operator: str, target: Node, value: Node) -> None:
        super().__init__()
        self.operator = operator
        self.target = target
        self.value = value

    def scalar(self, rt: Runtime) -> Value:
        before = self.target.scalar(rt)
        if self.operator in ("||", "&&", "//"):
            decided = before is not None if self.operator == "//" else true(before) == (self.operator == "||")
            if decided:
                return before
            value = self.value.scalar(rt)
        else:
            value = OPERATIONS[self.operator](rt, before, self.value.scalar(rt), self.line)
        self.target.assign(rt, value)
        return value

    def assign(self, rt: Runtime, value: Value) -> None:
        self.target.assign(rt, value)


class Step(Node):
    """++ and --."""

    __slots__ = ("after", "by", "target")

    def __init__(self, target: Node, by: int, after: bool) -> None:
        super().__init__()
        self.target = target
        self.by = by
        self.after = after

    def scalar(self, rt: Runtime) -> Value:
        before = self.target.scalar(rt)
        value = incremented(before) if self.by > 0 else plus(number(before), -1)
        self.target.assign(rt, value)
        return (before if before is not None else 0) if self.after else value


class Joined(Node):
    """Text with variables in it: the parts one after another, lists with $\" between."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Node]) -> None:
        super().__init__()
        self.parts = tuple(parts)

    def scalar(self, rt: Runtime) -> Value:
        found = "".join(
            text(rt.find('$"').value).join(map(text, part.values(rt))) if part.many else text(part.scalar(rt))
            for part in self.parts
        )
        if len(found) > _SHORT:
            rt.room(len(found))
        return found


class Changed(Node):
    r"""\U, \L, \Q, \u, \l around a part of a text."""

    __slots__ = ("change", "inner")

    def __init__(self, change: Callable[[str], str], inner: Node) -> None:
        super().__init__()
        self.change = change
        self.inner = inner

    def scalar(self, rt: Runtime) -> Value:
        return self.change(text(self.inner.scalar(rt)))


class Repeated(Node):
    """(…) x n: a list, n times."""

    __slots__ = ("count", "inner")
    many = True

    def __init__(self, inner: Node, count: Node) -> None:
        super().__init__()
        self.inner = inner
        self.count = count

    def values(self, rt: Runtime) -> list[Value]:
        found, count = self.inner.values(rt), max(integer(self.count.scalar(rt)), 0)
        rt.spend(len(found) * count)
        return found * count
