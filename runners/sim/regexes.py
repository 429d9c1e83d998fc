"""POSIX regular expressions as GNU tools read them, on bytes.

Basic and extended expressions are translated for RE2 (linear time, leftmost-longest). Only back-references and Perl
expressions need a backtracking engine; those searches are bounded and end the command when they run away.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import re2
import regex

from runners.sim.budget import BudgetExceeded

_BACKTRACKING_SECONDS = 1.0
_MAX_REPEAT = 1000
_CLASSES = frozenset(
    {"alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "print", "graph", "cntrl", "xdigit"}
)
_SIMPLE_ESCAPES = {"w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B"}
_ANCHOR_ESCAPES = {"<": r"\b", ">": r"\b", "`": r"\A", "'": r"\z"}
_SPECIAL = frozenset("\\.[]{}()*+?^$|")


class RegexError(ValueError):
    """The pattern is wrong; the text is GNU's message."""


class Match(NamedTuple):
    """`spans[0]` is the whole match, then the groups; (-1, -1) where a group took no part. Offsets in `data`."""

    data: bytes
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[0][1]

    def group(self, number: int = 0) -> bytes:
        """The text of a group; empty where it took no part."""
        if number >= len(self.spans):
            return b""
        start, end = self.spans[number]
        return self.data[start:end] if start >= 0 else b""


class Regex:
    """A compiled pattern. `groups`: how many it has; `literal`: the bytes it stands for when it is plain text."""

    __slots__ = ("_backtracking", "_engine", "groups", "literal")

    def __init__(self, engine: Any, backtracking: bool, groups: int, literal: bytes | None) -> None:
        self._engine = engine
        self._backtracking = backtracking
        self.groups = groups
        self.literal = literal

    def test(self, data: bytes) -> bool:
        """Does it match anywhere in `data`?"""
        if self.literal is not None:
            return self.literal in data
        if self._backtracking:
            return self.search(data) is not None
        return self._engine.search(data) is not None

    def search(self, data: bytes, start: int = 0) -> Match | None:
        """The first (and longest) match at or after `start`; `^` means the beginning of `data`, not `start`."""
        if self.literal is not None:
            at = data.find(self.literal, start)
            return None if at < 0 else Match(data, ((at, at + len(self.literal)),))
        if self._backtracking:
            return self._backtrack(data, start)
        found = self._engine.search(data, start)
        if found is None:
            return None
        return Match(data, tuple(found.span(number) for number in range(self.groups + 1)))

    def iterate(self, data: bytes) -> Iterator[Match]:
        """All matches from left to right, without overlap. An empty match next to the one before does not count."""
        position, previous_end = 0, -1
        while position <= len(data):
            found = self.search(data, position)
            if found is None:
                return
            if found.end > found.start:
                yield found
                position = previous_end = found.end
                continue
            if found.start != previous_end:
                yield found
            position = found.start + 1

    def _backtrack(self, data: bytes, start: int) -> Match | None:
        text = data.decode("utf-8", "surrogateescape")
        offset = len(data[:start].decode("utf-8", "surrogateescape"))
        try:
            found = self._engine.search(text, offset, timeout=_BACKTRACKING_SECONDS)
        except TimeoutError:
            raise BudgetExceeded from None
        if found is None:
            return None
        if len(text) == len(data):
            return Match(data, tuple(found.span(number) for number in range(self.groups + 1)))
        spans = []
        for number in range(self.groups + 1):
            low, high = found.span(number)
            spans.append((_bytes_before(text, low), _bytes_before(text, high)) if low >= 0 else (-1, -1))
        return Match(data, tuple(spans))


def _bytes_before(text: str, index: int) -> int:
    return len(text[:index].encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=1024)
def basic(pattern: str, *, ignore_case: bool = False, multiline: bool = False) -> Regex:
    """A basic regular expression (grep, sed, expr). Raises RegexError."""
    return _compile(_Translator(pattern, extended=False), ignore_case, multiline)


@lru_cache(maxsize=1024)
def extended(pattern: str, *, ignore_case: bool = False, multiline: bool = False) -> Regex:
    """An extended regular expression (grep -E, sed -E, awk, [[ =~ ]]). Raises RegexError."""
    return _compile(_Translator(pattern, extended=True), ignore_case, multiline)


@lru_cache(maxsize=256)
def perl(pattern: str, *, ignore_case: bool = False) -> Regex:
    """A Perl expression (grep -P)."""
    try:
        engine = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise RegexError(str(error)) from None
    except RecursionError:
        raise RegexError("regular expression is too large") from None
    return Regex(engine, True, engine.groups, None)


@lru_cache(maxsize=1024)
def fixed(text: str, *, ignore_case: bool = False) -> Regex:
    """Plain text (grep -F)."""
    if not ignore_case:
        return Regex(None, False, 0, text.encode("utf-8", "surrogateescape"))
    return _compile_re2("".join(quote(char) for char in text), True, False, 0)


def quote(char: str) -> str:
    """One character as itself in an expression."""
    return "\\" + char if char in _SPECIAL else char


def _compile(translator: _Translator, ignore_case: bool, multiline: bool) -> Regex:
    translated = translator.run()
    if translator.literal is not None and not ignore_case:
        return Regex(None, False, 0, translator.literal.encode("utf-8", "surrogateescape"))
    if not translator.references:
        return _compile_re2(translated, ignore_case, multiline, translator.groups)
    flags = regex.POSIX | regex.DOTALL
    flags |= (regex.IGNORECASE if ignore_case else 0) | (regex.MULTILINE if multiline else 0)
    try:
        return Regex(regex.compile(translated.replace(r"\z", r"\Z"), flags), True, translator.groups, None)
    except regex.error:
        raise RegexError("Invalid preceding regular expression") from None


def _compile_re2(pattern: str, ignore_case: bool, multiline: bool, groups: int) -> Regex:
    options = re2.Options()
    options.longest_match = True
    options.log_errors = False
    options.dot_nl = True
    options.case_sensitive = not ignore_case
    data = pattern.encode("utf-8", "surrogateescape")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        options.encoding = re2.Options.Encoding.LATIN1
    try:
        engine = re2.compile((b"(?m)" if multiline else b"") + data, options)
    except re2.error:
        raise RegexError("Regular expression too big") from None
    return Regex(engine, False, groups, None)


class _Translator:
    """Rewrites one POSIX expression. `literal` is set after `run` when nothing in it was special."""

    def __init__(self, pattern: str, *, extended: bool) -> None:
        self.pattern = pattern
        self.extended = extended
        self.groups = 0
        self.references = False
        self.literal: str | None = ""
        self._pieces: list[str] = []
        self._open: list[int] = []
        # Where the last atom began, so that a second repetition can be wrapped around it; None: nothing to repeat.
        self._atom: int | None = None
        self._repeated = False

    def run(self) -> str:
        pattern, index = self.pattern, 0
        while index < len(pattern):
            char = pattern[index]
            if char == "\\":
                index = self._escape(index)
            elif char == "[":
                text, index = bracket(pattern, index)
                self._emit(text)
            elif char == ".":
                self._emit(".")
                index += 1
            elif char == "*" or (self.extended and char in "+?"):
                index = self._repeat(char, index + 1)
            elif char == "^" and self._begins(index):
                self._anchor("^")
                index += 1
            elif char == "$" and self._ends(index):
                self._anchor("$")
                index += 1
            elif self.extended and char in "(|)":
                index = self._structure(char, index, 1)
            elif self.extended and char == "{":
                index = self._interval(index + 1)
            else:
                self._plain(char)
                index += 1
        if self._open:
            raise RegexError("Unmatched ( or \\(")
        if self.literal == "":
            self.literal = None if self._pieces or self.pattern else ""
        return "".join(self._pieces)

    def _emit(self, text: str) -> None:
        self.literal = None
        self._atom = len(self._pieces)
        self._repeated = False
        self._pieces.append(text)

    def _plain(self, char: str) -> None:
        if self.literal is not None:
            self.literal += char
        self._atom = len(self._pieces)
        self._repeated = False
        self._pieces.append(quote(char))

    def _anchor(self, text: str) -> None:
        self.literal = None
        self._pieces.append(text)
        self._atom = None

    def _escape(self, index: int) -> int:
        if index + 1 >= len(self.pattern):
            raise RegexError("Trailing backslash")
        char = self.pattern[index + 1]
        if not self.extended and char in "(|)":
            return self._structure(char, index, 2)
        if not self.extended and char in "+?":
            return self._repeat(char, index + 2)
        if not self.extended and char == "{":
            return self._interval(index + 2)
        if char in _SIMPLE_ESCAPES:
            self._emit(_SIMPLE_ESCAPES[char])
        elif char in _ANCHOR_ESCAPES:
            self._anchor(_ANCHOR_ESCAPES[char])
        elif char in "123456789":
            if int(char) > self.groups:
                raise RegexError("Invalid back reference")
            self.references = True
            self._emit(f"\\{char}")
        else:
            self._plain(char)
        return index + 2

    def _structure(self, char: str, index: int, length: int) -> int:
        if char == ")" and not self._open:
            raise RegexError("Unmatched ) or \\)")
        self.literal = None
        if char == "(":
            self._open.append(len(self._pieces))
            self.groups += 1
            self._atom = None
        elif char == "|":
            self._atom = None
        self._pieces.append(char)
        if char == ")":
            self._atom = self._open.pop()
            self._repeated = False
        return index + length

    def _repeat(self, operator: str, after: int) -> int:
        if self._atom is None:
            if self.extended:
                if operator == "*" or not self._pieces:
                    return after
                raise RegexError("Invalid preceding regular expression")
            self._plain(operator)
            return after
        self.literal = None
        if self._repeated:
            self._pieces[self._atom : len(self._pieces)] = ["(?:", *self._pieces[self._atom :], ")"]
        self._pieces.append(operator)
        self._repeated = True
        return after

    def _interval(self, index: int) -> int:
        close = "}" if self.extended else "\\}"
        end = self.pattern.find(close, index)
        body = self.pattern[index:end] if end >= 0 else ""
        low, comma, high = body.partition(",")
        valid = end >= 0 and all(set(part) <= set(string.digits) for part in (low, high)) and (low or comma)
        if not valid:
            if self.extended:
                self._plain("{")
                return index
            raise RegexError("Unmatched \\{" if end < 0 else "Invalid content of \\{\\}")
        least, most = int(low or 0), int(high) if high else None
        if most is not None and most < least:
            raise RegexError("Invalid content of \\{\\}")
        if max(least, most or 0) > _MAX_REPEAT:
            raise RegexError("Regular expression too big")
        operator = f"{{{least}}}" if not comma else f"{{{least},{'' if most is None else most}}}"
        if self._atom is None:
            if self.extended:
                return end + len(close)
            raise RegexError("Invalid preceding regular expression")
        return self._repeat(operator, end + len(close))

    def _begins(self, index: int) -> bool:
        if self.extended or index == 0:
            return True
        return self.pattern[:index].endswith(("\\(", "\\|", "\n"))

    def _ends(self, index: int) -> bool:
        rest = self.pattern[index + 1 :]
        return self.extended or not rest or rest.startswith(("\\)", "\\|", "\n"))


def bracket(pattern: str, index: int) -> tuple[str, int]:
    """Translate the bracket expression at `index`; returns its text for RE2 and where it ends."""
    position = index + 1
    out = ["["]
    if pattern[position : position + 1] == "^":
        out.append("^")
        position += 1
    first = True
    while True:
        if position >= len(pattern):
            raise RegexError("Unmatched [, [^, [:, [., or [=")
        char = pattern[position]
        if char == "]" and not first:
            return "".join([*out, "]"]), position + 1
        first = False
        if pattern.startswith(("[:", "[.", "[="), position):
            kind = pattern[position + 1]
            end = pattern.find(kind + "]", position + 2)
            if end < 0:
                raise RegexError("Unmatched [, [^, [:, [., or [=")
            name = pattern[position + 2 : end]
            position = end + 2
            if kind == ":":
                if name not in _CLASSES:
                    raise RegexError("Invalid character class name")
                out.append(f"[:{name}:]")
            else:
                out.append(_inside(name))
            continue
        position += 1
        if pattern[position : position + 1] == "-" and pattern[position + 1 : position + 2] not in ("]", ""):
            high = pattern[position + 1]
            position += 2
            if high == "[" and pattern[position : position + 1] == ".":
                end = pattern.find(".]", position)
                high = pattern[position + 1 : end]
                position = end + 2
            if high < char:
                raise RegexError("Invalid range end")
            out.append(f"{_inside(char)}-{_inside(high)}")
        else:
            out.append(_inside(char))


def _inside(text: str) -> str:
    return "".join("\\" + char if char in "\\]^-[&~|" else char for char in text)
