"""Parses sed scripts, with GNU's extensions and messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from runners.sim.commands.sed_script.escapes import numbered
from runners.sim.regexes import Regex, RegexError, basic, extended
from runners.text import is_digits


class ScriptError(Exception):
    """The script is wrong at character `at`; None: as a whole."""

    def __init__(self, message: str, at: int | None) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`kind`: line, last, regex, step, zero (only before a regex), plus (`,+N`), multiple (`,~N`)."""

    kind: str
    number: int = 0
    step: int = 0
    regex: Regex | None = None


@dataclass(slots=True, kw_only=True)
class Command:
    """One command. `target`: where a branch or a closing brace goes; filled in at the end of parsing."""

    name: str
    first: Address | None = None
    second: Address | None = None
    negated: bool = False
    text: str = ""
    number: int | None = None
    regex: Regex | None = None
    replacement: tuple[str | int, ...] = ()
    flags: frozenset[str] = frozenset()
    table: dict[int, bytes] = field(default_factory=dict)
    target: int = 0


_CASES = frozenset("ULElu")


class _Script:
    def __init__(self, text: str, extended_syntax: bool) -> None:
        self.text = text
        self.pos = 0
        self.extended = extended_syntax
        self.commands: list[Command] = []
        self.labels: dict[str, int] = {}
        self.open: list[int] = []

    def fail(self, message: str) -> ScriptError:
        return ScriptError(message, self.pos)

    def peek(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def take(self) -> str:
        char = self.peek()
        self.pos += 1
        return char

    def blanks(self) -> None:
        while self.peek() in (" ", "\t") and self.peek():
            self.pos += 1

    def run(self) -> list[Command]:
        while True:
            while self.peek() and self.peek() in " \t\n;":
                self.pos += 1
            if not self.peek():
                break
            if self.peek() == "#":
                end = self.text.find("\n", self.pos)
                self.pos = len(self.text) if end < 0 else end
                continue
            self.command()
        if self.open:
            raise ScriptError("unmatched `{'", 0)
        for command in self.commands:
            if command.name in ("b", "t", "T"):
                if command.text and command.text not in self.labels:
                    raise ScriptError(f"can't find label for jump to `{command.text}'", None)
                command.target = self.labels[command.text] if command.text else len(self.commands)
        return self.commands

    def address(self) -> Address | None:
        char = self.peek()
        if is_digits(char) and char:
            number = self.number()
            self.blanks()
            if self.peek() == "~":
                self.pos += 1
                return Address(kind="step", number=number, step=self.number())
            return Address(kind="line", number=number)
        if char == "$":
            self.pos += 1
            return Address(kind="last")
        if char in ("/", "\\") and char:
            if char == "\\":
                self.pos += 1
            delimiter = self.take()
            pattern = self.delimited(delimiter, regex=True)
            if pattern is None:
                raise self.fail("unterminated address regex")
            flags = set()
            while self.peek() and self.peek() in "IM":
                flags.add(self.take())
            return Address(kind="regex", regex=self.compile(pattern, flags))
        return None

    def number(self) -> int:
        match = re.compile(r"\d*").match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()
        return int(match.group()[:18] or 0)

    def compile(self, pattern: str, flags: set[str]) -> Regex | None:
        """None for an empty pattern, which means the last one used."""
        if pattern == "":
            return None
        maker = extended if self.extended else basic
        try:
            return maker(pattern, ignore_case="I" in flags or "i" in flags, multiline=bool(flags & {"M", "m"}))
        except RegexError as error:
            raise self.fail(str(error)) from None

    def delimited(self, delimiter: str, *, regex: bool) -> str | None:
        """Text up to the delimiter, which a backslash makes ordinary. None when it does not come."""
        out: list[str] = []
        in_bracket = False
        while self.pos < len(self.text):
            char = self.take()
            if char == delimiter and not in_bracket:
                return "".join(out)
            if char == "\n" and regex and not in_bracket:
                return None
            if char == "\\":
                following = self.take()
                if following == delimiter and not in_bracket:
                    out.append(following)
                elif following == "n" and regex:
                    out.append("\n")
                elif following == "t":
                    out.append("\t")
                elif following == "\n" and regex:
                    out.append("\n")
                elif regex and (found := numbered(self.text, self.pos - 1)) is not None:
                    char, self.pos = found
                    out.append(char)
                else:
                    out.append("\\" + following)
                continue
            if regex and char == "[" and not in_bracket:
                match = re.compile(r"\[\^?\]?(?:\[[:.=].*?[:.=]\]|\\[nt\]]|[^\]\n])*\]").match(self.text, self.pos - 1)
                if match is not None:
                    body = match.group()
                    self.pos = match.end()
                    out.append(body.replace("\\n", "\n").replace("\\t", "\t"))
                    continue
                self.pos = len(self.text)
                return None
            out.append(char)
        return None

    def command(self) -> None:
        first = self.address()
        second = None
        if first is not None:
            self.blanks()
            if self.peek() == ",":
                self.pos += 1
                self.blanks()
                if self.peek() and self.peek() in "+~":
                    kind = "plus" if self.take() == "+" else "multiple"
                    second = Address(kind=kind, number=self.number())
                else:
                    second = self.address()
                    if second is None:
                        raise self.fail("unexpected `,'")
        self.blanks()
        negated = False
        while self.peek() == "!":
            self.pos += 1
            if negated:
                raise self.fail("multiple `!'s")
            negated = True
            self.blanks()
        name = self.take()
        if first is not None and first.kind == "line" and first.number == 0:
            if second is None or second.kind != "regex":
                raise self.fail("invalid usage of line address 0")
            first = Address(kind="zero")
        if not name:
            self.pos -= 1
            raise self.fail("missing command")
        command = Command(name=name, first=first, second=second, negated=negated)
        self.body(command)
        self.commands.append(command)

    def body(self, command: Command) -> None:
        name = command.name
        if name == "{":
            self.open.append(len(self.commands))
            return
        if name == "}":
            if not self.open:
                raise self.fail("unexpected `}'")
            if command.first is not None:
                raise self.fail("} doesn't want any addresses")
            self.commands[self.open.pop()].target = len(self.commands)
            self.end()
        elif name == "s":
            self.substitute(command)
        elif name == "y":
            self.transliterate(command)
        elif name in "aic":
            command.text = self.text_argument()
        elif name in ":btT":
            self.label(command)
        elif name in "rRwW":
            self.blanks()
            end = self.text.find("\n", self.pos)
            end = len(self.text) if end < 0 else end
            command.text = self.text[self.pos : end]
            if not command.text:
                raise self.fail("missing filename in r/R/w/W commands")
            self.pos = end
        elif name in "qQlL":
            self.blanks()
            if is_digits(self.peek()):
                command.number = self.number()
            self.end()
        elif name in "=dDgGhHnNpPxzF":
            self.end()
        elif name in "ev":
            self.blanks()
            end = self.text.find("\n", self.pos)
            end = len(self.text) if end < 0 else end
            command.text = self.text[self.pos : end]
            self.pos = end
        else:
            raise self.fail(f"unknown command: `{name}'")

    def end(self) -> None:
        self.blanks()
        char = self.peek()
        if char == "}":
            return
        if char == "#":
            return
        if char and char not in ";\n":
            self.pos += 1
            raise self.fail("extra characters after command")

    def label(self, command: Command) -> None:
        self.blanks()
        if command.name == ":":
            match = re.compile(r"[^\n;]*").match(self.text, self.pos)
        else:
            match = re.compile(r"[^\s;}]*").match(self.text, self.pos)
        assert match is not None
        command.text = match.group().strip()
        self.pos = match.end()
        if command.name == ":":
            if not command.text:
                raise self.fail('":" lacks a label')
            self.labels[command.text] = len(self.commands)
        else:
            self.end()

    def text_argument(self) -> str:
        self.blanks()
        if self.peek() == "\\":
            self.pos += 1
            after = self.pos
            self.blanks()
            if self.peek() == "\n":
                self.pos += 1
            elif self.peek():
                # `a\  text`: what follows the backslash keeps its blanks.
                self.pos = after
            else:
                return ""
        elif not self.peek() or self.peek() == "\n":
            raise self.fail("expected \\ after `a', `c' or `i'")
        out: list[str] = []
        while self.pos < len(self.text):
            char = self.take()
            if char == "\\":
                following = self.take()
                out.append({"t": "\t"}.get(following, following))
            elif char == "\n":
                break
            else:
                out.append(char)
        return "".join(out) + "\n"

    def substitute(self, command: Command) -> None:
        delimiter = self.take()
        if delimiter in ("", "\n", "\\"):
            raise self.fail("unterminated `s' command")
        pattern = self.delimited(delimiter, regex=True)
        replacement = self.delimited(delimiter, regex=False) if pattern is not None else None
        if pattern is None or replacement is None:
            raise self.fail("unterminated `s' command")
        flags: set[str] = set()
        while True:
            char = self.peek()
            if char and char in "gpiIemM":
                if char in flags and char in "gp":
                    self.pos += 1
                    raise self.fail(f"multiple `{char}' options to `s' command")
                flags.add(char)
                self.pos += 1
            elif is_digits(char) and char:
                command.number = self.number()
                if command.number == 0:
                    raise self.fail("number option to `s' command may not be zero")
            elif char == "w":
                self.pos += 1
                self.blanks()
                end = self.text.find("\n", self.pos)
                end = len(self.text) if end < 0 else end
                command.text = self.text[self.pos : end]
                self.pos = end
                flags.add("w")
            else:
                break
        self.blanks()
        char = self.peek()
        if char and char not in ";\n}#":
            self.pos += 1
            raise self.fail("unknown option to `s'")
        command.regex = self.compile(pattern, flags)
        command.flags = frozenset(flags)
        command.replacement = self.replacement(replacement, command.regex)

    def replacement(self, text: str, regex: Regex | None) -> tuple[str | int, ...]:
        """Literal pieces, group numbers, and case changes as one letter behind a NUL."""
        out: list[str | int] = []
        buffer: list[str] = []
        index = 0
        while index < len(text):
            char = text[index]
            index += 1
            if char == "&":
                out += ["".join(buffer), 0]
                buffer = []
            elif char == "\\" and index < len(text):
                following = text[index]
                index += 1
                if is_digits(following):
                    number = int(following)
                    if regex is not None and number > regex.groups:
                        raise self.fail(f"invalid reference \\{number} on `s' command's RHS")
                    out += ["".join(buffer), number]
                    buffer = []
                elif (found := numbered(text, index - 1)) is not None:
                    literal, index = found
                    buffer.append(literal)
                elif following in _CASES:
                    out += ["".join(buffer), "\0" + following]
                    buffer = []
                else:
                    buffer.append({"n": "\n", "t": "\t", "r": "\r"}.get(following, following))
            else:
                buffer.append(char)
        out.append("".join(buffer))
        return tuple(piece for piece in out if piece != "")

    def transliterate(self, command: Command) -> None:
        delimiter = self.take()
        first = self.delimited(delimiter, regex=False)
        second = self.delimited(delimiter, regex=False) if first is not None else None
        if first is None or second is None:
            raise self.fail("unterminated `y' command")
        escapes = {"n": "\n", "t": "\t"}
        old, new = (re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), text) for text in (first, second))
        if len(old) != len(new):
            raise self.fail("strings for `y' command are different lengths")
        command.table = {ord(a): b.encode("utf-8", "surrogateescape") for a, b in zip(old, new, strict=True)}
        self.end()


def parse_script(text: str, *, extended: bool) -> list[Command]:
    """The commands of a script in order. Raises ScriptError."""
    return _Script(text, extended).run()
