"""What stands between words: blanks, newlines, reserved words, here-documents; and the messages for what may not.

A here-document's body is read when the newline behind the line that asks for it is taken, and at no other time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.formats.shell.ast import Redirect, SyntaxProblem, Word
from runners.formats.shell.grammar.expansions import Expansions
from runners.formats.shell.grammar.words import NAME, ShellSyntaxError, text_word

_BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:(?<![^\s;&|()])#[^\n]*)?")
OPERATOR = re.compile(r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||\(|\)|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\n")
_RESERVED = frozenset(
    ["if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "in", "select",
     "function", "{", "}", "!", "[[", "]]", "time"]
)  # fmt: skip
ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})


class PendingDocument(NamedTuple):
    """A here-document asked for. `quoted`: nothing in it is expanded; `strip`: without leading tabs (`<<-`)."""

    redirect: Redirect
    delimiter: str
    quoted: bool
    strip: bool


class Tokens(Expansions):
    """The text as tokens, with the here-documents still to come in `pending`."""

    RESERVED = _RESERVED
    CASE_ENDS: tuple[str, ...] = (";;", ";&")

    def __init__(
        self, src: str, *, extglob: bool = False, aliases: Mapping[str, str] | None = None, depth: int = 0
    ) -> None:
        super().__init__(src, extglob=extglob, depth=depth)
        self.aliases = aliases or {}
        self.pending: list[PendingDocument] = []
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
        match = OPERATOR.match(self.src, self.pos)
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
        return ShellSyntaxError("syntax error: unexpected end of file", len(self.src), shown=False)

    def misplaced(self, enders: tuple[str, ...]) -> ShellSyntaxError:  # noqa: ARG002 (some say what they expect)
        """A list that one of `enders` should end is ended by something else."""
        return self.unexpected_eof() if self.pos >= len(self.src) else self.unexpected()

    def unexpected_newline(self) -> ShellSyntaxError:
        return ShellSyntaxError("syntax error near unexpected token `newline'", self.pos)

    # -- blanks and newlines

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

    # -- here-documents

    def _here_document(self, entry: PendingDocument) -> None:
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
        # Expansions in it hold whole programs: the top of the grammar reads them.
        inner = type(self)(body, extglob=self.extglob, depth=self.depth)
        parts = inner.quoted("", escapes="$`\\\n").parts
        entry.redirect.target = Word(tuple(parts), None) if parts else text_word("")

    def close_documents(self) -> None:
        """Here-documents whose lines never came are empty."""
        for entry in self.pending:
            entry.redirect.target = text_word("")
        self.pending = []

    # -- reserved words

    def at(self, enders: tuple[str, ...]) -> bool:
        """Does one of these stand at `pos`: a reserved word, `)`, or `;;` and its like?"""
        for ender in enders:
            if ender == ")":
                if self.src.startswith(")", self.pos):
                    return True
            elif ender == ";;":
                if self.src.startswith(self.CASE_ENDS, self.pos) or self.reserved() == "esac":
                    return True
            elif self.reserved() == ender:
                return True
        return False

    def at_ender(self) -> bool:
        return self.reserved() in ENDERS

    def reserved(self) -> str | None:
        """The reserved word at `pos`, if one stands there as a word of its own."""
        src, pos = self.src, self.pos
        char = src[pos : pos + 1]
        if char in ("{", "}", "!"):
            following = src[pos + 1 : pos + 2]
            return char if following == "" or following in " \t\n;&|()<>" else None
        if src.startswith("[[", pos) and "[[" in self.RESERVED:
            return "[[" if src[pos + 2 : pos + 3] in (" ", "\t", "\n", "") else None
        match = NAME.match(src, pos)
        if match is None or match.group() not in self.RESERVED:
            return None
        following = src[match.end() : match.end() + 1]
        return match.group() if following == "" or following in " \t\n;&|()<>" else None

    def expect(self, word: str) -> None:
        """Take a reserved word, after blanks and newlines."""
        self.newlines()
        if self.reserved() != word:
            raise self.unexpected()
        self.pos += len(word)
