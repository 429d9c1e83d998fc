"""Rewrites basic and extended POSIX expressions for the engines that carry them out.

RE2 and PCRE2 read what comes out in the same way, except for back-references, which only PCRE2 knows.
"""

from __future__ import annotations

import string

_MAX_REPEAT = 1000
_CLASSES = frozenset(
    {"alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "print", "graph", "cntrl", "xdigit"}
)
_SIMPLE_ESCAPES = {"w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B"}
_ANCHOR_ESCAPES = {"<": r"\b", ">": r"\b", "`": r"\A", "'": r"\z"}
_SPECIAL = frozenset("\\.[]{}()*+?^$|")


class RegexError(ValueError):
    """The pattern is wrong; the text is GNU's message."""


def quote(char: str) -> str:
    """One character as itself in an expression."""
    return "\\" + char if char in _SPECIAL else char


class Translator:
    """Rewrites one POSIX expression. `literal` is set after `run` when nothing in it was special."""

    def __init__(self, pattern: str, *, extended: bool, multiline: bool) -> None:
        self.pattern = pattern
        self.extended = extended
        # PCRE2's `$` also stands before a newline at the very end, which POSIX does not know.
        self._end = "$" if multiline else r"\z"
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
                self._anchor(self._end)
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
            self._emit(f"\\g{{{char}}}")
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
