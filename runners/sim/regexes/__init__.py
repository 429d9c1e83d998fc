"""POSIX regular expressions as GNU tools read them, on bytes.

Basic and extended expressions are translated for RE2 (linear time, leftmost-longest). Only back-references and Perl
expressions need a backtracking engine, which counts its steps and ends the command when they run away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import pcre2
import re2

from runners.sim.regexes.backtracking import Backtracking, BacktrackingLimit, is_text
from runners.sim.regexes.translation import RegexError, Translator, quote


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

    __slots__ = ("_backtracking", "_linear", "groups", "literal")

    def __init__(
        self,
        *,
        groups: int = 0,
        literal: bytes | None = None,
        linear: Any = None,
        backtracking: Backtracking | None = None,
    ) -> None:
        self.groups = groups
        self.literal = literal
        self._linear = linear
        self._backtracking = backtracking

    def test(self, data: bytes) -> bool:
        """Does it match anywhere in `data`?"""
        if self.literal is not None:
            return self.literal in data
        if self._backtracking is not None:
            return self._backtracking.search(data, 0) is not None
        return self._linear.search(data) is not None

    def search(self, data: bytes, start: int = 0) -> Match | None:
        """The first (and longest) match at or after `start`; `^` means the beginning of `data`, not `start`."""
        if self.literal is not None:
            at = data.find(self.literal, start)
            return None if at < 0 else Match(data, ((at, at + len(self.literal)),))
        if self._backtracking is not None:
            spans = self._backtracking.search(data, start)
            return None if spans is None else Match(data, spans)
        found = self._linear.search(data, start)
        if found is None:
            return None
        return Match(data, tuple(found.span(number) for number in range(self.groups + 1)))

    def cost(self, data: bytes) -> int:
        """Steps that each search in this text takes for its length alone, wherever it begins."""
        return 0 if self._backtracking is None or data.isascii() else len(data) >> 9

    def _searching(self, data: bytes) -> Callable[[int], Match | None]:
        if self._backtracking is None:
            return partial(self.search, data)
        search = self._backtracking.searching(data)

        def found(start: int) -> Match | None:
            spans = search(start)
            return None if spans is None else Match(data, spans)

        return found

    def iterate(self, data: bytes) -> Iterator[Match]:
        """All matches from left to right, without overlap. An empty match next to the one before does not count."""
        position, previous_end = 0, -1
        search = self._searching(data)
        while position <= len(data):
            found = search(position)
            if found is None:
                return
            if found.end > found.start:
                yield found
                position = previous_end = found.end
                continue
            if found.start != previous_end:
                yield found
            position = found.start + 1


@lru_cache(maxsize=1024)
def basic(pattern: str, *, ignore_case: bool = False, multiline: bool = False) -> Regex:
    """A basic regular expression (grep, sed, expr). Raises RegexError."""
    return _compile(Translator(pattern, extended=False, multiline=multiline), ignore_case, multiline)


@lru_cache(maxsize=1024)
def extended(pattern: str, *, ignore_case: bool = False, multiline: bool = False) -> Regex:
    """An extended regular expression (grep -E, sed -E, awk, [[ =~ ]]). Raises RegexError."""
    return _compile(Translator(pattern, extended=True, multiline=multiline), ignore_case, multiline)


@lru_cache(maxsize=256)
def perl(pattern: str, *, ignore_case: bool = False, flags: str = "") -> Regex:
    r"""A Perl expression (grep -P, perl), whose `\w` and `\d` are ASCII. `flags`: of m, s, x. Raises RegexError."""
    chosen = pcre2.ASCII | (pcre2.IGNORECASE if ignore_case else pcre2.NOFLAG)
    for letter, flag in (("m", pcre2.MULTILINE), ("s", pcre2.DOTALL), ("x", pcre2.VERBOSE)):
        chosen |= flag if letter in flags else pcre2.NOFLAG
    engine = Backtracking(pattern, chosen, longest=False)
    return Regex(groups=engine.groups, backtracking=engine)


@lru_cache(maxsize=1024)
def fixed(text: str, *, ignore_case: bool = False) -> Regex:
    """Plain text (grep -F)."""
    if not ignore_case:
        return Regex(literal=text.encode("utf-8", "surrogateescape"))
    return _compile_linear("".join(quote(char) for char in text), True, False, 0)


def _compile(translator: Translator, ignore_case: bool, multiline: bool) -> Regex:
    translated = translator.run()
    if translator.literal is not None and not ignore_case:
        return Regex(literal=translator.literal.encode("utf-8", "surrogateescape"))
    if not translator.references:
        return _compile_linear(translated, ignore_case, multiline, translator.groups)
    flags = pcre2.DOTALL
    flags |= pcre2.IGNORECASE if ignore_case else pcre2.NOFLAG
    flags |= pcre2.MULTILINE if multiline else pcre2.NOFLAG
    try:
        return Regex(groups=translator.groups, backtracking=Backtracking(translated, flags, longest=True))
    except RegexError:
        raise RegexError("Invalid preceding regular expression") from None


def _compile_linear(pattern: str, ignore_case: bool, multiline: bool, groups: int) -> Regex:
    options = re2.Options()
    options.longest_match = True
    options.log_errors = False
    options.dot_nl = True
    options.case_sensitive = not ignore_case
    data = pattern.encode("utf-8", "surrogateescape")
    if not is_text(data):
        options.encoding = re2.Options.Encoding.LATIN1
    try:
        engine = re2.compile((b"(?m)" if multiline else b"") + data, options)
    except re2.error:
        raise RegexError("Regular expression too big") from None
    return Regex(groups=groups, linear=engine)


__all__ = ["BacktrackingLimit", "Match", "Regex", "RegexError", "basic", "extended", "fixed", "perl", "quote"]
