"""What begins with `$`, a backquote or `<(`. A `${…}` that makes no sense is kept as it is, and fails when expanded."""

from __future__ import annotations

import re

from runners.formats.shell.ast import (
    ArithmeticSubstitution,
    BadSubstitution,
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Program,
    Word,
)
from runners.formats.shell.grammar.quoting import Quoting
from runners.formats.shell.grammar.words import NAME, ansi_escape, text_word

_DIGITS = re.compile(r"[0-9]+")
_ARITHMETIC_PLAIN = re.compile(r"[^\\'\"`$()\[\]:;{}]+")
_MEASURED = re.compile(r"[A-Za-z_0-9@*?!$#-][A-Za-z_0-9]*(\[|\})")
_INDIRECT = re.compile(r"[A-Za-z_0-9@*#?]")
_DEFAULTS = frozenset({":-", "-", ":=", "=", ":?", "?", ":+", "+"})


class Expansions(Quoting):
    """Parameters, arithmetic and substitutions, as parts of a word."""

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

    def process_substitution(self, direction: str) -> Part:
        start = self.pos
        self.pos += 2
        return ProcessSubstitution(direction, self.substituted(start))

    def backquote(self, quoted: bool) -> Part:
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
                part = self.dollar(True) if char == "$" else self.backquote(True)
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
            if following == "#" and _MEASURED.match(src, self.pos + 1):
                length = True
                self.pos += 1
            elif following == "!" and _INDIRECT.match(src, self.pos + 1):
                indirect = True
                self.pos += 1
            name = self._parameter_name()
            if name is None:
                return self.bad(start)
            subscript = None
            if src[self.pos : self.pos + 1] == "[" and NAME.match(name):
                subscript = self.subscript()
            if length:
                if src[self.pos : self.pos + 1] != "}":
                    return self.bad(start)
                self.pos += 1
                return Parameter(name, subscript, "length", None, None, indirect, quoted)
            if indirect and src[self.pos : self.pos + 2] in ("*}", "@}"):
                kind = src[self.pos]
                self.pos += 2
                return Parameter(name, None, "prefix" + kind, None, None, False, quoted)
            return self.operation(name, subscript, indirect, quoted, start)
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

    def operation(self, name: str, subscript: Word | None, indirect: bool, quoted: bool, start: int) -> Part:
        """What stands behind the name in `${…}`, whose beginning is at `start`."""
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
                return self.bad(start)
            self.pos += 1
            return Parameter(name, subscript, operator, None, None, indirect, quoted)
        else:
            return self.bad(start)
        second = None
        if operator in _DEFAULTS and quoted:
            scan = self.quoted("}", nested=True)
            argument = Word(tuple(scan.parts), None)
        elif operator.startswith("/"):
            scan = self.unquoted("/}", pattern=True)
            argument = Word(tuple(scan.parts), None)
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

    def bad(self, start: int) -> Part:
        """A `${…}` that makes no sense."""
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
