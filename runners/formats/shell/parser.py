"""Parses shell text into the tree of `ast`, one complete command at a time as bash reads it.

Written by hand rather than on a general grammar: bash's own messages name the token it did not expect, here-documents
begin after the line that asks for them, and what stands before an error is still run.
"""

from __future__ import annotations

import re
from functools import lru_cache

from runners.formats.shell.ast import AndOr, Body, Command, Pipeline, Program, Simple, Statement
from runners.formats.shell.grammar.compound import Compound
from runners.formats.shell.grammar.tokens import ENDERS
from runners.formats.shell.grammar.words import ShellSyntaxError

_TIME_OPTION = re.compile(r"-p(?=\s)")


@lru_cache(maxsize=4096)
def parse(
    text: str, extglob: bool = False, aliases: tuple[tuple[str, str], ...] = (), kind: type[Parser] | None = None
) -> Program:
    """The program a text is. Never raises: what does not parse is in `problem`. `kind`: the grammar, else bash's."""
    parser = (kind or Parser)(text, extglob=extglob, aliases=dict(aliases))
    bodies: list[Body] = []
    try:
        start = 0
        while (body := parser.complete_command()) is not None:
            if body.statements:
                bodies.append(body)
            # What `shopt -s extglob` changes is how the lines behind it are read.
            parser.extglob = parser.extglob or "extglob" in text[start : parser.pos]
            start = parser.pos
    except ShellSyntaxError as error:
        return Program(tuple(bodies), parser.problem(error))
    return Program(tuple(bodies), None)


class Parser(Compound):
    """The top of the grammar: lists, pipelines, and which kind of command it is."""

    MERGING = True
    """Is there `|&`?"""

    # -- lists

    def complete_command(self) -> Body | None:
        """What bash reads before it runs anything: lists up to the end of a line. None at the end of the text."""
        self.newlines()
        if self.pos >= len(self.src):
            return None
        statements: list[Statement] = []
        while True:
            self._statement(statements)
            self.blank()
            if self.pos >= len(self.src):
                self.close_documents()
                return Body(tuple(statements))
            if self.newline():
                return Body(tuple(statements))
            if self.at_ender() or self.src[self.pos] == ")":
                raise self.unexpected()

    def _statement(self, statements: list[Statement]) -> None:
        start = self.pos
        command = self.and_or()
        text = self.src[start : self.pos].strip()
        self.blank()
        background = False
        if self.src.startswith("&", self.pos) and not self.src.startswith("&&", self.pos):
            background = True
            self.pos += 1
        elif self.src.startswith(";", self.pos) and not self.src.startswith(self.CASE_ENDS, self.pos):
            self.pos += 1
        elif self.pos < len(self.src) and self.src[self.pos] not in "\n)" and not self.src.startswith(";", self.pos):
            raise self.unexpected()
        statements.append(Statement(command, background, text))

    def body(self, *enders: str) -> Body:
        """A list inside a compound command, up to one of the reserved words (not taken), or `)` or `;;`."""
        self.deeper()
        statements: list[Statement] = []
        self.newlines()
        while True:
            if self.pos >= len(self.src):
                raise self.misplaced(enders)
            if self.at(enders):
                break
            if statements and (self.at_ender() or self.src.startswith((")", ";;"), self.pos)):
                raise self.misplaced(enders)
            self._statement(statements)
            self.newlines()
        if not statements and enders != (";;",):
            raise self.unexpected()
        self.depth -= 1
        return Body(tuple(statements))

    def and_or(self) -> Command:
        first = self.pipeline()
        rest: list[tuple[str, Command]] = []
        while True:
            self.blank()
            operator = self.src[self.pos : self.pos + 2]
            if operator not in ("&&", "||"):
                return AndOr(first, tuple(rest)) if rest else first
            self.pos += 2
            self.newlines()
            rest.append((operator, self.pipeline()))

    def pipeline(self) -> Command:
        self.blank()
        negated = False
        timed = ""
        while True:
            word = self.reserved()
            if word == "!":
                negated = not negated
                self.pos += 1
            elif word == "time":
                timed = "time"
                self.pos += 4
                self.blank()
                if _TIME_OPTION.match(self.src, self.pos):
                    timed = "time -p"
                    self.pos += 2
            else:
                break
            self.blank()
        if (negated or timed) and (self.pos >= len(self.src) or self.src[self.pos] in "\n;"):
            return Pipeline((Simple((), (), (), self.line()),), (), negated, timed)
        commands = [self.command()]
        merged: list[bool] = []
        while True:
            self.blank()
            if not self.src.startswith("|", self.pos) or self.src.startswith("||", self.pos):
                break
            both = self.MERGING and self.src.startswith("|&", self.pos)
            self.pos += 2 if both else 1
            merged.append(both)
            self.newlines()
            commands.append(self.command())
        if len(commands) == 1 and not negated and not timed:
            return commands[0]
        return Pipeline(tuple(commands), tuple(merged), negated, timed)

    # -- commands

    def command(self) -> Command:
        self.blank()
        src = self.src
        if self.pos >= len(src):
            raise self.unexpected_eof()
        if src[self.pos] == "(":
            return self.parenthesis()
        if self.aliases:
            self.substitute_alias()
            src = self.src
        word = self.reserved()
        if word is None:
            return self.simple()
        if word in ENDERS or word in ("in", "]]"):
            if word in ("in", "]]"):
                return self.simple()
            raise self.unexpected()
        if word == "!":
            return self.pipeline()
        if word == "time":
            return self.simple()
        self.pos += len(word)
        self.deeper()
        made = self.compound(word)
        self.depth -= 1
        return made

    # -- programs inside words

    def substituted(self, start: int) -> Program:
        self.deeper()
        statements: list[Statement] = []
        pending, self.pending = self.pending, []
        try:
            self.newlines()
            while not self.src.startswith(")", self.pos):
                if self.pos >= len(self.src):
                    raise self.unexpected_end(")", start)
                self._statement(statements)
                self.newlines()
            self.close_documents()
            self.pos += 1
        except ShellSyntaxError as error:
            if error.message == "syntax error: unexpected end of file":
                raise self.unexpected_end(")", start) from None
            raise
        finally:
            self.pending = pending
            self.depth -= 1
        return Program((Body(tuple(statements)),) if statements else (), None)

    def subprogram(self, text: str) -> Program:
        inner = type(self)(text, extglob=self.extglob, depth=self.depth + 1)
        bodies: list[Body] = []
        try:
            while (body := inner.complete_command()) is not None:
                bodies.append(body)
        except ShellSyntaxError as error:
            return Program(tuple(bodies), inner.problem(error))
        return Program(tuple(bodies), None)
