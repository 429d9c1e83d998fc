"""Word expansion: parameters, substitutions, splitting, pathnames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from runners.formats.shell.ast import (
    ArithmeticSubstitution,
    ArrayLiteral,
    Assignment,
    BadSubstitution,
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Tilde,
    Word,
)
from runners.formats.shell.braces import alternatives
from runners.sim.budget import BudgetExceeded
from runners.sim.shell import globbing
from runners.sim.shell.arithmetic import ArithmeticExpressionError, Variables, evaluate
from runners.sim.shell.operators import MAX_TEXT
from runners.sim.shell.parameters import Parameters
from runners.sim.shell.patterns import escape, is_pattern
from runners.sim.shell.signals import ExpansionError
from runners.sim.users import accounts

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_MAX_WORDS = 1_000_000
_REGEX_SPECIAL = frozenset("\\.[]{}()*+?^$|")


class ArrayArgument(str):
    """`name=(…)` as an argument of declare and its like: text to look at, items to assign."""

    __slots__ = ("assignment",)
    assignment: Assignment


@lru_cache(maxsize=64)
def _delimiters(ifs: str) -> re.Pattern[str]:
    white = re.escape("".join(char for char in ifs if char in " \t\n"))
    other = re.escape("".join(char for char in ifs if char not in " \t\n"))
    if not other:
        return re.compile(f"[{white}]+")
    return re.compile(f"[{white}]*[{other}][{white}]*|[{white}]+" if white else f"[{other}]")


class _Fields:
    """Collects the fields of one word: pieces of text, each quoted or not."""

    __slots__ = ("current", "done", "ifs", "present")

    def __init__(self, ifs: str) -> None:
        self.ifs = ifs
        self.done: list[list[tuple[str, bool]]] = []
        self.current: list[tuple[str, bool]] = []
        self.present = False

    def add(self, text: str, quoted: bool) -> None:
        self.current.append((text, quoted))
        if quoted or text:
            self.present = True

    def end(self) -> None:
        self.done.append(self.current)
        self.current = []
        self.present = False

    def finish(self) -> list[list[tuple[str, bool]]]:
        if self.present:
            self.end()
        return self.done

    def split(self, text: str) -> None:
        """Add the result of an unquoted expansion, split at IFS."""
        if not text:
            return
        if not self.ifs:
            self.add(text, False)
            return
        position = 0
        for match in _delimiters(self.ifs).finditer(text):
            piece = text[position : match.start()]
            if piece:
                self.add(piece, False)
            if self.present or match.start() > 0 or match.group().strip(" \t\n"):
                self.end()
            position = match.end()
        if position < len(text):
            self.add(text[position:], False)


class Expander:
    """Expands words for one shell. Made when there is something to expand: a shell that held it would be held by it."""

    __slots__ = ("shell",)

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    @property
    def parameters(self) -> Parameters:
        return Parameters(self)

    # -- whole words

    def words(self, words: Sequence[Word | Assignment]) -> list[str]:
        """All words of a command, with every expansion."""
        out: list[str] = []
        for word in words:
            if isinstance(word, Assignment):
                out.append(self._declaration(word))
            elif word.literal is not None:
                out.append(word.literal)
            elif word.braces and "braceexpand" in self.shell.session.options:
                choices = word.alternatives if word.alternatives is not None else alternatives(word.parts)
                for choice in choices:
                    self.shell.spend(12)
                    if choice.literal is not None:
                        if choice.literal or choice.parts:
                            out.append(choice.literal)
                    else:
                        out += self.word(choice)
                    if len(out) > _MAX_WORDS:
                        raise BudgetExceeded
            else:
                out += self.word(word)
        if sum(map(len, out)) > MAX_TEXT:
            raise BudgetExceeded
        return out

    def word(self, word: Word) -> list[str]:
        """The fields of one word."""
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is Parameter and parts[0].quoted and not parts[0].operator:
            # The commonest case by far: "$name".
            value = self.parameters.value(parts[0])
            return [value] if isinstance(value, str) else value
        ifs = self.shell.session.get("IFS")
        fields = _Fields(" \t\n" if ifs is None else ifs)
        self._collect(parts, fields, False)
        out: list[str] = []
        for pieces in fields.finish():
            out += self._paths(pieces)
        self.shell.spend(len(out) >> 3)
        return out

    def _collect(self, parts: Sequence[Part], fields: _Fields, split_literals: bool) -> None:
        for part in parts:
            kind = type(part)
            if kind is Literal:
                if split_literals and not part.quoted:  # type: ignore[union-attr]
                    fields.split(part.text)  # type: ignore[union-attr]
                else:
                    fields.add(part.text, part.quoted)  # type: ignore[union-attr]
            elif isinstance(part, Parameter):
                self._collect_parameter(part, fields)
            elif isinstance(part, CommandSubstitution | ArithmeticSubstitution):
                text = self._substitution(part)
                if part.quoted:
                    fields.add(text, True)
                else:
                    fields.split(text)
            elif isinstance(part, Tilde):
                fields.add(self._home(part.user), True)
            elif isinstance(part, ProcessSubstitution):
                fields.add(self.shell.process_substitution(part), True)
            elif isinstance(part, BadSubstitution):
                raise ExpansionError(f"{part.text}: bad substitution", dash="Bad substitution")

    def _collect_parameter(self, part: Parameter, fields: _Fields) -> None:
        default = self.parameters.default_word(part)
        if default is not None:
            if part.quoted:
                self._collect_quoted(default, fields)
            else:
                self._collect(default.parts, fields, True)
            return
        value = self.parameters.value(part)
        if isinstance(value, str):
            if part.quoted:
                fields.add(value, True)
            else:
                fields.split(value)
            return
        for index, item in enumerate(value):
            if index and (part.quoted or fields.present):
                fields.end()
            if part.quoted:
                fields.add(item, True)
            else:
                fields.split(item)

    def _collect_quoted(self, word: Word, fields: _Fields) -> None:
        fields.add("", True)
        self._collect(word.parts, fields, False)

    def _paths(self, pieces: list[tuple[str, bool]]) -> list[str]:
        """One field after pathname expansion."""
        session = self.shell.session
        text = _joined([text for text, _ in pieces])
        unquoted = "".join([piece for piece, quoted in pieces if not quoted])
        if "noglob" in session.options or not any(char in unquoted for char in "*?[" + "+@!"):
            return [text]
        extglob = "extglob" in session.shopt
        pattern = "".join([escape(piece) if quoted else piece for piece, quoted in pieces])
        if not is_pattern(pattern, extglob):
            return [text]
        shopt = session.shopt
        found = globbing.expand(
            self.shell.view,
            pattern,
            self.shell.spend,
            dotglob="dotglob" in shopt,
            skip_dots="globskipdots" in shopt,
            globstar="globstar" in shopt,
            ignore_case="nocaseglob" in shopt,
            extglob=extglob,
        )
        if found:
            return found
        if "failglob" in shopt:
            raise ExpansionError(f"no match: {text}")
        return [] if "nullglob" in shopt else [text]

    # -- text without splitting

    def text(self, word: Word) -> str:
        """As in an assignment, a here-document or a redirection's name: one string, nothing split or globbed."""
        if word.literal is not None:
            return word.literal
        return _joined([self._part_text(part) for part in word.parts])

    def pattern(self, word: Word) -> str:
        """A shell pattern: what is quoted stands for itself."""
        if word.literal is not None and all(isinstance(part, Literal) for part in word.parts):
            return "".join([
                escape(part.text) if part.quoted else part.text for part in word.parts if isinstance(part, Literal)
            ])  # fmt: skip
        out = []
        for part in word.parts:
            text = self._part_text(part)
            out.append(escape(text) if getattr(part, "quoted", True) else text)
        return "".join(out)

    def regex(self, word: Word) -> str:
        """The right side of `=~`: what is quoted matches itself."""
        out = []
        for part in word.parts:
            text = self._part_text(part)
            if getattr(part, "quoted", True):
                text = "".join("\\" + char if char in _REGEX_SPECIAL else char for char in text)
            out.append(text)
        return "".join(out)

    def _part_text(self, part: Part) -> str:
        if isinstance(part, Literal):
            return part.text
        if isinstance(part, Parameter):
            default = self.parameters.default_word(part)
            if default is not None:
                return self.text(default)
            value = self.parameters.value(part)
            return value if isinstance(value, str) else " ".join(value)
        if isinstance(part, CommandSubstitution | ArithmeticSubstitution):
            return self._substitution(part)
        if isinstance(part, Tilde):
            return self._home(part.user)
        if isinstance(part, ProcessSubstitution):
            return self.shell.process_substitution(part)
        raise ExpansionError(f"{part.text}: bad substitution", dash="Bad substitution")

    def _substitution(self, part: CommandSubstitution | ArithmeticSubstitution) -> str:
        if isinstance(part, CommandSubstitution):
            return self.shell.command_substitution(part.body)
        return str(self.arithmetic(self.text(part.expression)))

    def _home(self, user: str) -> str:
        session = self.shell.session
        if user == "":
            home = session.get("HOME")
            if home is not None:
                return home
            own = accounts(self.shell.machine).user(session.cred.uid)
            return own.home if own is not None else "/"
        if user in ("+", "-"):
            return session.get("PWD" if user == "+" else "OLDPWD") or "~" + user
        known = accounts(self.shell.machine).user(user)
        return known.home if known is not None else "~" + user

    # -- assignments and arithmetic

    def _declaration(self, assignment: Assignment) -> str:
        mark = "+=" if assignment.append else "="
        if isinstance(assignment.value, ArrayLiteral):
            made = ArrayArgument(assignment.name + mark)
            made.assignment = assignment
            return made
        subscript = f"[{self.text(assignment.subscript)}]" if assignment.subscript is not None else ""
        return f"{assignment.name}{subscript}{mark}{self.text(assignment.value)}"

    def arithmetic(self, text: str) -> int:
        """The value of an expression; ExpansionError where bash complains."""
        dialect = self.shell.dialect
        try:
            return evaluate(dialect.expression(text), Variables(self._read, self._write, self.shell.spend))
        except ArithmeticExpressionError as problem:
            raise ExpansionError(dialect.arithmetic_problem(str(problem), text)) from None

    def _read(self, name: str, subscript: str | None) -> str:
        value = self.parameters.element(name, subscript)
        if value is None:
            if "nounset" in self.shell.session.options:
                raise ExpansionError(
                    f"{name}: unbound variable", fatal=True, status=127, dash=f"{name}: parameter not set"
                )
            return "0"
        return self.shell.dialect.operand(value)

    def _write(self, name: str, subscript: str | None, value: str) -> None:
        self.shell.assign(name, value, subscript=subscript)


def _joined(pieces: list[str]) -> str:
    """One text from its pieces; nothing is put together that would be too long."""
    if len(pieces) > 1 and sum(map(len, pieces)) > MAX_TEXT:
        raise BudgetExceeded
    return "".join(pieces)
