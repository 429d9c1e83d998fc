"""Reads words: quoting, expansions, here-document bodies. The grammar above them is in `parser`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from runners.sim.shell.ast import (
    ArithmeticSubstitution,
    BadSubstitution,
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Program,
    Tilde,
    Word,
)
from runners.sim.shell.braces import few_alternatives, has_braces

MAX_NESTING = 150
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")
_PLAIN = re.compile(r"[^\s;&|()<>\\'\"`$~]+")
_PLAIN_QUOTED = re.compile(r"[^\\\"`$}]+")
_ARITHMETIC_PLAIN = re.compile(r"[^\\'\"`$()\[\]:;{}]+")
_META = frozenset(" \t\n;&|()<>")
_GLOB = re.compile(r"[*?]|\[.*\]|[+@!]\(", re.DOTALL)
_ANSI = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_FOUR_HEX = re.compile(r"[0-9A-Fa-f]{1,4}")
_EIGHT_HEX = re.compile(r"[0-9A-Fa-f]{1,8}")
_DEFAULTS = frozenset({":-", "-", ":=", "=", ":?", "?", ":+", "+"})


class ShellSyntaxError(Exception):
    """The text does not parse. `at`: the position it is about; `shown`: bash repeats the line after the message."""

    def __init__(self, message: str, at: int, *, shown: bool = True, incomplete: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.shown = shown
        self.incomplete = incomplete


class _Scan(NamedTuple):
    parts: list[Part]
    stopped_by: str


@lru_cache(maxsize=64)
def _plain_until(stops: str) -> re.Pattern[str]:
    """Runs of characters that neither stop nor begin anything."""
    return re.compile(r"[^\\'\"`$~:=()?*+@!" + re.escape(stops) + "]+")


def glob_free(text: str) -> bool:
    return not _GLOB.search(text)


def make_word(parts: list[Part]) -> Word:
    """A word from its parts, with what is known about it beforehand."""
    only = parts[0] if len(parts) == 1 else None
    if type(only) is Literal and (only.quoted or (not has_braces(only.text) and glob_free(only.text))):
        return Word((only,), only.text)
    merged = tuple(parts)
    unquoted = "".join(part.text if not part.quoted else "\0" for part in merged if isinstance(part, Literal))
    if has_braces(unquoted):
        return Word(merged, None, True, few_alternatives(merged))
    if all(type(part) is Literal for part in merged) and glob_free(unquoted):
        return Word(merged, "".join(part.text for part in merged if isinstance(part, Literal)))
    return Word(merged, None)


def text_word(text: str) -> Word:
    """A word that is this text, whatever is in it."""
    return Word((Literal(text, True),), text)


class WordParser:
    """Position `pos` in `src`, and everything about words."""

    def __init__(self, src: str, *, extglob: bool = False, depth: int = 0) -> None:
        self.src = src
        self.pos = 0
        self.extglob = extglob
        self.depth = depth

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ShellSyntaxError("memory exhausted", self.pos, shown=False)

    def unexpected_end(self, closer: str, start: int) -> ShellSyntaxError:
        return ShellSyntaxError(
            f"unexpected EOF while looking for matching `{closer}'", start, shown=False, incomplete=True
        )  # fmt: skip

    # -- words

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
                    return make_word([Literal(text, False)])
        parts = self.unquoted("").parts
        return make_word(parts) if parts else None

    def unquoted(self, stops: str, *, in_assignment: bool = False, pattern: bool = False) -> _Scan:
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
                return _Scan(parts, char)
            if not stops and char in _META:
                if char in "<>" and src[self.pos + 1 : self.pos + 2] == "(":
                    flush()
                    parts.append(self._process_substitution(char))
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
        return _Scan(parts, "")

    def _quote_or_expansion(self, char: str, parts: list[Part], buffer: list[str], flush: object) -> None:
        assert callable(flush)
        if char == "'":
            flush()
            parts.append(Literal(self._single(), True))
        elif char == '"':
            flush()
            self._double(parts)
        elif char == "`":
            flush()
            parts.append(self._backquote(False))
        else:
            part = self.dollar(False)
            if type(part) is Literal and not part.quoted:
                buffer.append(part.text)
            else:
                flush()
                parts.append(part)

    def _escape(self, parts: list[Part], flush: object) -> None:
        assert callable(flush)
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

    def _extglob(self, buffer: list[str], parts: list[Part], flush: object) -> None:
        """`?(a|b)` and its like: taken in as part of the word; `pos` is at the opening parenthesis."""
        assert callable(flush)
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
        match = re.compile(r"[A-Za-z0-9_+-]*").match(self.src, self.pos)
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

    def quoted(self, stops: str, *, escapes: str = '$`"\\\n', nested: bool = False) -> _Scan:
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
                part = self.dollar(True) if char == "$" else self._backquote(True)
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
        return _Scan(parts, stopped)

    # -- expansions

    def dollar(self, quoted: bool) -> Part:
        """What a `$` at `pos` begins; a Literal `$` where it begins nothing."""
        src = self.src
        following = src[self.pos + 1 : self.pos + 2]
        match = NAME.match(src, self.pos + 1)
        if match is not None:
            self.pos = match.end()
            return Parameter(match.group(), None, "", None, None, False, quoted)
        if following == "{":
            return self._braced(quoted)
        if following == "(":
            return self._parenthesised(quoted)
        if following and following in "0123456789@*#?-$!":
            self.pos += 2
            return Parameter(following, None, "", None, None, False, quoted)
        if following == "'" and not quoted:
            return self._ansi()
        if following == '"' and not quoted:
            self.pos += 1
            start = self.pos
            self.pos += 1
            inside = self.quoted('"')
            if inside.stopped_by != '"':
                raise self.unexpected_end('"', start)
            self.pos += 1
            return Literal("".join(part.text for part in inside.parts if isinstance(part, Literal)), True)
        if following == "[":
            start = self.pos
            self.pos += 2
            expression = self.arithmetic("]")
            if expression is None:
                raise self.unexpected_end("]", start)
            return ArithmeticSubstitution(expression, quoted)
        self.pos += 1
        return Literal("$", quoted)

    def _parenthesised(self, quoted: bool) -> Part:
        start = self.pos
        if self.src.startswith("$((", self.pos):
            self.pos += 3
            expression = self.arithmetic("))")
            if expression is not None:
                return ArithmeticSubstitution(expression, quoted)
            self.pos = start
        self.pos += 2
        return CommandSubstitution(self.substituted(start), quoted)

    def substituted(self, start: int) -> Program:
        """The commands of `$(`…`)`; `pos` is behind the opening and moves behind the closing parenthesis."""
        raise NotImplementedError

    def subprogram(self, text: str) -> Program:
        """The commands of a text of its own (between backquotes)."""
        raise NotImplementedError

    def _process_substitution(self, direction: str) -> Part:
        start = self.pos
        self.pos += 2
        return ProcessSubstitution(direction, self.substituted(start))

    def _backquote(self, quoted: bool) -> Part:
        src, start = self.src, self.pos
        out: list[str] = []
        position = start + 1
        while position < len(src) and src[position] != "`":
            if src[position] == "\\" and src[position + 1 : position + 2] in ("`", "\\", "$", '"' if quoted else "`"):
                out.append(src[position + 1])
                position += 2
                continue
            out.append(src[position])
            position += 1
        if position >= len(src):
            raise self.unexpected_end("`", start)
        self.pos = position + 1
        return CommandSubstitution(self.subprogram("".join(out)), quoted)

    def _ansi(self) -> Literal:
        src, start = self.src, self.pos
        position = start + 2
        out: list[str] = []
        while True:
            if position >= len(src):
                raise self.unexpected_end("'", start)
            char = src[position]
            if char == "'":
                break
            if char != "\\":
                out.append(char)
                position += 1
                continue
            text, position = ansi_escape(src, position + 1)
            out.append(text)
        self.pos = position + 1
        return Literal("".join(out), True)

    def arithmetic(self, closer: str) -> Word | None:
        """An expression up to `closer` (`))`, `]`, `;`, `:` or `}`) outside parentheses; None where none comes."""
        src = self.src
        parts: list[Part] = []
        buffer: list[str] = []
        depth = 0
        self.deeper()
        while self.pos < len(src):
            match = _ARITHMETIC_PLAIN.match(src, self.pos)
            if match is not None:
                buffer.append(match.group())
                self.pos = match.end()
                continue
            if depth == 0 and src.startswith(closer, self.pos):
                self.pos += len(closer)
                if buffer:
                    parts.append(Literal("".join(buffer), True))
                self.depth -= 1
                return Word(tuple(parts), "".join(buffer) if all(type(part) is Literal for part in parts) else None)
            char = src[self.pos]
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth -= 1
                if depth < 0:
                    break
            elif char == "?" and closer == ":":
                depth += 1
            if char == "\\":
                buffer.append("" if src[self.pos + 1 : self.pos + 2] == "\n" else src[self.pos + 1 : self.pos + 2])
                self.pos += 2
            elif char in "$`":
                part = self.dollar(True) if char == "$" else self._backquote(True)
                if type(part) is Literal:
                    buffer.append(part.text)
                    continue
                if buffer:
                    parts.append(Literal("".join(buffer), True))
                    buffer.clear()
                parts.append(part)
            else:
                if char not in "\"'":
                    buffer.append(char)
                self.pos += 1
        self.depth -= 1
        return None

    # -- ${…}

    def _braced(self, quoted: bool) -> Part:
        src, start = self.src, self.pos
        self.deeper()
        try:
            self.pos += 2
            length = indirect = False
            following = src[self.pos : self.pos + 1]
            if following == "#" and re.compile(r"[A-Za-z_0-9@*?!$#-][A-Za-z_0-9]*(\[|\})").match(src, self.pos + 1):
                length = True
                self.pos += 1
            elif following == "!" and re.compile(r"[A-Za-z_0-9@*#?]").match(src, self.pos + 1):
                indirect = True
                self.pos += 1
            name = self._parameter_name()
            if name is None:
                return self._bad(start)
            subscript = None
            if src[self.pos : self.pos + 1] == "[" and NAME.match(name):
                subscript = self.subscript()
            if length:
                if src[self.pos : self.pos + 1] != "}":
                    return self._bad(start)
                self.pos += 1
                return Parameter(name, subscript, "length", None, None, indirect, quoted)
            if indirect and src[self.pos : self.pos + 2] in ("*}", "@}"):
                kind = src[self.pos]
                self.pos += 2
                return Parameter(name, None, "prefix" + kind, None, None, False, quoted)
            return self._operation(name, subscript, indirect, quoted, start)
        finally:
            self.depth -= 1

    def _parameter_name(self) -> str | None:
        src = self.src
        match = NAME.match(src, self.pos) or _DIGITS.match(src, self.pos)
        if match is not None:
            self.pos = match.end()
            return match.group()
        char = src[self.pos : self.pos + 1]
        if char and char in "@*#?-$!":
            self.pos += 1
            return char
        return None

    def subscript(self) -> Word:
        """`[…]` at `pos`."""
        start = self.pos
        self.pos += 1
        if self.src[self.pos : self.pos + 2] in ("@]", "*]"):
            self.pos += 2
            return text_word(self.src[self.pos - 2])
        scan = self.unquoted("]")
        inside = scan.parts
        # Brackets in an expression, as in a[b[0]].
        while scan.stopped_by == "]" and _open_brackets(inside) > 0:
            self.pos += 1
            scan = self.unquoted("]")
            inside = [*inside, Literal("]", False), *scan.parts]
        if scan.stopped_by != "]":
            raise self.unexpected_end("]", start)
        self.pos += 1
        literal = "".join(part.text for part in inside if isinstance(part, Literal))
        return Word(tuple(inside), literal if all(type(part) is Literal for part in inside) else None)

    def _operation(self, name: str, subscript: Word | None, indirect: bool, quoted: bool, start: int) -> Part:
        src = self.src
        char = src[self.pos : self.pos + 1]
        if char == "}":
            self.pos += 1
            return Parameter(name, subscript, "", None, None, indirect, quoted)
        operator = src[self.pos : self.pos + 2]
        if operator in (":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,"):
            self.pos += 2
        elif char and char in "-=?+#%/^,":
            operator = char
            self.pos += 1
        elif char == ":":
            return self._substring(name, subscript, indirect, quoted, start)
        elif char == "@" and src[self.pos + 1 : self.pos + 2] in tuple("QEPAaKkULu"):
            operator = src[self.pos : self.pos + 2]
            self.pos += 2
            if src[self.pos : self.pos + 1] != "}":
                return self._bad(start)
            self.pos += 1
            return Parameter(name, subscript, operator, None, None, indirect, quoted)
        else:
            return self._bad(start)
        second = None
        if operator in _DEFAULTS and quoted:
            scan = self.quoted("}", nested=True)
            argument = Word(tuple(scan.parts), None)
        elif operator.startswith("/"):
            scan = self.unquoted("/}", pattern=True)
            argument = Word(tuple(scan.parts), None)
            if scan.stopped_by == "/" and not scan.parts and operator == "/":
                # An empty pattern; what follows is the replacement.
                pass
            if scan.stopped_by == "/":
                self.pos += 1
                scan = self.unquoted("}", pattern=True)
                second = Word(tuple(scan.parts), None)
        else:
            scan = self.unquoted("}", pattern=operator not in _DEFAULTS)
            argument = Word(tuple(scan.parts), None)
        if scan.stopped_by != "}":
            raise self.unexpected_end("}", start)
        self.pos += 1
        return Parameter(name, subscript, operator, argument, second, indirect, quoted)

    def _substring(self, name: str, subscript: Word | None, indirect: bool, quoted: bool, start: int) -> Part:
        self.pos += 1
        begin = self.pos
        offset = self.arithmetic(":")
        second = None
        if offset is not None:
            second = self.arithmetic("}")
            if second is None:
                raise self.unexpected_end("}", start)
        else:
            self.pos = begin
            offset = self.arithmetic("}")
            if offset is None:
                raise self.unexpected_end("}", start)
        return Parameter(name, subscript, ":", offset, second, indirect, quoted)

    def _bad(self, start: int) -> Part:
        depth = 0
        position = start + 1
        while position < len(self.src):
            char = self.src[position]
            depth += (char == "{") - (char == "}")
            position += 1
            if depth == 0:
                self.pos = position
                return BadSubstitution(self.src[start:position])
        raise self.unexpected_end("}", start)


def _open_brackets(parts: list[Part]) -> int:
    text = "".join(part.text for part in parts if isinstance(part, Literal) and not part.quoted)
    return text.count("[") - text.count("]")


def ansi_escape(src: str, position: int) -> tuple[str, int]:
    """The escape after a backslash in `$'…'` (and `printf %b`, `echo -e`): its text, and where it ends."""
    char = src[position : position + 1]
    if char in _ANSI:
        return _ANSI[char], position + 1
    if char == "x":
        match = re.compile(r"[0-9A-Fa-f]{1,2}").match(src, position + 1)
        if match is not None:
            return _byte(int(match.group(), 16)), match.end()
    if char in ("u", "U"):
        match = (_FOUR_HEX if char == "u" else _EIGHT_HEX).match(src, position + 1)
        if match is not None:
            code = int(match.group(), 16)
            return (chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""), match.end()
    if char == "c" and position + 1 < len(src):
        return chr(ord(src[position + 1]) & 0x1F), position + 2
    match = re.compile(r"[0-7]{1,3}").match(src, position)
    if match is not None:
        return _byte(int(match.group(), 8) & 0xFF), match.end()
    return "\\" + char, position + 1


def _byte(value: int) -> str:
    return chr(value) if value < 0x80 else bytes([value]).decode("utf-8", "surrogateescape")
