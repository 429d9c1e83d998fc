"""Simple commands: aliases, assignments, words, redirections. An assignment is one only where bash takes it for one."""

from __future__ import annotations

import re

from runners.formats.shell.ast import ArrayLiteral, Assignment, Command, Literal, Redirect, Simple, Word
from runners.formats.shell.grammar.tokens import PendingDocument, Tokens
from runners.formats.shell.grammar.words import ShellSyntaxError, text_word

_REDIRECT = re.compile(
    r"(?P<fd>\d+|\{[A-Za-z_][A-Za-z0-9_]*\})?(?P<operator><<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())|(?P<both>&>>|&>)"
)
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_ASSIGN_MARK = re.compile(r"\+?=")
_ALIASED = re.compile(r"[^\s;&|()<>\\'\"`$=]+")
FUNCTION_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_DECLARERS = frozenset({"declare", "typeset", "local", "export", "readonly", "alias"})


class SimpleCommands(Tokens):
    """One command of words, up to the operator that ends it."""

    REDIRECT = _REDIRECT
    ASSIGN = _ASSIGN

    def substitute_alias(self) -> None:
        """Put an alias's text in place of the word at `pos`. A name is not replaced inside its own text."""
        for _ in range(20):
            match = _ALIASED.match(self.src, self.pos)
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

    def simple(self) -> Command:
        src = self.src
        start, line = self.pos, self.line()
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        while True:
            self.blank()
            redirect = self.redirect()
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
                    match = FUNCTION_PARENTHESES.match(src, self.pos)
                    if match is not None:
                        name = src[start : self.pos]
                        self.pos = match.end()
                        return self.function_body(name, start)
        if src.startswith("(", self.pos) or not (assignments or words or redirects):
            if src.startswith("(", self.pos) and len(words) == 1 and not assignments:
                # bash reads on: what it did not expect is the word behind the parenthesis.
                self.pos += 1
            raise self.unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line)

    def _assignment(self) -> Assignment | None:
        match = self.ASSIGN.match(self.src, self.pos)
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
            rest = _ASSIGN_MARK.match(self.src, self.pos)
            if rest is None:
                self.pos = start
                return None
            mark = rest.group()
            self.pos = rest.end()
        else:
            self.pos = match.end()
        append = mark == "+="
        if self.src.startswith("(", self.pos) and subscript is None:
            return Assignment(name, None, append, self.array())
        return Assignment(name, subscript, append, self._assigned_value())

    def _assigned_value(self) -> Word:
        parts = self.unquoted("", in_assignment=True).parts
        if not parts:
            return text_word("")
        if all(type(part) is Literal for part in parts):
            text = "".join(part.text for part in parts if isinstance(part, Literal))
            return Word(tuple(parts), text)
        return Word(tuple(parts), None)

    def array(self) -> ArrayLiteral:
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

    def function_body(self, name: str, start: int) -> Command:
        """What `name ()` is followed by; `start`: where the definition begins."""
        raise NotImplementedError

    # -- redirections

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirections behind a compound command."""
        found: list[Redirect] = []
        while True:
            self.blank()
            redirect = self.redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def redirect(self) -> Redirect | None:
        match = self.REDIRECT.match(self.src, self.pos)
        if match is None:
            return None
        operator = match[match.lastgroup or 0]
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
            self.pending.append(PendingDocument(redirect, delimiter, quoted, operator == "<<-"))
            return redirect
        word = self.word()
        if word is None:
            raise self._no_target()
        return Redirect(fd, operator, word, variable)

    def _no_target(self) -> ShellSyntaxError:
        return self.unexpected_newline() if self.pos >= len(self.src) else self.unexpected()
