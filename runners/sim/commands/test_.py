"""test: check file types and compare values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from runners.sim.commands import testing
from runners.sim.commands.context import Context
from runners.sim.files.view import FileView

NAMES = ("test", "[")
_BINARY = frozenset({"=", "==", "!=", "<", ">"}) | testing.NUMERIC.keys() | testing.FILE_PAIRS
_MAX_DEPTH = 50


class TestError(Exception):
    """The expression is wrong; the text is the message."""

    __test__ = False


Unary = Callable[[str, str], bool]


def evaluate(words: Sequence[str], view: FileView, unary: Unary) -> bool:
    """The truth of an expression by POSIX's rules on the number of arguments. Raises TestError."""
    count = len(words)
    if count == 0:
        return False
    if count == 1:
        return words[0] != ""
    if count == 2:
        return _two(words, unary)
    if count == 3:
        return _three(words, view, unary)
    if count == 4 and words[0] == "!":
        return not _three(words[1:], view, unary)
    if count == 4 and words[0] == "(" and words[3] == ")":
        return _two(words[1:3], unary)
    return _Parser(words, view, unary).run()


def _two(words: Sequence[str], unary: Unary) -> bool:
    if words[0] == "!":
        return words[1] == ""
    if words[0] in testing.UNARY:
        return unary(words[0], words[1])
    raise TestError(f"{words[0]}: unary operator expected")


def _three(words: Sequence[str], view: FileView, unary: Unary) -> bool:
    left, operator, right = words
    if operator in _BINARY:
        return compare(view, left, operator, right)
    if operator == "-a":
        return left != "" and right != ""
    if operator == "-o":
        return left != "" or right != ""
    if left == "!":
        return not _two(words[1:], unary)
    if left == "(" and right == ")":
        return operator != ""
    raise TestError(f"{operator}: binary operator expected")


def number(text: str) -> int:
    stripped = text.strip()
    if not re.fullmatch(r"[-+]?\d+", stripped, re.ASCII):
        raise TestError(f"{text}: integer expression expected")
    return int(stripped[:40])


def compare(view: FileView, left: str, operator: str, right: str) -> bool:
    if operator in testing.NUMERIC:
        return testing.NUMERIC[operator](number(left), number(right))
    if operator in testing.FILE_PAIRS:
        return testing.files(view, operator, left, right)
    if operator == "!=":
        return left != right
    if operator in ("<", ">"):
        return left < right if operator == "<" else left > right
    return left == right


class _Parser:
    """More than four words: `-o` binds weaker than `-a`, then `!` and parentheses."""

    def __init__(self, words: Sequence[str], view: FileView, unary: Unary) -> None:
        self.words = words
        self.view = view
        self.unary = unary
        self.at = 0
        self.depth = 0

    def run(self) -> bool:
        value = self.either()
        if self.at < len(self.words):
            raise TestError("too many arguments")
        return value

    def peek(self, offset: int = 0) -> str | None:
        index = self.at + offset
        return self.words[index] if index < len(self.words) else None

    def either(self) -> bool:
        value = self.both()
        while self.peek() == "-o":
            self.at += 1
            value = self.both() or value
        return value

    def both(self) -> bool:
        value = self.term()
        while self.peek() == "-a":
            self.at += 1
            value = self.term() and value
        return value

    def term(self) -> bool:
        word = self.peek()
        if word is None:
            raise TestError("argument expected")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise TestError("too many arguments")
        try:
            return self._term(word)
        finally:
            self.depth -= 1

    def _term(self, word: str) -> bool:
        if word == "!":
            self.at += 1
            return not self.term()
        following = self.peek(1)
        third = self.peek(2)
        if following in _BINARY and third is not None:
            self.at += 3
            assert following is not None
            return compare(self.view, word, following, third)
        if word == "(":
            self.at += 1
            value = self.either()
            if self.peek() != ")":
                raise TestError("`)' expected")
            self.at += 1
            return value
        if word in testing.UNARY and following is not None:
            self.at += 2
            return self.unary(word, following)
        self.at += 1
        return word != ""


def main(ctx: Context) -> int:
    words = ctx.args
    if ctx.name == "[":
        if not words or words[-1] != "]":
            ctx.err("missing ‘]’")
            return 2
        words = words[:-1]
    try:
        return int(not evaluate(words, ctx.files, lambda operator, word: testing.unary(ctx.files, operator, word)))
    except TestError as problem:
        ctx.err(str(problem))
        return 2
