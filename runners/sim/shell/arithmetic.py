"""Shell arithmetic: 64-bit integers, C's operators, variables by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from runners.text import is_digits

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]*|\d+[0-9A-Za-z_]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%<>=!~&|^?:,()\[\]]))"
)
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 12,
}  # fmt: skip
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="})
_MAX_DEPTH = 60


class ArithmeticExpressionError(Exception):
    """bash's message, without the part before the expression."""


class Number(NamedTuple):
    value: int


class Name(NamedTuple):
    name: str
    subscript: str | None


class Unary(NamedTuple):
    operator: str
    operand: Node


class Step(NamedTuple):
    """`++` or `--`, before or after."""

    operator: str
    target: Name
    before: bool


class Binary(NamedTuple):
    operator: str
    left: Node
    right: Node


class Choice(NamedTuple):
    condition: Node
    yes: Node
    no: Node


class Assign(NamedTuple):
    operator: str
    target: Name
    value: Node


Node: TypeAlias = Number | Name | Unary | Step | Binary | Choice | Assign


class Variables(NamedTuple):
    """How expressions reach variables: `read(name, subscript)` gives text, `write(name, subscript, text)` sets it."""

    read: Callable[[str, str | None], str]
    write: Callable[[str, str | None, str], None]
    spend: Callable[[int], None]


def evaluate(text: str, variables: Variables, depth: int = 0) -> int:
    """The value of an expression. Raises ArithmeticExpressionError."""
    stripped = text.strip()
    if is_digits(stripped) and (len(stripped) == 1 or stripped[0] != "0"):
        return _wrap(int(stripped[:40]))
    if not stripped:
        return 0
    if depth > _MAX_DEPTH:
        raise ArithmeticExpressionError(f'{text}: expression recursion level exceeded (error token is "{text}")')
    variables.spend(1 + (len(text) >> 6))
    return _evaluate(_parse(text), variables, depth, text)


def _wrap(value: int) -> int:
    return (value + 0x8000000000000000 & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000


def _evaluate(node: Node, variables: Variables, depth: int, text: str) -> int:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return evaluate(variables.read(node.name, node.subscript), variables, depth + 1)
    if isinstance(node, Binary):
        return _binary(node, variables, depth, text)
    if isinstance(node, Unary):
        value = _evaluate(node.operand, variables, depth, text)
        if node.operator == "-":
            return _wrap(-value)
        if node.operator == "!":
            return int(not value)
        return _wrap(~value) if node.operator == "~" else value
    if isinstance(node, Step):
        value = _evaluate(node.target, variables, depth, text)
        changed = _wrap(value + (1 if node.operator == "++" else -1))
        variables.write(node.target.name, node.target.subscript, str(changed))
        return changed if node.before else value
    if isinstance(node, Choice):
        chosen = node.yes if _evaluate(node.condition, variables, depth, text) else node.no
        return _evaluate(chosen, variables, depth, text)
    assert isinstance(node, Assign)
    value = _evaluate(node.value, variables, depth, text)
    if node.operator != "=":
        value = _calculate(node.operator[:-1], _evaluate(node.target, variables, depth, text), value, text)
    variables.write(node.target.name, node.target.subscript, str(value))
    return value


def _binary(node: Binary, variables: Variables, depth: int, text: str) -> int:
    operator = node.operator
    left = _evaluate(node.left, variables, depth, text)
    if operator == "&&":
        return int(bool(left and _evaluate(node.right, variables, depth, text)))
    if operator == "||":
        return int(bool(left or _evaluate(node.right, variables, depth, text)))
    right = _evaluate(node.right, variables, depth, text)
    if operator == ",":
        return right
    return _calculate(operator, left, right, text)


def _calculate(operator: str, left: int, right: int, text: str) -> int:
    if operator in ("/", "%"):
        if right == 0:
            rest = text[text.rfind(operator) + 1 :].strip()
            raise ArithmeticExpressionError(f'{text}: division by 0 (error token is "{rest}")')
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return _wrap(quotient if operator == "/" else left - quotient * right)
    if operator == "**":
        if right < 0:
            raise ArithmeticExpressionError(
                f'{text}: exponent less than 0 (error token is "{text.rsplit("-", 1)[-1]}")'
            )
        return _wrap(pow(left, right, 1 << 64))
    if operator in ("<<", ">>"):
        return _wrap(left << (right & 63) if operator == "<<" else left >> (right & 63))
    simple: dict[str, Callable[[int, int], int]] = _SIMPLE
    return _wrap(simple[operator](left, right))


_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
}


@lru_cache(maxsize=2048)
def _parse(text: str) -> Node:
    parser = _Parser(text)
    node = parser.comma()
    if parser.symbol is not None:
        parser.fail(
            "syntax error in expression" if parser.kind != "bad" else "syntax error: invalid arithmetic operator"
        )
    return node


class _Parser:
    """Recursive descent over one expression; `symbol` is the one to be looked at next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.start = 0
        self.before = 0
        self.depth = 0
        self.kind = ""
        self.symbol: str | None = None
        self.advance()

    def advance(self) -> None:
        self.before = self.start
        match = _TOKEN.match(self.text, self.pos)
        if match is None:
            rest = self.text[self.pos :].lstrip()
            self.start = len(self.text) - len(rest)
            self.symbol = rest or None
            self.kind = "bad" if rest else ""
            self.pos = len(self.text)
            return
        self.kind = match.lastgroup or ""
        self.symbol = match.group(self.kind)
        self.start = match.start(self.kind)
        self.pos = match.end()

    def fail(self, message: str) -> None:
        rest = self.text[self.start :]
        token = rest or self.text[self.before :]
        raise ArithmeticExpressionError(f'{self.text.lstrip()}: {message} (error token is "{token}")')

    def comma(self) -> Node:
        node = self.assignment()
        while self.symbol == ",":
            self.advance()
            node = Binary(",", node, self.assignment())
        return node

    def assignment(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ArithmeticExpressionError(f"{self.text}: expression recursion level exceeded")
        left = self.ternary()
        if self.kind == "operator" and self.symbol in _ASSIGN:
            operator = self.symbol
            if not isinstance(left, Name):
                self.fail("attempted assignment to non-variable")
            self.advance()
            assert isinstance(left, Name)
            left = Assign(operator, left, self.assignment())
        self.depth -= 1
        return left

    def ternary(self) -> Node:
        condition = self.binary(1)
        if self.symbol != "?":
            return condition
        self.advance()
        yes = self.comma()
        if self.symbol != ":":
            self.fail("`:' expected for conditional expression")
        self.advance()
        return Choice(condition, yes, self.assignment())

    def binary(self, least: int) -> Node:
        left = self.unary()
        while self.kind == "operator" and self.symbol is not None and _BINARY.get(self.symbol, 0) >= least:
            operator = self.symbol
            rank = _BINARY[operator]
            self.advance()
            left = Binary(operator, left, self.binary(rank if operator == "**" else rank + 1))
        return left

    def unary(self) -> Node:
        symbol = self.symbol
        if self.kind == "operator" and symbol in ("!", "~", "-", "+"):
            self.advance()
            self.depth += 1
            if self.depth > 4 * _MAX_DEPTH:
                raise ArithmeticExpressionError(f"{self.text}: expression recursion level exceeded")
            negated = Unary(symbol, self.unary())
            self.depth -= 1
            return negated
        if self.kind == "operator" and symbol in ("++", "--"):
            self.advance()
            target = self.primary()
            if not isinstance(target, Name):
                sign = "+" if symbol == "++" else "-"
                return Unary(sign, Unary(sign, target))
            return Step(symbol, target, True)
        node = self.primary()
        while self.kind == "operator" and self.symbol in ("++", "--") and isinstance(node, Name):
            operator = self.symbol
            self.advance()
            return Step(operator, node, False)
        return node

    def primary(self) -> Node:
        symbol, kind = self.symbol, self.kind
        if symbol == "(":
            self.advance()
            node = self.comma()
            if self.symbol != ")":
                self.fail("missing `)'")
            self.advance()
            return node
        if kind == "number" and symbol is not None:
            value = self._number(symbol)
            self.advance()
            return Number(value)
        if kind == "name" and symbol is not None:
            subscript = None
            if self.text.startswith("[", self.pos):
                subscript = self._subscript()
            self.advance()
            return Name(symbol, subscript)
        self.fail("syntax error: operand expected" if kind != "bad" else "syntax error: invalid arithmetic operator")
        raise AssertionError

    def _subscript(self) -> str:
        depth = 0
        for at in range(self.pos, len(self.text)):
            char = self.text[at]
            depth += (char == "[") - (char == "]")
            if depth == 0:
                inside = self.text[self.pos + 1 : at]
                self.pos = at + 1
                return inside
        self.fail("bad array subscript")
        raise AssertionError

    def _number(self, symbol: str) -> int:
        base, mark, digits = symbol.partition("#")
        if mark:
            radix = int(base)
            if not 2 <= radix <= 64:
                self.fail("invalid arithmetic base")
            return self._digits(digits.lower() if radix <= 36 else digits, radix)
        if symbol[:2] in ("0x", "0X"):
            return _wrap(int(symbol[2:] or "0", 16))
        if symbol.startswith("0") and len(symbol) > 1:
            return self._digits(symbol[1:], 8)
        return self._digits(symbol, 10)

    def _digits(self, digits: str, radix: int) -> int:
        order = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
        value = 0
        for digit in digits:
            position = order.find(digit)
            if position >= radix:
                self.fail("value too great for base")
            value = _wrap(value * radix + position)
        return value
