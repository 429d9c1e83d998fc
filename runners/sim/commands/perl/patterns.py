"""Matching, substituting and transliterating: m//, s///, tr///, and what they leave behind ($1, $&, pos)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from runners.sim.commands.perl.expressions import Assign
from runners.sim.commands.perl.nodes import Node, Scalar
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.values import Reference, Value, text
from runners.sim.regexes import Match, Regex, RegexError, perl


class Compiled:
    """qr//: a pattern, and how it looks as text."""

    __slots__ = ("flags", "pattern")

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.flags = flags

    def __str__(self) -> str:
        return f"(?^{self.flags}:{self.pattern})"


_CARET = re.compile(r"\(\?\^([a-z]*):")


def _switched(found: re.Match[str]) -> str:
    """`(?^i:` as engines read it: what is not on is off."""
    off = "".join(letter for letter in "imsx" if letter not in found[1])
    return f"(?{found[1]}-{off}:" if off else f"(?{found[1]}:"


def regex(rt: Runtime, pattern: str, flags: str, line: int) -> Regex:
    """The pattern, compiled. Dies as Perl does when it is wrong."""
    readable = _CARET.sub(
        lambda found: f"(?{found[1]}-{''.join(set('imsx') - set(found[1]))}:".replace("-:", ":"), pattern
    )
    given = "".join(sorted(set(flags) & set("imsx")))
    try:
        return perl(readable.encode("latin-1", "replace").decode("utf-8", "surrogateescape"),
                    ignore_case="i" in given, flags=given)  # fmt: skip
    except RegexError as error:
        raise rt.die(f"{error} in regex; marked by <-- HERE in m/{pattern} <-- HERE /", line) from None


def place_of(node: Node) -> Node:
    """What `=~` works on: `(my $x = $y)` is $x."""
    parts: Sequence[Node] = getattr(node, "parts", ())
    if len(parts) == 1 and not isinstance(node, Scalar):
        return place_of(parts[0])
    return node


class Matching(Node):
    """m//. `target`: what is searched; `negated`: !~."""

    __slots__ = ("flags", "pattern", "position", "target")

    def __init__(self, pattern: Node, flags: str, target: Node) -> None:
        super().__init__()
        self.position: tuple[str, int] | None = None
        self.pattern = pattern
        self.flags = flags
        self.target = target

    def compiled(self, rt: Runtime) -> Regex:
        return regex(rt, text(self.pattern.scalar(rt)), self.flags, self.line)

    def scalar(self, rt: Runtime) -> Value:
        subject = text(self.target.scalar(rt))
        rt.spend(1 + (len(subject) >> 6))
        engine = self.compiled(rt)
        keeper = self.target.box(rt) if isinstance(self.target, Scalar) else self
        known = keeper.position if "g" in self.flags else None
        start = known[1] if known is not None and known[0] == subject else 0
        data = subject.encode("latin-1", "replace")
        found = engine.search(data, start) if start <= len(data) else None
        if found is None:
            keeper.position = None
            return ""
        rt.match = found
        if "g" in self.flags:
            keeper.position = (subject, found.end + (found.end == found.start))
        return 1

    def values(self, rt: Runtime) -> list[Value]:
        subject = text(self.target.scalar(rt))
        rt.spend(1 + (len(subject) >> 6))
        data = subject.encode("latin-1", "replace")
        engine = self.compiled(rt)
        if "g" not in self.flags:
            found = engine.search(data)
            if found is None:
                return []
            rt.match = found
            return _groups(found) or [1]
        result: list[Value] = []
        cost = 1 + engine.cost(data)
        for found in engine.iterate(data):
            rt.spend(cost)
            rt.match = found
            result += _groups(found) or [found.group().decode("latin-1")]
        return result


def _groups(found: Match) -> list[Value]:
    return [
        found.group(number).decode("latin-1") if found.spans[number][0] >= 0 else None
        for number in range(1, len(found.spans))
    ]


class Quoted(Node):
    """qr//."""

    __slots__ = ("flags", "pattern")

    def __init__(self, pattern: Node, flags: str) -> None:
        super().__init__()
        self.pattern = pattern
        self.flags = flags

    def scalar(self, rt: Runtime) -> Value:
        return Reference("Regexp", Compiled(text(self.pattern.scalar(rt)), self.flags))


class Substitution(Node):
    """s///. `replacement` is evaluated anew for each match."""

    __slots__ = ("flags", "matching", "replacement")

    def __init__(self, matching: Matching, replacement: Node, flags: str) -> None:
        super().__init__()
        self.matching = matching
        self.replacement = replacement
        self.flags = flags

    def scalar(self, rt: Runtime) -> Value:
        target = self.matching.target
        subject = text(target.scalar(rt))
        place = place_of(target.place if isinstance(target, Assign) else target)
        data = subject.encode("latin-1", "replace")
        rt.spend(1 + (len(data) >> 6))
        pieces: list[str] = []
        end = count = 0
        engine = self.matching.compiled(rt)
        cost = 1 + engine.cost(data)
        for found in self._matches(engine, data):
            rt.spend(cost)
            rt.match = found
            pieces += [data[end : found.start].decode("latin-1"), text(self.replacement.scalar(rt))]
            end = found.end
            count += 1
        result = "".join([*pieces, data[end:].decode("latin-1")])
        rt.room(len(result))
        if "r" in self.flags:
            return result
        if count:
            place.assign(rt, result)
        return count or ""

    def _matches(self, engine: Regex, data: bytes) -> Iterator[Match]:
        if "g" in self.flags:
            yield from engine.iterate(data)
        elif (found := engine.search(data)) is not None:
            yield found


class Transliteration(Node):
    """tr///."""

    __slots__ = ("change", "flags", "target")

    def __init__(self, change: Callable[[str], tuple[str, int]], flags: str, target: Node) -> None:
        super().__init__()
        self.change = change
        self.flags = flags
        self.target = target

    def scalar(self, rt: Runtime) -> Value:
        before = text(self.target.scalar(rt))
        rt.spend(1 + (len(before) >> 6))
        after, count = self.change(before)
        if "r" in self.flags:
            return after
        if after != before:
            place_of(self.target.place if isinstance(self.target, Assign) else self.target).assign(rt, after)
        return count


def transliterator(search: str, replace: str, flags: str) -> Callable[[str], tuple[str, int]]:
    """What tr/search/replace/flags does to a text; also how many characters it found."""
    wanted, given = _spread(search), _spread(replace)
    if "c" in flags:
        known = set(wanted)
        wanted = [chr(code) for code in range(256) if chr(code) not in known]
    if not given and "d" not in flags:
        given = wanted
    if given and len(given) < len(wanted) and "d" not in flags:
        given += [given[-1]] * (len(wanted) - len(given))
    table: dict[str, str] = {}
    for place, char in enumerate(wanted):
        table.setdefault(char, given[place] if place < len(given) else "")

    def change(subject: str) -> tuple[str, int]:
        result: list[str] = []
        count, last = 0, None
        for char in subject:
            to = table.get(char)
            if to is None:
                result.append(char)
                last = None
                continue
            count += 1
            if "s" in flags and to == last:
                continue
            result.append(to)
            last = to
        return "".join(result), count

    return change


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "f": "\f", "a": "\a"}


def _spread(text_: str) -> list[str]:
    """The characters that a set such as a-z0-9 stands for."""
    chars: list[tuple[str, bool]] = []
    at = 0
    while at < len(text_):
        if text_[at] == "\\" and at + 1 < len(text_):
            chars.append((_ESCAPES.get(text_[at + 1], text_[at + 1]), True))
            at += 2
        else:
            chars.append((text_[at], False))
            at += 1
    found: list[str] = []
    at = 0
    while at < len(chars):
        if at + 2 < len(chars) and chars[at + 1] == ("-", False):
            found += [chr(code) for code in range(ord(chars[at][0]), ord(chars[at + 2][0]) + 1)]
            at += 3
        else:
            found.append(chars[at][0])
            at += 1
    return found
