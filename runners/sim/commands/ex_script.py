"""The ex commands of vim, without a screen: a buffer of lines, addresses, substitutions, writing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runners.sim.commands.context import Context
from runners.sim.regexes import Match, Regex, RegexError, basic, extended
from runners.text import is_digits

_COMMAND = re.compile(r"([a-zA-Z]+|[=&!<>@#])?(!?)[ \t]*(.*)", re.DOTALL)
_NAMES = (
    ("s", 1, "substitute"), ("d", 1, "delete"), ("p", 1, "print"), ("g", 1, "global"), ("v", 1, "vglobal"),
    ("w", 1, "write"), ("wq", 2, "wq"), ("wqa", 3, "wqall"), ("wqa", 3, "wqa"), ("x", 1, "xit"), ("x", 2, "xall"),
    ("q", 1, "quit"), ("qa", 2, "qall"), ("a", 1, "append"), ("i", 1, "insert"), ("c", 1, "change"), ("m", 1, "move"),
    ("t", 1, "t"), ("t", 2, "copy"), ("j", 1, "join"), ("r", 1, "read"), ("set", 2, "set"), ("nu", 2, "number"),
    ("w", 3, "update"), ("k", 1, "k"), ("set", 3, "syntax"), ("noh", 3, "nohlsearch"),
)  # fmt: skip
"""What a name means, how many of its letters are enough, and the whole name."""


class ExError(Exception):
    """A command that vim refuses; in silent mode it says nothing and ends with 1."""


class Quit(Exception):  # noqa: N818 (not an error)
    """The end of the editor."""


class Buffer:
    """One file being edited. `current`: the line that `.` is, counted from 1; `failed`: was a command refused?"""

    def __init__(self, ctx: Context, name: str | None) -> None:
        self.ctx = ctx
        self.name = name
        self.lines: list[str] = []
        self.failed = False
        self.silent = False
        self.last_pattern = ""
        self.newline = True
        if name is not None and ctx.files.exists(name):
            text = ctx.files.read(name).decode("utf-8", "surrogateescape")
            self.newline = text.endswith("\n") or not text
            self.lines = text.removesuffix("\n").split("\n") if text else []
        self.current = 1

    # -- commands

    def script(self, texts: Sequence[str]) -> None:
        """Run commands; `texts` holds the lines that a, i and c read on from too."""
        pending = list(texts)
        while pending:
            try:
                self.run(pending.pop(0), pending)
            except (ExError, OSError):
                self.failed = True

    def run(self, line: str, following: list[str]) -> None:
        self.ctx.spend(5)
        line = line.lstrip(" \t:")
        if not line or line.startswith('"'):
            return
        addresses, rest = self._addresses(line)
        found = _COMMAND.match(rest.lstrip())
        assert found is not None
        word, bang, argument = found[1] or "", bool(found[2]), found[3]
        name = _meaning(word)
        if not word:
            self._go(addresses)
            return
        if name is None:
            # `s` and its like may be followed by anything at once.
            name, argument = _glued(rest.lstrip())
            bang = False
        if name in ("g", "v"):
            self._global(addresses, argument, (name == "v") != bang)
            return
        if name not in ("s", "a", "i", "c", "r", "set") and "|" in argument:
            argument, _, after = argument.partition("|")
            following.insert(0, after)
        self._one(name, bang, argument.strip() if name not in ("s", "a", "i", "c") else argument, addresses, following)

    def _one(self, name: str, bang: bool, argument: str, addresses: list[int], following: list[str]) -> None:
        first, last = self._range(addresses)
        if name == "s":
            following[:0] = self._substitute(first, last, argument)
        elif name == "d":
            self._check(first, last)
            del self.lines[first - 1 : last]
            self.current = max(min(first, len(self.lines)), 1)
        elif name in ("p", "nu"):
            self._check(first, last)
            for number in range(first, last + 1):
                shown = self.lines[number - 1]
                self.ctx.line(f"{number:>3} {shown}" if name == "nu" else shown)
            self.current = last
        elif name in ("a", "i", "c"):
            self._insert(name, first, last, following)
        elif name in ("m", "t"):
            self._transfer(name, first, last, argument)
        elif name == "j":
            last = min(last if len(addresses) > 1 else first + 1, len(self.lines))
            joined = [self.lines[first - 1], *(one.lstrip() for one in self.lines[first:last])]
            self.lines[first - 1 : last] = [joined[0] if bang else " ".join(joined)]
        elif name == "r":
            text = self.ctx.files.text(argument.strip()).removesuffix("\n").split("\n")
            at = addresses[-1] if addresses else self.current
            self.lines[at:at] = text
        elif name in ("w", "wq", "x", "wqa"):
            self._write(argument, addresses)
            if name != "w":
                raise Quit
        elif name in ("q", "qa"):
            raise Quit
        # set, noh, k: settings of a screen that is not there.

    def _global(self, addresses: list[int], argument: str, inverted: bool) -> None:
        if not argument:
            raise ExError
        delimiter = argument[0]
        parts = _split(argument[1:], delimiter, 1)
        pattern = self._compiled(parts[0], False)
        command = parts[1] if len(parts) > 1 and parts[1] else "p"
        first, last = self._range(addresses or [1, len(self.lines)])
        marked = [line for line in range(first, last + 1) if pattern.test(_bytes(self.lines[line - 1])) != inverted]
        if not marked:
            raise ExError
        before = len(self.lines)
        for number in marked:
            self.current = max(number - (before - len(self.lines)), 1)
            self.run(command, [])

    def _substitute(self, first: int, last: int, argument: str) -> list[str]:
        """What stands behind a bar after it is given back."""
        if not argument or argument[0].isalnum():
            raise ExError
        self._check(first, last)
        parts = _split(argument[1:], argument[0])
        replacement = parts[1] if len(parts) > 1 else ""
        flags, bar, after = (parts[2] if len(parts) > 2 else "").partition("|")
        flags = flags.strip()
        pattern = self._compiled(parts[0], "i" in flags)
        changed = 0
        number = first
        while number <= last:
            line = self.lines[number - 1]
            made, count = _replaced(pattern, line, replacement, "g" in flags)
            if count:
                changed += count
                pieces = made.split("\n")
                self.lines[number - 1 : number] = pieces
                self.current = number + len(pieces) - 1
                last += len(pieces) - 1
                number += len(pieces) - 1
            number += 1
            self.ctx.spend(2)
        if not changed and "e" not in flags:
            raise ExError
        if "p" in flags and changed:
            self.ctx.line(self.lines[self.current - 1])
        return [after] if bar else []

    def _insert(self, name: str, first: int, last: int, following: list[str]) -> None:
        text: list[str] = []
        while following:
            line = following.pop(0)
            if line == ".":
                break
            text.append(line)
        if name == "c":
            self._check(first, last)
            self.lines[first - 1 : last] = text
            at = first - 1
        else:
            at = last if name == "a" else max(first - 1, 0)
            at = min(at, len(self.lines))
            self.lines[at:at] = text
        self.current = max(at + len(text), 1)

    def _transfer(self, name: str, first: int, last: int, argument: str) -> None:
        self._check(first, last)
        target, _ = self._address(argument)
        if target is None:
            raise ExError
        block = self.lines[first - 1 : last]
        if name == "m":
            if first <= target < last:
                raise ExError
            del self.lines[first - 1 : last]
            target -= len(block) if target >= last else 0
        self.lines[target:target] = block
        self.current = target + len(block)

    def _write(self, argument: str, addresses: list[int]) -> None:
        target = argument.strip().removeprefix(">>").strip() or self.name
        if target is None:
            raise ExError
        lines = self.lines
        if addresses:
            first, last = self._range(addresses)
            lines = lines[first - 1 : last]
        data = "\n".join(lines) + ("\n" if lines else "")
        appended = argument.strip().startswith(">>")
        self.ctx.files.write(target, data.encode("utf-8", "surrogateescape"), append=appended)

    # -- addresses and patterns

    def _addresses(self, line: str) -> tuple[list[int], str]:
        if line.startswith("%"):
            return [1, len(self.lines)], line[1:]
        found: list[int] = []
        kept = self.current
        while True:
            number, rest = self._address(line)
            if number is None:
                if not line.startswith((",", ";")):
                    break
                number = self.current
            else:
                line = rest
            found.append(number)
            if not line.startswith((",", ";")):
                break
            if line[0] == ";":
                self.current = number
            line = line[1:]
        self.current = kept
        return found[-2:], line

    def _address(self, text: str) -> tuple[int | None, str]:
        """One address at the beginning of a text; None where there is none."""
        text = text.lstrip()
        number: int | None = None
        if digits := re.match(r"\d+", text):
            number, text = int(digits[0]), text[digits.end() :]
        elif text[:1] in (".", "$"):
            number, text = (self.current if text[0] == "." else len(self.lines)), text[1:]
        elif text[:1] in ("/", "?"):
            parts = _split(text[1:], text[0])
            number = self._found(parts[0], backwards=text[0] == "?")
            consumed = 1 + len(_raw_part(text[1:], text[0]))
            text = text[consumed + 1 :]
        while offset := re.match(r"([-+])(\d*)", text):
            step = int(offset[2] or 1)
            number = (self.current if number is None else number) + (step if offset[1] == "+" else -step)
            text = text[offset.end() :]
        return number, text

    def _found(self, pattern: str, *, backwards: bool) -> int:
        regex = self._compiled(pattern, False)
        count = len(self.lines)
        for step in range(1, count + 1):
            self.ctx.spend(1)
            place = (self.current - 1 + (-step if backwards else step)) % count
            if regex.test(_bytes(self.lines[place])):
                return place + 1
        raise ExError

    def _range(self, addresses: list[int]) -> tuple[int, int]:
        if not addresses:
            return self.current, self.current
        return addresses[0], addresses[-1]

    def _check(self, first: int, last: int) -> None:
        if not 1 <= first <= last <= len(self.lines):
            raise ExError

    def _go(self, addresses: list[int]) -> None:
        if addresses:
            self._check(addresses[-1], addresses[-1])
            self.current = addresses[-1]
            if not self.silent:
                self.ctx.line(self.lines[self.current - 1])

    def _compiled(self, pattern: str, ignore_case: bool) -> Regex:
        pattern = pattern or self.last_pattern
        self.last_pattern = pattern
        try:
            return _regex(pattern, ignore_case)
        except RegexError:
            raise ExError from None


def _meaning(word: str) -> str | None:
    for short, least, whole in _NAMES:
        if len(word) >= least and whole.startswith(word):
            return short
    return None


def _glued(text: str) -> tuple[str, str]:
    """A command whose argument follows without a blank: g/…/d, s,a,b,."""
    found = re.match(r"(substitute|su|s|global|g|vglobal|v|k)(?![a-zA-Z])", text)
    if found is None:
        raise ExError
    return found[1][0], text[found.end() :]


def _raw_part(text: str, delimiter: str) -> str:
    at = 0
    while at < len(text) and text[at] != delimiter:
        at += 2 if text[at] == "\\" else 1
    return text[:at]


def _split(text: str, delimiter: str, most: int = 2) -> list[str]:
    """Up to `most` parts (pattern, replacement) with escaped delimiters as themselves, and the rest."""
    parts: list[str] = []
    while len(parts) < most:
        part = _raw_part(text, delimiter)
        parts.append(part.replace("\\" + delimiter, delimiter))
        if len(part) >= len(text):
            return parts
        text = text[len(part) + 1 :]
    return [*parts, text]


_MAGIC = {
    r"\=": r"\?", r"\s": "[[:blank:]]", r"\S": "[^[:blank:]]", r"\d": "[0-9]", r"\D": "[^0-9]", r"\a": "[[:alpha:]]",
}  # fmt: skip
_UNKNOWN = re.compile(r"\\(?:z[se]|@|%|&|_)")


def _regex(pattern: str, ignore_case: bool) -> Regex:
    """A pattern of vim's, magic or (\\v) very magic. RegexError for what is not modelled."""
    very = pattern.startswith("\\v")
    pattern = pattern.removeprefix("\\v")
    for sign, on in (("\\c", True), ("\\C", False)):
        if sign in pattern:
            ignore_case, pattern = on, pattern.replace(sign, "")
    if _UNKNOWN.search(pattern):
        raise RegexError("not supported")
    pattern = re.sub(r"\\.", lambda found: _magic(found[0], very), pattern)
    if very:
        return extended(re.sub(r"(?<!\\)=", "?", pattern), ignore_case=ignore_case)
    return basic(pattern, ignore_case=ignore_case)


def _magic(escape: str, very: bool) -> str:
    if very:
        return {r"\=": "="}.get(escape, _MAGIC.get(escape, escape))
    return _MAGIC.get(escape, escape)


def _replaced(pattern: Regex, line: str, replacement: str, everywhere: bool) -> tuple[str, int]:
    data = _bytes(line)
    pieces: list[bytes] = []
    end = count = 0
    for match in pattern.iterate(data):
        pieces += [data[end : match.start], _filled(replacement, match)]
        end = match.end
        count += 1
        if not everywhere:
            break
    return (b"".join(pieces) + data[end:]).decode("utf-8", "surrogateescape"), count


def _filled(replacement: str, match: Match) -> bytes:
    def one(found: re.Match[str]) -> str:
        text = found[0]
        if text in ("&", "\\0"):
            return match.group().decode("utf-8", "surrogateescape")
        if is_digits(text[1:]):
            return match.group(int(text[1])).decode("utf-8", "surrogateescape")
        return {"\\r": "\n", "\\n": "\0", "\\t": "\t"}.get(text, text[1:])

    return _bytes(re.sub(r"&|\\.", one, replacement))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
