"""Turns the expressions of an AWK program into Python closures over the runtime."""

from __future__ import annotations

import math
from collections.abc import Callable

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.analysis import Names
from runners.sim.commands.awk.arrays import Array
from runners.sim.commands.awk.builtins import BUILTINS, Compiled, Finder
from runners.sim.commands.awk.lexer import AwkError
from runners.sim.commands.awk.patterns import compiled
from runners.sim.commands.awk.runtime import NF, SUBSEP, Runtime
from runners.sim.commands.awk.values import NOT_A_NUMBER, Input, Value, compare, number, truth

Store = Callable[[Runtime, Value], None]
Invoke = Callable[[Runtime, list["Value | Array"]], Value]

_TESTS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0, "<=": lambda order: order <= 0, "==": lambda order: order == 0,
    "!=": lambda order: order != 0, ">": lambda order: order > 0, ">=": lambda order: order >= 0,
}  # fmt: skip


def _divide(left: float, right: float) -> float:
    if right == 0.0:
        return NOT_A_NUMBER if left == 0.0 or left != left else math.copysign(math.inf, left)
    return left / right


def _remainder(left: float, right: float) -> float:
    if right == 0.0 or left in (math.inf, -math.inf):
        return NOT_A_NUMBER
    return math.fmod(left, right)


def _power(left: float, right: float) -> float:
    try:
        result = left**right
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.inf
    return result if isinstance(result, float) else NOT_A_NUMBER


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right, "-": lambda left, right: left - right,
    "*": lambda left, right: left * right, "/": _divide, "%": _remainder, "^": _power,
}  # fmt: skip


class ExpressionCompiler:
    """`scope`: the function being compiled; its parameters live in the frame, everything else in slots.

    `invoke`: how to run each function, filled in when its body has been compiled.
    """

    def __init__(self, names: Names, functions: dict[str, nodes.Function]) -> None:
        self.names = names
        self.functions = functions
        self.scope = ""
        self.invoke: dict[str, Invoke] = {}

    def expression(self, node: nodes.Expression) -> Compiled:
        made: Compiled = getattr(self, "_" + type(node).__name__.lower())(node)
        return made

    def condition(self, node: nodes.Expression) -> Callable[[Runtime], bool]:
        value = self.expression(node)
        return lambda rt: truth(value(rt))

    def array(self, variable: nodes.Variable) -> Callable[[Runtime], Array]:
        place = self.local(variable.name)
        if place is not None:
            return lambda rt: rt.frame[place]  # type: ignore[return-value]
        name = variable.name
        return lambda rt: rt.arrays[name]

    def is_array(self, variable: nodes.Variable) -> bool:
        if self.local(variable.name) is not None:
            return variable.name in self.names.local_arrays[self.scope]
        return variable.name in self.names.arrays

    def local(self, name: str) -> int | None:
        if self.scope and name in self.functions[self.scope].parameters:
            return self.functions[self.scope].parameters.index(name)
        return None

    def subscript(self, subscripts: tuple[nodes.Expression, ...]) -> Compiled:
        if len(subscripts) == 1:
            return self.expression(subscripts[0])
        parts = [self.expression(subscript) for subscript in subscripts]
        return lambda rt: rt.special(SUBSEP).join([rt.text(part(rt)) for part in parts])

    # -- leaves

    def _number(self, node: nodes.Number) -> Compiled:
        value = node.value
        return lambda _rt: value

    def _string(self, node: nodes.String) -> Compiled:
        value = node.value
        return lambda _rt: value

    def _regexliteral(self, node: nodes.RegexLiteral) -> Compiled:
        found = self.finder(node)
        return lambda rt: 1.0 if found(rt, rt.record_text()) else 0.0

    def _variable(self, node: nodes.Variable) -> Compiled:
        place = self.local(node.name)
        if place is not None:
            return lambda rt: rt.frame[place]  # type: ignore[return-value]
        slot = self.names.slots[node.name]
        if slot == NF:
            return lambda rt: float(rt.count())
        return lambda rt: rt.variables[slot]

    def _field(self, node: nodes.Field) -> Compiled:
        if isinstance(node.number, nodes.Number):
            fixed = int(node.number.value)
            return lambda rt: rt.field(fixed)
        index = self.expression(node.number)
        return lambda rt: rt.field(_index(index(rt)))

    def _element(self, node: nodes.Element) -> Compiled:
        array, subscript = self.array(node.array), self.subscript(node.subscripts)
        return lambda rt: array(rt).get(subscript(rt))

    def _grouping(self, node: nodes.Grouping) -> Compiled:
        return self.expression(node.inner)

    # -- operators

    def _unary(self, node: nodes.Unary) -> Compiled:
        operand = self.expression(node.operand)
        if node.operator == "!":
            return lambda rt: 0.0 if truth(operand(rt)) else 1.0
        if node.operator == "-":
            return lambda rt: -number(operand(rt)) or 0.0
        return lambda rt: number(operand(rt))

    def _binary(self, node: nodes.Binary) -> Compiled:
        left, right = self.expression(node.left), self.expression(node.right)
        test = _TESTS.get(node.operator)
        if test is not None:
            return lambda rt: 1.0 if test(compare(left(rt), right(rt), "%.6g")) else 0.0
        calculate = _ARITHMETIC[node.operator]
        return lambda rt: calculate(number(left(rt)), number(right(rt)))

    def _logical(self, node: nodes.Logical) -> Compiled:
        left, right = self.condition(node.left), self.condition(node.right)
        if node.operator == "&&":
            return lambda rt: 1.0 if left(rt) and right(rt) else 0.0
        return lambda rt: 1.0 if left(rt) or right(rt) else 0.0

    def _concatenation(self, node: nodes.Concatenation) -> Compiled:
        parts = [self.expression(part) for part in node.parts]
        return lambda rt: rt.checked("".join([rt.text(part(rt)) for part in parts]))

    def finder(self, node: nodes.Expression) -> Finder:
        """A test of text against a regex, or against a string used as one."""
        if isinstance(node, nodes.RegexLiteral):
            regex = compiled(node.source)
            if regex.literal is not None:
                literal = regex.literal.decode("latin-1")
                return lambda _rt, text: literal in text
            return lambda rt, text: regex.test(rt.checked(text).encode("latin-1"))
        source = self.expression(node)
        return lambda rt, text: compiled(rt.text(source(rt))).test(rt.checked(text).encode("latin-1"))

    def _matching(self, node: nodes.Matching) -> Compiled:
        left = self.expression(node.left)
        found = self.finder(node.right)
        yes, no = (0.0, 1.0) if node.negated else (1.0, 0.0)
        return lambda rt: yes if found(rt, rt.text(left(rt))) else no

    def _membership(self, node: nodes.Membership) -> Compiled:
        array, subscript = self.array(node.array), self.subscript(node.subscripts)
        return lambda rt: 1.0 if subscript(rt) in array(rt) else 0.0

    def _conditional(self, node: nodes.Conditional) -> Compiled:
        condition, yes, no = self.condition(node.condition), self.expression(node.yes), self.expression(node.no)
        return lambda rt: yes(rt) if condition(rt) else no(rt)

    # -- what changes something

    def store(self, node: nodes.Expression) -> Store:
        """How to set the variable, field or element that the node names."""
        if isinstance(node, nodes.Variable):
            place = self.local(node.name)
            if place is not None:
                return lambda rt, value: rt.frame.__setitem__(place, value)
            slot = self.names.slots[node.name]
            if slot == NF:
                return lambda rt, value: rt.resize(_index(value))
            return lambda rt, value: rt.variables.__setitem__(slot, value)
        if isinstance(node, nodes.Field):
            index = self.expression(node.number)
            return lambda rt, value: rt.set_field(_index(index(rt)), value)
        assert isinstance(node, nodes.Element)
        array, subscript = self.array(node.array), self.subscript(node.subscripts)
        return lambda rt, value: array(rt).set(subscript(rt), value)

    def _assign(self, node: nodes.Assign) -> Compiled:
        value = self.expression(node.value)
        store = self.store(node.target)
        if node.operator:
            calculate = _ARITHMETIC[node.operator]
            before, after = self.expression(node.target), value

            def value(rt: Runtime) -> Value:
                amount = number(after(rt))
                return calculate(number(before(rt)), amount)

        def assign(rt: Runtime) -> Value:
            result = value(rt)
            store(rt, result)
            return result

        return assign

    def _increment(self, node: nodes.Increment) -> Compiled:
        before, store = self.expression(node.target), self.store(node.target)
        by, prefix = float(node.by), node.prefix

        def increment(rt: Runtime) -> Value:
            old = number(before(rt))
            store(rt, old + by)
            return old + by if prefix else old

        return increment

    def _call(self, node: nodes.Call) -> Compiled:
        function = self.functions[node.name]
        arrays = self.names.local_arrays[node.name]
        arguments: list[Callable[[Runtime], Value | Array]] = []
        for argument in node.arguments:
            if isinstance(argument, nodes.Variable) and self.is_array(argument):
                arguments.append(self.array(argument))
            else:
                arguments.append(self.expression(argument))
        fresh = [parameter in arrays for parameter in function.parameters[len(arguments) :]]
        invoke, name = self.invoke, node.name

        def call(rt: Runtime) -> Value:
            rt.budget.spend(2)
            frame = [argument(rt) for argument in arguments]
            frame += [Array() if is_array else None for is_array in fresh]
            return invoke[name](rt, frame)

        return call

    def _builtin(self, node: nodes.Builtin) -> Compiled:
        return BUILTINS[node.name](self, node.arguments)

    def _getline(self, node: nodes.Getline) -> Compiled:
        source = None if node.source is None else self.expression(node.source)
        store = None if node.target is None else self.store(node.target)
        kind = node.kind

        def getline(rt: Runtime) -> Value:
            rt.budget.spend(1)
            try:
                if kind == "main" or source is None:
                    record = rt.next_record()
                elif kind == "file":
                    opened = rt.streams.file(rt.text(source(rt)))
                    if opened is None:
                        return -1.0
                    record = opened.record(rt.record_separator())
                else:
                    record = rt.streams.command(rt.text(source(rt))).record(rt.record_separator())
            except (OSError, AwkError):
                return -1.0
            if record is None:
                return 0.0
            if store is None:
                rt.set_record(record)
            else:
                store(rt, Input(record))
            return 1.0

        return getline


def _index(value: Value) -> int:
    amount = number(value)
    return int(amount) if -1e9 < amount < 1e9 else 1 << 30
