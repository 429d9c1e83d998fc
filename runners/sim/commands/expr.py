"""expr: evaluate expressions."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.regexes import RegexError, basic

_LEVELS = (("|",), ("&",), ("<", "<=", "=", "==", "!=", ">=", ">"), ("+", "-"), ("*", "/", "%"), (":",))
_MAX_DEPTH = 100


class _ExprError(Exception):
    pass


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0
        self.depth = 0

    def peek(self) -> str | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def level(self, index: int) -> str:
        if index == len(_LEVELS):
            return self.primary()
        left = self.level(index + 1)
        while self.peek() in _LEVELS[index]:
            operator = self.words[self.at]
            self.at += 1
            left = self.apply(operator, left, self.level(index + 1))
        return left

    def primary(self) -> str:
        word = self.peek()
        if word is None:
            raise _ExprError(
                f"syntax error: missing argument after ‘{self.words[-1]}’" if self.words else "missing operand"
            )
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _ExprError("syntax error")
        self.at += 1
        value = self.special(word)
        self.depth -= 1
        return value

    def special(self, word: str) -> str:
        if word == "(":
            value = self.level(0)
            if self.peek() != ")":
                raise _ExprError("syntax error: expecting ')' after ‘" + self.words[self.at - 1] + "’")
            self.at += 1
            return value
        if word == "length" and self.peek() is not None:
            return str(len(self.primary()))
        if word == "substr" and self.at + 2 < len(self.words):
            text, start, count = self.primary(), number(self.primary()), number(self.primary())
            return text[start - 1 : start - 1 + count] if start and start > 0 and count and count > 0 else ""
        if word == "index" and self.at + 1 < len(self.words):
            text, chars = self.primary(), self.primary()
            return str(next((at for at, char in enumerate(text, 1) if char in chars), 0))
        if word == "match" and self.at + 1 < len(self.words):
            return match(self.primary(), self.primary())
        if word == "+" and self.peek() is not None:
            self.at += 1
            return self.words[self.at - 1]
        return word

    def apply(self, operator: str, left: str, right: str) -> str:
        if operator == "|":
            return left if true(left) else right if true(right) else "0"
        if operator == "&":
            return left if true(left) and true(right) else "0"
        if operator == ":":
            return match(left, right)
        first, second = number(left), number(right)
        if operator in _LEVELS[2]:
            a, b = (first, second) if first is not None and second is not None else (left, right)
            tests = {"<": a < b, "<=": a <= b, "=": a == b, "==": a == b, "!=": a != b, ">=": a >= b, ">": a > b}  # type: ignore[operator]
            return str(int(tests[operator]))
        if first is None or second is None:
            raise _ExprError("non-integer argument")
        if operator in "/%":
            if second == 0:
                raise _ExprError("division by zero")
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            return str(quotient if operator == "/" else first - quotient * second)
        return str({"+": first + second, "-": first - second, "*": first * second}[operator])


def number(text: str) -> int | None:
    return int(text[:4000]) if re.fullmatch(r"-?\d+", text, re.ASCII) else None


def true(text: str) -> bool:
    return text != "" and not re.fullmatch(r"-?0+", text)


def match(text: str, pattern: str) -> str:
    try:
        regex = basic(pattern.removeprefix("^"))
    except RegexError as error:
        raise _ExprError(str(error)) from None
    data = text.encode("utf-8", "surrogateescape")
    found = regex.search(data)
    if found is not None and found.start != 0:
        found = basic("^" + pattern.removeprefix("^")).search(data)
    if regex.groups:
        return found.group(1).decode("utf-8", "surrogateescape") if found is not None else ""
    return str(len(found.group().decode("utf-8", "surrogateescape"))) if found is not None else "0"


def main(ctx: Context) -> int:
    words = ctx.args[1:] if ctx.args[:1] == ["--"] else ctx.args
    if words == ["--help"]:
        ctx.line("Usage: expr EXPRESSION\n  or:  expr OPTION")
        return 0
    if words == ["--version"]:
        ctx.line("expr (GNU coreutils) 9.1")
        return 0
    if not words:
        ctx.err("missing operand")
        ctx.stderr.write(b"Try 'expr --help' for more information.\n")
        return 2
    parser = _Parser(words)
    try:
        value = parser.level(0)
        if parser.at < len(words):
            raise _ExprError(f"syntax error: unexpected argument ‘{words[parser.at]}’")
    except _ExprError as problem:
        ctx.die(str(problem), 2)
    ctx.line(value)
    return int(not true(value))
