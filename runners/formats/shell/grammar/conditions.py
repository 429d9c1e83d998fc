"""`[[ … ]]`: a grammar of its own, where `<`, `(` and `&&` are operators and a regular expression stands as it is."""

from __future__ import annotations

import re

from runners.formats.shell.ast import (
    Command,
    CondBinary,
    CondBoth,
    Condition,
    ConditionCommand,
    CondNot,
    CondUnary,
    Literal,
    Part,
    Word,
)
from runners.formats.shell.grammar.simple import SimpleCommands
from runners.formats.shell.grammar.tokens import OPERATOR
from runners.formats.shell.grammar.words import ShellSyntaxError, make_word

_UNARY = re.compile(r"-[abcdefghknoprstuvwxzGLNORS]")
_OPERATOR_WORD = re.compile(r"[=!~a-z-]+(?=\s)")
_BRACKET = re.compile(r"\[\^?\]?(?:\[:[a-z]+:\]|[^\]\s$'\"\\])*\]")
_BINARY = frozenset({"==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})


class Conditions(SimpleCommands):
    """Conditions by their precedence: `||`, `&&`, `!`, one test."""

    def condition_command(self) -> Command:
        """What is behind `[[`, with its `]]`."""
        line = self.line()
        condition = self._condition_or()
        self.newlines()
        if not self.src.startswith("]]", self.pos):
            raise self._bad_condition()
        self.pos += 2
        return ConditionCommand(condition, self.redirects(), line)

    def _condition_or(self) -> Condition:
        left = self._condition_and()
        while True:
            self.newlines()
            if not self.src.startswith("||", self.pos):
                return left
            self.pos += 2
            left = CondBoth("||", left, self._condition_and())

    def _condition_and(self) -> Condition:
        left = self._condition_term()
        while True:
            self.newlines()
            if not self.src.startswith("&&", self.pos):
                return left
            self.pos += 2
            left = CondBoth("&&", left, self._condition_term())

    def _condition_term(self) -> Condition:
        self.newlines()
        if self.reserved() == "!":
            self.pos += 1
            return CondNot(self._condition_term())
        if self.src.startswith("(", self.pos):
            self.pos += 1
            self.deeper()
            inside = self._condition_or()
            self.depth -= 1
            self.newlines()
            if not self.src.startswith(")", self.pos):
                raise self._bad_condition()
            self.pos += 1
            return inside
        return self._condition_test()

    def _condition_test(self) -> Condition:
        if self.src.startswith("]]", self.pos):
            raise self._bad_condition()
        start = self.pos
        first = self.word()
        if first is None:
            raise self._bad_condition()
        text = self.src[start : self.pos]
        self.blank()
        if _UNARY.fullmatch(text) and not self.src.startswith((")", "&&", "||"), self.pos):
            if self.src.startswith("]]", self.pos):
                raise ShellSyntaxError("unexpected argument `]]' to conditional unary operator", self.pos)
            operand = self.word()
            if operand is None:
                raise ShellSyntaxError(
                    f"unexpected argument `{self._condition_token()}' to conditional unary operator", self.pos
                )
            return CondUnary(text, operand)
        if self.src.startswith(("]]", "&&", "||", ")"), self.pos):
            return CondUnary("-n", first)
        operator = self._condition_operator()
        self.blank()
        if operator == "=~":
            return CondBinary(operator, first, self._condition_regex())
        extglob, self.extglob = self.extglob, True
        right = self.word()
        self.extglob = extglob
        if right is None:
            raise ShellSyntaxError(
                f"unexpected argument `{self._condition_token()}' to conditional binary operator", self.pos, shown=False
            )
        return CondBinary(operator, first, right)

    def _condition_operator(self) -> str:
        if self.src[self.pos : self.pos + 1] in ("<", ">"):
            self.pos += 1
            return self.src[self.pos - 1]
        start = self.pos
        match = _OPERATOR_WORD.match(self.src, self.pos)
        if match is None or match.group() not in _BINARY:
            if self.pos >= len(self.src):
                raise self.unexpected_eof()
            raise ShellSyntaxError("conditional binary operator expected", start, shown=False)
        self.pos = match.end()
        return match.group()

    def _condition_regex(self) -> Word:
        """The right side of `=~`: parentheses and bars belong to it, up to a blank outside of them."""
        src = self.src
        parts: list[Part] = []
        depth = 0
        while self.pos < len(src):
            char = src[self.pos]
            if char in " \t\n" and depth == 0:
                break
            if depth == 0 and char in "&;":
                break
            if char in "()|<>;& \t":
                if char == ")" and depth == 0:
                    break
                depth += (char == "(") - (char == ")")
                parts.append(Literal(char, False))
                self.pos += 1
                continue
            before = self.pos
            if char == "[":
                match = _BRACKET.match(src, self.pos)
                if match is not None:
                    parts.append(Literal(match.group(), False))
                    self.pos = match.end()
                    continue
            scan = self.unquoted(" \t\n()|&;<>[", pattern=True)
            parts.extend(scan.parts)
            if self.pos == before:
                parts.append(Literal(char, False))
                self.pos += 1
        return Word(tuple(parts), None) if parts else make_word([Literal("", True)])

    def _bad_condition(self) -> ShellSyntaxError:
        if self.pos >= len(self.src):
            return ShellSyntaxError("unexpected EOF while looking for `]]'", self.pos, shown=False)
        word = self._condition_token()
        return ShellSyntaxError(f"syntax error in conditional expression: unexpected token `{word}'", self.pos)

    def _condition_token(self) -> str:
        self.blank()
        start = self.pos
        match = OPERATOR.match(self.src, self.pos)
        if match is not None:
            return "newline" if match.group() == "\n" else match.group()
        self.word()
        token = self.src[start : self.pos] or "newline"
        self.pos = start
        return token
