"""Expressions that need a backtracking engine: Perl's own, and POSIX ones with back-references.

PCRE2 counts the steps of a match itself and gives up at a number, not at a time: a search that runs away ends at the
same place on every machine. Its just-in-time compiler counts otherwise on other processors, and stays off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pcre2

from runners.sim.budget import BudgetExceeded
from runners.sim.regexes.translation import RegexError

Spans = tuple[tuple[int, int], ...]

_STEPS = 1_000_000
"""What one search may take, in PCRE2's own count: about 20 milliseconds."""
_LIMITS = f"(*LIMIT_MATCH={_STEPS})(*LF)".encode()
_AT_THE_END = b"(?C1)"


class BacktrackingLimit(BudgetExceeded):
    """The search took more steps than it may."""


class Backtracking:
    """A pattern for PCRE2 on bytes.

    longest: the longest of the leftmost matches, as POSIX wants it, instead of the first. Texts that are no UTF-8 are
    searched byte by byte.
    """

    __slots__ = ("_bytewise", "_engine", "_flags", "_longest", "_pattern", "groups")

    def __init__(self, pattern: str, flags: pcre2.RegexFlag, *, longest: bool) -> None:
        self._pattern = pattern.encode("utf-8", "surrogateescape")
        self._flags = flags
        self._longest = longest
        self._engine = self._compiled(pcre2.UNICODE) if is_text(self._pattern) else self._compiled(pcre2.NOFLAG)
        self._bytewise: Any = None
        self.groups: int = self._engine.groups

    def _compiled(self, encoding: pcre2.RegexFlag) -> Any:
        pattern = b"(?:" + self._pattern + b")" + _AT_THE_END if self._longest else self._pattern
        try:
            return pcre2.compile(_LIMITS + pattern, self._flags | encoding, jit=False)
        except pcre2.PatternError as error:
            raise RegexError(error.msg.partition("; ")[2]) from None

    def search(self, data: bytes, start: int) -> Spans | None:
        """Where the whole and each group matched at or after `start`; BacktrackingLimit when it runs away."""
        return self.searching(data)(start)

    def searching(self, data: bytes) -> Callable[[int], Spans | None]:
        """`search` in one text from several places, which is looked at only once."""
        engine = self._engine_for(data)

        def search(start: int) -> Spans | None:
            if self._longest:
                return _longest_match(engine, data, start)
            try:
                found = engine.search(data, start)
            except pcre2.LibraryError:
                raise BacktrackingLimit from None
            return None if found is None else tuple(found.span(number) for number in range(self.groups + 1))

        return search

    def _engine_for(self, data: bytes) -> Any:
        """Byte by byte wherever that is the same: for characters, PCRE2 reads the whole text again in each search."""
        if is_text(data) and not (data.isascii() and self._pattern.isascii()):
            return self._engine
        self._bytewise = self._bytewise or self._compiled(pcre2.NOFLAG)
        return self._bytewise


def is_text(data: bytes) -> bool:
    """Is it UTF-8?"""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _longest_match(engine: Any, data: bytes, start: int) -> Spans | None:
    """Have every match at the leftmost place go by, each refused at its end, and keep the longest.

    What was found when the steps run out counts: so does the first of them.
    """
    best: Spans | None = None

    def at_the_end(block: Any) -> pcre2.CalloutReturn:
        nonlocal best
        low, high = block.span()
        if best is not None and low != best[0][0]:
            return pcre2.CalloutReturn.ABORT
        if best is None or high > best[0][1]:
            best = ((low, high), *(block.span(number) for number in range(1, engine.groups + 1)))
        return pcre2.CalloutReturn.ABORT if high == len(data) else pcre2.CalloutReturn.FAIL

    engine.callout = at_the_end
    try:
        engine.search(data, start)
    except pcre2.LibraryError:
        if best is None:
            raise BacktrackingLimit from None
    finally:
        engine.callout = None
    return best
