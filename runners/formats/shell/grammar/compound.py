"""Commands that hold commands: groups, branches, loops, functions. A body is never empty, except in `case`."""

from __future__ import annotations

import re

from runners.formats.shell.ast import (
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Body,
    Case,
    CaseItem,
    Command,
    For,
    Function,
    Group,
    If,
    Select,
    Subshell,
    While,
    Word,
)
from runners.formats.shell.grammar.conditions import Conditions
from runners.formats.shell.grammar.simple import FUNCTION_PARENTHESES
from runners.formats.shell.grammar.words import ShellSyntaxError

_CASE_END = re.compile(r";;&|;;|;&")


class Compound(Conditions):
    """Compound commands, by the reserved word they begin with."""

    def command(self) -> Command:
        """One command of any kind, without its pipeline."""
        raise NotImplementedError

    def body(self, *enders: str) -> Body:
        """A list inside a compound command, up to one of the reserved words (not taken), or `)` or `;;`."""
        raise NotImplementedError

    def compound(self, word: str) -> Command:
        if word == "{":
            inside = self.body("}")
            self.expect("}")
            return Group(inside, self.redirects())
        if word == "if":
            return self._if()
        if word in ("while", "until"):
            condition = self.body("do")
            self.expect("do")
            inside = self.body("done")
            self.expect("done")
            return While(condition, inside, word == "until", self.redirects())
        if word in ("for", "select"):
            return self._for(word)
        if word == "case":
            return self._case()
        if word == "[[":
            return self.condition_command()
        return self._function_keyword()

    def parenthesis(self) -> Command:
        start = self.pos
        if self.src.startswith("((", self.pos):
            line = self.line()
            self.pos += 2
            expression = self.arithmetic("))")
            if expression is not None:
                return ArithmeticCommand(expression, self.redirects(), line)
            if self.src.count("(", start) > self.src.count(")", start):
                raise self.unexpected_end(")", start)
            self.pos = start
        return self.subshell()

    def subshell(self) -> Command:
        self.pos += 1
        self.deeper()
        inside = self.body(")")
        self.depth -= 1
        self.pos += 1
        return Subshell(inside, self.redirects())

    def _if(self) -> Command:
        branches = []
        condition = self.body("then")
        self.expect("then")
        branches.append((condition, self.body("elif", "else", "fi")))
        otherwise = None
        while True:
            word = self.reserved()
            assert word is not None
            self.pos += len(word)
            if word == "elif":
                condition = self.body("then")
                self.expect("then")
                branches.append((condition, self.body("elif", "else", "fi")))
            elif word == "else":
                otherwise = self.body("fi")
                self.expect("fi")
                break
            else:
                break
        return If(tuple(branches), otherwise, self.redirects())

    def _for(self, kind: str) -> Command:
        line = self.line()
        self.blank()
        if kind == "for" and self.src.startswith("((", self.pos):
            return self.arithmetic_for()
        start = self.pos
        word = self.word()
        if word is None:
            raise self.unexpected()
        name = self.src[start : self.pos]
        words: list[Word | Assignment] | None = None
        texts: list[str] = []
        self.newlines()
        if self.reserved() == "in":
            self.pos += 2
            words = []
            while True:
                self.blank()
                begin = self.pos
                item = self.word()
                if item is None:
                    break
                words.append(item)
                texts.append(self.src[begin : self.pos])
            if self.src[self.pos : self.pos + 1] not in (";", "\n", ""):
                raise self.unexpected()
        self.blank()
        if self.src.startswith(";", self.pos):
            self.pos += 1
        inside = self._do_group()
        items = None if words is None else tuple(words)
        if kind == "select":
            return Select(name, items, inside, self.redirects())
        text = '"$@"' if words is None else " ".join(texts)
        return For(name, items, inside, self.redirects(), line, text)

    def _do_group(self) -> Body:
        self.newlines()
        if self.reserved() == "{":
            self.pos += 1
            inside = self.body("}")
            self.expect("}")
            return inside
        self.expect("do")
        inside = self.body("done")
        self.expect("done")
        return inside

    def arithmetic_for(self) -> Command:
        start = self.pos
        self.pos += 2
        first = self.arithmetic(";")
        second = self.arithmetic(";") if first is not None else None
        third = self.arithmetic("))") if second is not None else None
        if first is None or second is None or third is None:
            raise ShellSyntaxError("syntax error: arithmetic expression required", start)
        self.blank()
        if self.src.startswith(";", self.pos):
            self.pos += 1
        inside = self._do_group()
        return ArithmeticFor(first, second, third, inside, self.redirects())

    def _case(self) -> Command:
        self.blank()
        start = self.pos
        subject = self.word()
        if subject is None:
            raise self.unexpected()
        text = self.src[start : self.pos]
        self.expect("in")
        items: list[CaseItem] = []
        while True:
            self.newlines()
            if self.pos >= len(self.src):
                raise self.unexpected_eof()
            if self.reserved() == "esac":
                self.pos += 4
                return Case(subject, tuple(items), self.redirects(), text)
            if self.src.startswith("(", self.pos):
                self.pos += 1
            patterns: list[Word] = []
            while True:
                self.blank()
                extglob, self.extglob = self.extglob, True
                pattern = self.word()
                self.extglob = extglob
                if pattern is None:
                    raise self.unexpected()
                patterns.append(pattern)
                self.blank()
                char = self.src[self.pos : self.pos + 1]
                if char == "|":
                    self.pos += 1
                elif char == ")":
                    self.pos += 1
                    break
                else:
                    raise self.unexpected()
            inside = self.body(";;")
            terminator = ";;"
            match = _CASE_END.match(self.src, self.pos)
            if match is not None:
                terminator = match.group()
                self.pos = match.end()
            items.append(CaseItem(tuple(patterns), inside, terminator))

    def _function_keyword(self) -> Command:
        start = self.pos - len("function")
        self.blank()
        begin = self.pos
        if self.word() is None:
            raise self.unexpected()
        name = self.src[begin : self.pos]
        if name == "{":
            self.blank()
            raise self.unexpected()
        match = FUNCTION_PARENTHESES.match(self.src, self.pos)
        if match is not None:
            self.pos = match.end()
        return self.function_body(name, start)

    def function_body(self, name: str, start: int) -> Command:
        self.newlines()
        if self.pos >= len(self.src):
            raise self.unexpected_eof()
        if self.reserved() not in ("{", "if", "while", "until", "for", "case", "[[", "select") and not (
            self.src.startswith("(", self.pos)
        ):
            raise self.unexpected()
        body = self.command()
        return Function(name, body, self.src[start : self.pos])
