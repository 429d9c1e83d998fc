"""Parses shell text into the tree of `ast`, one complete command at a time as bash reads it.

Written by hand rather than on a general grammar: bash's own messages name the token it did not expect, here-documents
begin after the line that asks for them, and what stands before an error is still run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from runners.sim.shell.ast import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    ArrayLiteral,
    Assignment,
    Body,
    Case,
    CaseItem,
    Command,
    CondBinary,
    CondBoth,
    Condition,
    ConditionCommand,
    CondNot,
    CondUnary,
    For,
    Function,
    Group,
    If,
    Literal,
    Part,
    Pipeline,
    Program,
    Redirect,
    Select,
    Simple,
    Statement,
    Subshell,
    SyntaxProblem,
    While,
    Word,
)
from runners.sim.shell.words import NAME, ShellSyntaxError, WordParser, make_word, text_word

_BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:(?<![^\s;&|()])#[^\n]*)?")
_OPERATOR = re.compile(r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||\(|\)|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\n")
_REDIRECT = re.compile(
    r"(?P<fd>\d+|\{[A-Za-z_][A-Za-z0-9_]*\})?(?P<operator><<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())|(?P<both>&>>|&>)"
)
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_RESERVED = frozenset(
    ["if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "in", "select",
     "function", "{", "}", "!", "[[", "]]", "time"]
)  # fmt: skip
_ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_DECLARERS = frozenset({"declare", "typeset", "local", "export", "readonly", "alias"})
_UNARY = re.compile(r"-[abcdefghknoprstuvwxzGLNORS]")
_BINARY = frozenset({"==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})


class _Pending(NamedTuple):
    redirect: Redirect
    delimiter: str
    quoted: bool
    strip: bool
    line: int


@lru_cache(maxsize=4096)
def parse(text: str, extglob: bool = False, aliases: tuple[tuple[str, str], ...] = ()) -> Program:
    """The program a text is. Never raises: what does not parse is in `problem`."""
    parser = Parser(text, extglob=extglob, aliases=dict(aliases))
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


class Parser(WordParser):
    """The grammar. Every method leaves `pos` behind what it took."""

    def __init__(
        self, src: str, *, extglob: bool = False, aliases: Mapping[str, str] | None = None, depth: int = 0
    ) -> None:
        super().__init__(src, extglob=extglob, depth=depth)
        self.aliases = aliases or {}
        self.pending: list[_Pending] = []
        self.warnings: list[str] = []
        self._line_at = (0, 1)
        self._alias_until: dict[str, int] = {}

    # -- positions and errors

    def line(self, at: int | None = None) -> int:
        """The line number of a position; cheap when asked in order."""
        at = self.pos if at is None else at
        known, number = self._line_at
        if at < known:
            known, number = 0, 1
        number += self.src.count("\n", known, at)
        self._line_at = (at, number)
        return number

    def problem(self, error: ShellSyntaxError) -> SyntaxProblem:
        line = self.line(min(error.at, len(self.src)))
        shown = self.src.split("\n")[line - 1] if error.shown else None
        return SyntaxProblem(error.message, line, shown)

    def unexpected(self) -> ShellSyntaxError:
        """The token at `pos` is not one that may stand there."""
        self.blank()
        if self.pos >= len(self.src):
            return self.unexpected_eof()
        match = _OPERATOR.match(self.src, self.pos)
        if match is not None:
            token = match.group()
        else:
            start = self.pos
            self.word()
            token = self.src[start : self.pos] or self.src[start]
            self.pos = start
        return ShellSyntaxError(
            f"syntax error near unexpected token `{'newline' if token == chr(10) else token}'", self.pos
        )

    def unexpected_eof(self) -> ShellSyntaxError:
        self.src = self.src if self.src.endswith("\n") else self.src + "\n"
        return ShellSyntaxError("syntax error: unexpected end of file", len(self.src), shown=False, incomplete=True)

    def unexpected_newline(self) -> ShellSyntaxError:
        return ShellSyntaxError("syntax error near unexpected token `newline'", self.pos)

    # -- blanks, newlines, here-documents

    def blank(self) -> None:
        match = _BLANK.match(self.src, self.pos)
        assert match is not None
        self.pos = match.end()

    def newline(self) -> bool:
        """Take one newline, and the here-documents that begin behind it."""
        if self.pos >= len(self.src) or self.src[self.pos] != "\n":
            return False
        self.pos += 1
        if self.pending:
            pending, self.pending = self.pending, []
            for entry in pending:
                self._here_document(entry)
        return True

    def newlines(self) -> None:
        self.blank()
        while self.newline():
            self.blank()

    def _here_document(self, entry: _Pending) -> None:
        src = self.src
        lines: list[str] = []
        while True:
            if self.pos >= len(src):
                break
            end = src.find("\n", self.pos)
            line = src[self.pos :] if end < 0 else src[self.pos : end]
            self.pos = len(src) if end < 0 else end + 1
            if entry.strip:
                line = line.lstrip("\t")
            if line == entry.delimiter:
                break
            lines.append(line + "\n")
        body = "".join(lines)
        if entry.quoted:
            entry.redirect.target = text_word(body)
            return
        inner = Parser(body, extglob=self.extglob, depth=self.depth)
        parts = inner.quoted("", escapes="$`\\\n").parts
        entry.redirect.target = Word(tuple(parts), None) if parts else text_word("")

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
                self._close_pending()
                return Body(tuple(statements))
            if self.newline():
                return Body(tuple(statements))
            if self._at_ender() or self.src[self.pos] == ")":
                raise self.unexpected()

    def _close_pending(self) -> None:
        """Here-documents whose lines never came are empty."""
        for entry in self.pending:
            entry.redirect.target = text_word("")
        self.pending = []

    def _statement(self, statements: list[Statement]) -> None:
        start = self.pos
        command = self.and_or()
        text = self.src[start : self.pos].strip()
        self.blank()
        background = False
        if self.src.startswith("&", self.pos) and not self.src.startswith("&&", self.pos):
            background = True
            self.pos += 1
        elif self.src.startswith(";", self.pos) and not self.src.startswith((";;", ";&"), self.pos):
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
                raise self.unexpected_eof()
            if self._at(enders):
                break
            self._statement(statements)
            self.newlines()
        if not statements and enders != (";;",):
            raise self.unexpected()
        self.depth -= 1
        return Body(tuple(statements))

    def _at(self, enders: tuple[str, ...]) -> bool:
        for ender in enders:
            if ender == ")":
                if self.src.startswith(")", self.pos):
                    return True
            elif ender == ";;":
                if self.src.startswith((";;", ";&"), self.pos) or self._reserved() == "esac":
                    return True
            elif self._reserved() == ender:
                return True
        return False

    def _at_ender(self) -> bool:
        return self._reserved() in _ENDERS

    def _reserved(self) -> str | None:
        """The reserved word at `pos`, if one stands there as a word of its own."""
        src, pos = self.src, self.pos
        char = src[pos : pos + 1]
        if char in ("{", "}", "!"):
            following = src[pos + 1 : pos + 2]
            return char if following == "" or following in " \t\n;&|()<>" else None
        if src.startswith("[[", pos):
            return "[[" if src[pos + 2 : pos + 3] in (" ", "\t", "\n", "") else None
        match = NAME.match(src, pos)
        if match is None or match.group() not in _RESERVED:
            return None
        following = src[match.end() : match.end() + 1]
        return match.group() if following == "" or following in " \t\n;&|()<>" else None

    def expect(self, word: str) -> None:
        """Take a reserved word, after blanks and newlines."""
        self.newlines()
        if self._reserved() != word:
            raise self.unexpected()
        self.pos += len(word)

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
            word = self._reserved()
            if word == "!":
                negated = not negated
                self.pos += 1
            elif word == "time":
                timed = "time"
                self.pos += 4
                self.blank()
                if re.compile(r"-p(?=\s)").match(self.src, self.pos):
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
            both = self.src.startswith("|&", self.pos)
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
            return self._parenthesis()
        if self.aliases:
            self._substitute_alias()
            src = self.src
        word = self._reserved()
        if word is None:
            return self._simple()
        if word in _ENDERS or word in ("in", "]]"):
            if word in ("in", "]]"):
                return self._simple()
            raise self.unexpected()
        if word == "!":
            return self.pipeline()
        if word == "time":
            return self._simple()
        self.pos += len(word)
        self.deeper()
        made = self._compound(word)
        self.depth -= 1
        return made

    def _compound(self, word: str) -> Command:
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
            line = self.line()
            condition_tree = self._condition_or()
            self._skip_in_condition()
            if not self.src.startswith("]]", self.pos):
                raise self._bad_condition()
            self.pos += 2
            return ConditionCommand(condition_tree, self.redirects(), line)
        return self._function_keyword()

    def _parenthesis(self) -> Command:
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
        self.pos += 1
        self.deeper()
        inside = self.body(")")
        self.depth -= 1
        self.pos += 1
        return Subshell(inside, self.redirects())

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
            self._close_pending()
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
        inner = Parser(text, extglob=self.extglob, depth=self.depth + 1)
        bodies: list[Body] = []
        try:
            while (body := inner.complete_command()) is not None:
                bodies.append(body)
        except ShellSyntaxError as error:
            return Program(tuple(bodies), inner.problem(error))
        return Program(tuple(bodies), None)

    def _if(self) -> Command:
        branches = []
        condition = self.body("then")
        self.expect("then")
        branches.append((condition, self.body("elif", "else", "fi")))
        otherwise = None
        while True:
            word = self._reserved()
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
            return self._arithmetic_for()
        start = self.pos
        word = self.word()
        if word is None:
            raise self.unexpected()
        name = self.src[start : self.pos]
        words: list[Word | Assignment] | None = None
        self.newlines()
        if self._reserved() == "in":
            self.pos += 2
            words = []
            while True:
                self.blank()
                item = self.word()
                if item is None:
                    break
                words.append(item)
            if self.src[self.pos : self.pos + 1] not in (";", "\n", ""):
                raise self.unexpected()
        self.blank()
        if self.src.startswith(";", self.pos):
            self.pos += 1
        inside = self._do_group()
        items = None if words is None else tuple(words)
        if kind == "select":
            return Select(name, items, inside, self.redirects())
        return For(name, items, inside, self.redirects(), line)

    def _do_group(self) -> Body:
        self.newlines()
        if self._reserved() == "{":
            self.pos += 1
            inside = self.body("}")
            self.expect("}")
            return inside
        self.expect("do")
        inside = self.body("done")
        self.expect("done")
        return inside

    def _arithmetic_for(self) -> Command:
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
        subject = self.word()
        if subject is None:
            raise self.unexpected()
        self.expect("in")
        items: list[CaseItem] = []
        while True:
            self.newlines()
            if self.pos >= len(self.src):
                raise self.unexpected_eof()
            if self._reserved() == "esac":
                self.pos += 4
                return Case(subject, tuple(items), self.redirects())
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
            match = re.compile(r";;&|;;|;&").match(self.src, self.pos)
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
        match = re.compile(r"[ \t]*\([ \t]*\)").match(self.src, self.pos)
        if match is not None:
            self.pos = match.end()
        return self._function_body(name, start)

    def _function_body(self, name: str, start: int) -> Command:
        self.newlines()
        if self.pos >= len(self.src):
            raise self.unexpected_eof()
        if self._reserved() not in ("{", "if", "while", "until", "for", "case", "[[", "select") and not (
            self.src.startswith("(", self.pos)
        ):
            raise self.unexpected()
        body = self.command()
        return Function(name, body, self.src[start : self.pos])

    # -- simple commands

    def _substitute_alias(self) -> None:
        """Put an alias's text in place of the word at `pos`. A name is not replaced inside its own text."""
        for _ in range(20):
            match = re.compile(r"[^\s;&|()<>\\'\"`$=]+").match(self.src, self.pos)
            if match is None:
                return
            name = match.group()
            if name not in self.aliases or self._alias_until.get(name, -1) >= self.pos:
                return
            following = self.src[match.end() : match.end() + 1]
            if following and following not in " \t\n;&|()<>":
                return
            text = self.aliases[name]
            self.src = self.src[: self.pos] + text + self.src[match.end() :]
            self._alias_until[name] = self.pos + len(text)
            self.blank()

    def _simple(self) -> Command:
        src = self.src
        start, line = self.pos, self.line()
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        while True:
            self.blank()
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            if not words or declares:
                assignment = self._assignment()
                if assignment is not None:
                    if words:
                        words.append(assignment)
                    else:
                        assignments.append(assignment)
                    continue
            word = self.word()
            if word is None:
                break
            words.append(word)
            if len(words) == 1:
                declares = word.literal in _DECLARERS
                if not assignments and not redirects:
                    match = re.compile(r"[ \t]*\([ \t]*\)").match(src, self.pos)
                    if match is not None:
                        name = src[start : self.pos]
                        self.pos = match.end()
                        return self._function_body(name, start)
        if src.startswith("(", self.pos) or not (assignments or words or redirects):
            if src.startswith("(", self.pos) and len(words) == 1 and not assignments:
                # bash reads on: what it did not expect is the word behind the parenthesis.
                self.pos += 1
            raise self.unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line)

    def _assignment(self) -> Assignment | None:
        match = _ASSIGN.match(self.src, self.pos)
        if match is None:
            return None
        start = self.pos
        name, mark = match.groups()
        subscript = None
        if mark == "[":
            self.pos = match.end() - 1
            try:
                subscript = self.subscript()
            except ShellSyntaxError:
                self.pos = start
                return None
            rest = re.compile(r"\+?=").match(self.src, self.pos)
            if rest is None:
                self.pos = start
                return None
            mark = rest.group()
            self.pos = rest.end()
        else:
            self.pos = match.end()
        append = mark == "+="
        if self.src.startswith("(", self.pos) and subscript is None:
            return Assignment(name, None, append, self._array())
        return Assignment(name, subscript, append, self._assigned_value())

    def _assigned_value(self) -> Word:
        parts = self.unquoted("", in_assignment=True).parts
        if not parts:
            return text_word("")
        if all(type(part) is Literal for part in parts):
            text = "".join(part.text for part in parts if isinstance(part, Literal))
            return Word(tuple(parts), text)
        return Word(tuple(parts), None)

    def _array(self) -> ArrayLiteral:
        start = self.pos
        self.pos += 1
        items: list[tuple[Word | None, Word]] = []
        while True:
            self.newlines()
            if self.pos >= len(self.src):
                raise self.unexpected_end(")", start)
            if self.src[self.pos] == ")":
                self.pos += 1
                return ArrayLiteral(tuple(items))
            key = None
            begin = self.pos
            if self.src[self.pos] == "[":
                try:
                    key = self.subscript()
                except ShellSyntaxError:
                    key = None
                if key is not None and self.src[self.pos : self.pos + 1] == "=":
                    self.pos += 1
                    items.append((key, self._assigned_value()))
                    continue
                self.pos = begin
            word = self.word()
            if word is None:
                raise self.unexpected()
            items.append((None, word))

    # -- redirections

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirections behind a compound command."""
        found: list[Redirect] = []
        while True:
            self.blank()
            redirect = self._redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.src, self.pos)
        if match is None:
            return None
        operator = match.group("operator") or match.group("both")
        self.pos = match.end()
        mark = match.group("fd")
        variable = mark[1:-1] if mark and mark.startswith("{") else None
        fd = int(mark) if mark and variable is None and len(mark) < 10 else None
        self.blank()
        if operator in ("<<", "<<-"):
            begin = self.pos
            if self.word() is None:
                raise self._no_target()
            raw = self.src[begin : self.pos]
            delimiter = re.sub(r"\\(.)|['\"]", lambda found: found.group(1) or "", raw)
            redirect = Redirect(fd, operator, text_word(""), variable)
            quoted = delimiter != raw
            self.pending.append(_Pending(redirect, delimiter, quoted, operator == "<<-", self.line()))
            return redirect
        word = self.word()
        if word is None:
            raise self._no_target()
        return Redirect(fd, operator, word, variable)

    def _no_target(self) -> ShellSyntaxError:
        return self.unexpected_newline() if self.pos >= len(self.src) else self.unexpected()

    # -- [[ … ]]

    def _skip_in_condition(self) -> None:
        self.newlines()

    def _bad_condition(self) -> ShellSyntaxError:
        if self.pos >= len(self.src):
            return ShellSyntaxError("unexpected EOF while looking for `]]'", self.pos, shown=False, incomplete=True)
        word = self._condition_token()
        return ShellSyntaxError(f"syntax error in conditional expression: unexpected token `{word}'", self.pos)

    def _condition_token(self) -> str:
        self.blank()
        start = self.pos
        match = _OPERATOR.match(self.src, self.pos)
        if match is not None:
            return "newline" if match.group() == "\n" else match.group()
        self.word()
        token = self.src[start : self.pos] or "newline"
        self.pos = start
        return token

    def _condition_or(self) -> Condition:
        left = self._condition_and()
        while True:
            self._skip_in_condition()
            if not self.src.startswith("||", self.pos):
                return left
            self.pos += 2
            left = CondBoth("||", left, self._condition_and())

    def _condition_and(self) -> Condition:
        left = self._condition_term()
        while True:
            self._skip_in_condition()
            if not self.src.startswith("&&", self.pos):
                return left
            self.pos += 2
            left = CondBoth("&&", left, self._condition_term())

    def _condition_term(self) -> Condition:
        self._skip_in_condition()
        if self._reserved() == "!":
            self.pos += 1
            return CondNot(self._condition_term())
        if self.src.startswith("(", self.pos):
            self.pos += 1
            self.deeper()
            inside = self._condition_or()
            self.depth -= 1
            self._skip_in_condition()
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
        match = re.compile(r"[=!~a-z-]+(?=\s)").match(self.src, self.pos)
        if match is None or match.group() not in _BINARY:
            if self.pos >= len(self.src):
                raise self.unexpected_eof()
            raise ShellSyntaxError("conditional binary operator expected", start, shown=False)
        self.pos = match.end()
        return match.group()

    def _condition_regex(self) -> Word:
        """The right side of `=~`: parentheses and bars belong to it, up to a blank outside of them."""
        scanner = self.src
        parts: list[Part] = []
        depth = 0
        while self.pos < len(scanner):
            char = scanner[self.pos]
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
                match = re.compile(r"\[\^?\]?(?:\[:[a-z]+:\]|[^\]\s$'\"\\])*\]").match(scanner, self.pos)
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
