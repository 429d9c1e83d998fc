"""dash's grammar: POSIX's, without what bash adds to it. What it does not know is a plain word, or does not parse."""

from __future__ import annotations

import re

from runners.formats.shell.ast import ArrayLiteral, Command, Function, Literal, Part, Redirect, Word
from runners.formats.shell.grammar.words import NAME, ShellSyntaxError
from runners.formats.shell.parser import Parser

_TOKEN = re.compile(r";;|;|&&|&|\|\||\||\(|\)|\n|(?P<redirection><<-|<<|<&|<>|<|>>|>&|>\||>)")
_OPERATORS = (":-", ":=", ":?", ":+", "-", "=", "?", "+", "#", "%")
_DESCRIPTOR = re.compile(r"\d|-")


class DashParser(Parser):
    """What is said of a text that does not parse names the kind of token, and often what should stand there."""

    EXPANDED = False
    MERGING = False
    CASE_ENDS = (";;",)
    RESERVED = frozenset(
        {"if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "in", "{", "}", "!"}
    )
    REDIRECT = re.compile(r"(?P<fd>\d)?(?P<operator><<-|<<|<&|<>|<|>>|>&|>\||>)")
    ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(=)")

    # -- what does not parse

    def unexpected(self, expected: str = "") -> ShellSyntaxError:
        self.blank()
        if self.pos >= len(self.src):
            return self.unexpected_eof(expected)
        match = _TOKEN.match(self.src, self.pos)
        reserved = self.reserved()
        if match is None:
            token = f'"{reserved}"' if reserved is not None else "word"
        elif match.group() == "\n":
            token = "newline"  # noqa: S105 (no password)
        else:
            token = "redirection" if match.group("redirection") else f'"{match.group()}"'
        return self._error(f"{token} unexpected", self.pos, expected)

    def unexpected_eof(self, expected: str = "") -> ShellSyntaxError:
        return self._error("end of file unexpected", len(self.src), expected)

    def unexpected_newline(self) -> ShellSyntaxError:
        return self.unexpected()

    def unexpected_end(self, closer: str, start: int) -> ShellSyntaxError:  # noqa: ARG002 (it tells where it ended)
        if closer in "'\"":
            return self._error("Unterminated quoted string", len(self.src))
        if closer == "`":
            return self._error("EOF in backquote substitution", len(self.src))
        if closer == "}":
            return self._error("Missing '}'", len(self.src))
        return self.unexpected_eof(closer)

    def misplaced(self, enders: tuple[str, ...]) -> ShellSyntaxError:
        return self.unexpected(enders[-1])

    def expect(self, word: str) -> None:
        self.newlines()
        if self.reserved() != word:
            raise self.unexpected(word)
        self.pos += len(word)

    def _error(self, text: str, at: int, expected: str = "") -> ShellSyntaxError:
        expecting = f' (expecting "{expected}")' if expected else ""
        return ShellSyntaxError(f"Syntax error: {text}{expecting}", at, shown=False)

    # -- what bash has and dash has not

    def parenthesis(self) -> Command:
        return self.subshell()

    def arithmetic_for(self) -> Command:
        raise self._error("Bad for loop variable", self.pos)

    def function_body(self, name: str, start: int) -> Command:
        if NAME.fullmatch(name) is None:
            raise self._error("Bad function name", self.pos)
        self.newlines()
        body = self.command()
        return Function(name, body, self.src[start : self.pos])

    def array(self) -> ArrayLiteral:
        raise self.unexpected()

    def redirect(self) -> Redirect | None:
        made = super().redirect()
        if made is not None and made.operator in (">&", "<&"):
            target = made.target.literal
            if target is not None and _DESCRIPTOR.fullmatch(target) is None:
                raise self._error("Bad fd number", self.pos)
        return made

    def dollar(self, quoted: bool) -> Part:
        if self.src[self.pos + 1 : self.pos + 2] in ("'", '"', "["):
            self.pos += 1
            return Literal("$", quoted)
        return super().dollar(quoted)

    def operation(self, name: str, subscript: Word | None, indirect: bool, quoted: bool, start: int) -> Part:
        plain = self.src.startswith("}", self.pos) or self.src.startswith(_OPERATORS, self.pos)
        if not plain or indirect or subscript is not None:
            return self.bad(start)
        return super().operation(name, subscript, indirect, quoted, start)
