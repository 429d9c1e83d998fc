"""Words and their quotes. A quoted character is a quoted Literal from here on; nothing later looks at quotes again."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from runners.formats.shell.ast import Literal, Part, Tilde, Word
from runners.formats.shell.grammar.words import Scan, Scanner, make_word

_PLAIN = re.compile(r"[^\s;&|()<>\\'\"`$~]+")
_PLAIN_QUOTED = re.compile(r"[^\\\"`$}]+")
_LOGIN_NAME = re.compile(r"[A-Za-z0-9_+-]*")
_META = frozenset(" \t\n;&|()<>")


@lru_cache(maxsize=64)
def _plain_until(stops: str) -> re.Pattern[str]:
    """Runs of characters that neither stop nor begin anything."""
    return re.compile(r"[^\\'\"`$~:=()?*+@!" + re.escape(stops) + "]+")


class Quoting(Scanner):
    """Words up to their end, and what stands between quotes."""

    def word(self) -> Word | None:
        """The word at `pos`, or None where an operator, blank or the end stands there."""
        src, pos = self.src, self.pos
        match = _PLAIN.match(src, pos)
        if match is not None:
            end = match.end()
            following = src[end : end + 1]
            if following == "" or (following in _META and not (following == "(" and self.extglob)):
                text = match.group()
                if following not in ("<", ">") or src[end + 1 : end + 2] != "(":
                    self.pos = end
                    return make_word([Literal(text, False)], braces=self.EXPANDED)
        parts = self.unquoted("").parts
        return make_word(parts, braces=self.EXPANDED) if parts else None

    def unquoted(self, stops: str, *, in_assignment: bool = False, pattern: bool = False) -> Scan:
        """Parts up to a metacharacter (`stops` empty) or to one of `stops` outside quotes.

        in_assignment: a tilde after `=` or `:` counts. pattern: blanks belong to it (inside `${x%…}`).
        """
        src = self.src
        parts: list[Part] = []
        buffer: list[str] = []
        plain = _plain_until(stops) if stops else _PLAIN

        def flush() -> None:
            if buffer:
                parts.append(Literal("".join(buffer), False))
                buffer.clear()

        while self.pos < len(src):
            match = plain.match(src, self.pos)
            if match is not None:
                text = match.group()
                self.pos = match.end()
                buffer.append(text)
                if (
                    in_assignment
                    and ":" not in stops
                    and text.endswith((":", "="))
                    and src[self.pos : self.pos + 1] == "~"
                ):
                    flush()
                    self._tilde(parts)
                continue
            char = src[self.pos]
            if stops and char in stops:
                flush()
                return Scan(parts, char)
            if not stops and char in _META:
                if char in "<>" and src[self.pos + 1 : self.pos + 2] == "(" and self.EXPANDED:
                    flush()
                    parts.append(self.process_substitution(char))
                    continue
                if char == "(" and self.extglob and buffer and buffer[-1][-1:] in "?*+@!":
                    self._extglob(buffer, parts, flush)
                    continue
                break
            if char == "~" and not parts and not buffer and not pattern:
                self._tilde(parts)
            elif char == "\\":
                self._escape(parts, flush)
            elif char in "'\"`$":
                self._quote_or_expansion(char, parts, buffer, flush)
            else:
                if stops and char == "(" and buffer and buffer[-1][-1:] in "?*+@!":
                    self._extglob(buffer, parts, flush)
                    continue
                buffer.append(char)
                self.pos += 1
                if in_assignment and char in ":=" and src[self.pos : self.pos + 1] == "~":
                    flush()
                    self._tilde(parts)
        flush()
        return Scan(parts, "")

    def _quote_or_expansion(self, char: str, parts: list[Part], buffer: list[str], flush: Callable[[], None]) -> None:
        if char == "'":
            flush()
            parts.append(Literal(self._single(), True))
        elif char == '"':
            flush()
            self._double(parts)
        elif char == "`":
            flush()
            parts.append(self.backquote(False))
        else:
            part = self.dollar(False)
            if type(part) is Literal and not part.quoted:
                buffer.append(part.text)
            else:
                flush()
                parts.append(part)

    def _escape(self, parts: list[Part], flush: Callable[[], None]) -> None:
        following = self.src[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if following == "\n":
            return
        flush()
        if following:
            parts.append(Literal(following, True))
        else:
            parts.append(Literal("\\", True))
            self.pos = len(self.src)

    def _extglob(self, buffer: list[str], parts: list[Part], flush: Callable[[], None]) -> None:
        """`?(a|b)` and its like: taken in as part of the word; `pos` is at the opening parenthesis."""
        start = self.pos
        self.deeper()
        buffer.append("(")
        self.pos += 1
        while True:
            scan = self.unquoted("|)", pattern=True)
            if scan.parts:
                flush()
                parts.extend(scan.parts)
            if not scan.stopped_by:
                raise self.unexpected_end(")", start)
            buffer.append(scan.stopped_by)
            self.pos += 1
            if scan.stopped_by == ")":
                self.depth -= 1
                return

    def _tilde(self, parts: list[Part]) -> None:
        self.pos += 1
        match = _LOGIN_NAME.match(self.src, self.pos)
        user = match.group() if match else ""
        following = self.src[self.pos + len(user) : self.pos + len(user) + 1]
        if following and following not in "/: \t\n;&|()<>}":
            parts.append(Literal("~", True))
            return
        self.pos += len(user)
        parts.append(Tilde(user))

    def _single(self) -> str:
        end = self.src.find("'", self.pos + 1)
        if end < 0:
            raise self.unexpected_end("'", self.pos)
        text = self.src[self.pos + 1 : end]
        self.pos = end + 1
        return text

    def _double(self, parts: list[Part]) -> None:
        start = self.pos
        self.pos += 1
        inside = self.quoted('"')
        if inside.stopped_by != '"':
            raise self.unexpected_end('"', start)
        self.pos += 1
        parts.extend(inside.parts or [Literal("", True)])

    def quoted(self, stops: str, *, escapes: str = '$`"\\\n', nested: bool = False) -> Scan:
        """Parts as between double quotes, up to one of `stops` (or the end). nested: quotes inside are dropped."""
        src = self.src
        parts: list[Part] = []
        buffer: list[str] = []
        while self.pos < len(src):
            match = _PLAIN_QUOTED.match(src, self.pos)
            if match is not None:
                buffer.append(match.group())
                self.pos = match.end()
                continue
            char = src[self.pos]
            if char in stops:
                break
            if char == "\\":
                following = src[self.pos + 1 : self.pos + 2]
                if following and (following in escapes or (following in stops)):
                    buffer.append("" if following == "\n" else following)
                    self.pos += 2
                else:
                    buffer.append("\\")
                    self.pos += 1
            elif char in "$`":
                part = self.dollar(True) if char == "$" else self.backquote(True)
                if type(part) is Literal:
                    buffer.append(part.text)
                    continue
                if buffer:
                    parts.append(Literal("".join(buffer), True))
                    buffer.clear()
                parts.append(part)
            else:
                if not (char == '"' and nested):
                    buffer.append(char)
                self.pos += 1
        stopped = src[self.pos] if self.pos < len(src) else ""
        if buffer:
            parts.append(Literal("".join(buffer), True))
        return Scan(parts, stopped)

    # -- what the next layer reads

    def dollar(self, quoted: bool) -> Part:
        """What a `$` at `pos` begins; a Literal `$` where it begins nothing."""
        raise NotImplementedError

    def backquote(self, quoted: bool) -> Part:
        """A substitution between backquotes."""
        raise NotImplementedError

    def process_substitution(self, direction: str) -> Part:
        """`<(…)` or `>(…)`."""
        raise NotImplementedError
