"""Text in double quotes and patterns: its escapes and the variables in it."""

from __future__ import annotations

import re
from collections.abc import Callable

from runners.sim.commands.perl.expressions import Changed, Joined
from runners.sim.commands.perl.nodes import Constant, Node
from runners.sim.commands.perl.values import lower, upper

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b", "f": "\f", "b": "\b"}
_NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::\w+)*|\d+|\^\w|[&`'+!?@/\\,;.0$]")
_QUANTIFIER = re.compile(r"\{\d*,?\d*\}")
_SUBSCRIPT = re.compile(r"\[(?:-?\d+|\$#?\w+(?:\s*[-+]\s*\d+)?)\]")
_CLOSING = {"[": "]", "{": "}"}
CASES: dict[str, Callable[[str], str]] = {
    "U": upper,
    "L": lower,
    "Q": lambda text: re.sub(r"([^A-Za-z0-9_])", r"\\\1", text),
    "u": lambda text: upper(text[:1]) + text[1:],
    "l": lambda text: lower(text[:1]) + text[1:],
}


class Interpolation:
    r"""Reads one text. `pattern`: escapes stay for the pattern's own reader; `read`: parses the text of a variable."""

    def __init__(self, raw: str, read: Callable[[str], Node], *, pattern: bool) -> None:
        self.raw = raw
        self.read = read
        self.pattern = pattern
        self.at = 0

    def run(self) -> Node:
        found = self._until_end()
        while self.at < len(self.raw):
            found = Joined([found, self._until_end()])
        return found

    def _until_end(self) -> Node:
        r"""Up to \E or the end."""
        parts: list[Node] = []
        pending: list[str] = []

        def plain(text: str) -> None:
            pending.append(text)

        def flush() -> None:
            if pending:
                parts.append(Constant("".join(pending)))
                pending.clear()

        while self.at < len(self.raw):
            char = self.raw[self.at]
            if char == "\\" and self.at + 1 < len(self.raw):
                letter = self.raw[self.at + 1]
                if letter == "E":
                    self.at += 2
                    break
                if letter in "ULQ":
                    self.at += 2
                    flush()
                    parts.append(Changed(CASES[letter], self._until_end()))
                elif letter in "ul" and not self.pattern:
                    self.at += 2
                    flush()
                    parts.append(Changed(CASES[letter], self._until_end()))
                    break
                else:
                    plain(self._escape(letter))
                continue
            variable = self._variable() if char in "$@" else None
            if variable is not None:
                flush()
                parts.append(variable)
                continue
            plain(char)
            self.at += 1
        flush()
        return parts[0] if len(parts) == 1 and not parts[0].many else Joined(parts) if parts else Constant("")

    def _escape(self, letter: str) -> str:
        if self.pattern:
            # A quoted delimiter is its own business too.
            self.at += 2
            return "\\" + letter
        start = self.at
        self.at += 2
        if letter == "x":
            found = re.compile(r"\{([0-9A-Fa-f]*)\}|([0-9A-Fa-f]{0,2})").match(self.raw, self.at)
            assert found is not None
            self.at = found.end()
            code = int(found[1] or found[2] or "0", 16)
            return chr(code) if code < 256 else chr(min(code, 0x10FFFF)).encode("utf-8", "replace").decode("latin-1")
        if letter in "01234567":
            octal = re.compile("[0-7]{1,3}").match(self.raw, start + 1)
            assert octal is not None
            self.at = octal.end()
            return chr(int(octal[0], 8) & 255)
        return _ESCAPES.get(letter, letter)

    def _variable(self) -> Node | None:
        """The variable that begins here with all its subscripts; None where the sign stands for itself."""
        raw, start = self.raw, self.at
        sigil, at = raw[start], start + 1
        if sigil == "$" and raw.startswith("#", at) and at + 1 < len(raw) and raw[at + 1] in "{$_" + _LETTERS:
            at += 1
        while at < len(raw) and raw[at] == "$" and at + 1 < len(raw) and raw[at + 1] in "{_$" + _LETTERS:
            at += 1
        if at >= len(raw):
            return None
        if raw[at] == "{":
            end = self._closed(at)
            if end is None:
                return None
        else:
            found = _NAME.match(raw, at)
            if found is None or (sigil == "@" and found[0][0] not in "_:" + _LETTERS):
                return None
            if self.pattern and found[0][0] in "!?@/\\,;.`'+$":
                return None
            end = found.end()
        end = self._subscripts(end)
        self.at = end
        return self.read(re.sub(r"^([$@]#?)\{(\^?\w+)\}", r"\1\2", raw[start:end]))

    def _subscripts(self, at: int) -> int:
        raw = self.raw
        while at < len(raw):
            arrow = 2 if raw.startswith("->", at) and at + 2 < len(raw) and raw[at + 2] in "[{" else 0
            opening = raw[at + arrow] if at + arrow < len(raw) else ""
            if opening == "[" and not arrow and not _SUBSCRIPT.match(raw, at) and self.pattern:
                break
            if opening == "[" and not arrow and not re.match(r"\[\s*[-\w$@]", raw[at:]):
                break
            if opening == "{" and self.pattern and not arrow and _QUANTIFIER.match(raw, at):
                break
            if opening not in ("[", "{"):
                break
            end = self._closed(at + arrow)
            if end is None:
                break
            at = end
        return at

    def _closed(self, at: int) -> int | None:
        """Behind the bracket that closes the one here."""
        opening, closing, depth = self.raw[at], _CLOSING[self.raw[at]], 0
        while at < len(self.raw):
            if self.raw[at] == "\\":
                at += 1
            elif self.raw[at] == opening:
                depth += 1
            elif self.raw[at] == closing:
                depth -= 1
                if not depth:
                    return at + 1
            at += 1
        return None


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
