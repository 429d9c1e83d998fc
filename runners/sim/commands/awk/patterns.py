"""mawk's regular expressions: extended ones without intervals, with string escapes and no other letters."""

from __future__ import annotations

from functools import lru_cache

from runners.sim.commands.awk.lexer import AwkError
from runners.sim.regexes import Regex, RegexError, extended

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
_QUOTED = frozenset("\\.[]{}()*+?^$|")
_PROBLEMS = {
    "Unmatched [": "bad class -- [], [^] or [",
    "Unmatched (": "missing ')'",
    "Invalid preced": "missing operand",
}


class PatternError(AwkError):
    """A pattern that does not compile."""


@lru_cache(maxsize=1024)
def compiled(source: str) -> Regex:
    """The expression of latin-1 text `source`."""
    if source[:1] in ("*", "+", "?"):
        raise PatternError(f"line 1: regular expression compile failed (missing operand)\n{source}")
    try:
        return extended(_translate(source).encode("latin-1", "replace").decode("utf-8", "surrogateescape"))
    except RegexError as error:
        said = str(error)
        text = next((text for start, text in _PROBLEMS.items() if said.startswith(start)), said)
        raise PatternError(f"line 1: regular expression compile failed ({text})\n{source}") from None


def _translate(source: str) -> str:
    out: list[str] = []
    index = 0
    while index < len(source):
        char = source[index]
        if char == "\\":
            literal, index = _escape(source, index)
            out.append("\\" + literal if literal in _QUOTED else literal)
        elif char == "[":
            text, index = _bracket(source, index)
            out.append(text)
        else:
            out.append("\\" + char if char in "{}" else char)
            index += 1
    return "".join(out)


def _escape(source: str, index: int) -> tuple[str, int]:
    """The character that a backslash at `index` makes, and where it ends."""
    following = source[index + 1 : index + 2]
    if not following:
        return "\\", index + 1
    if following in "01234567":
        end = index + 2
        while end < min(index + 4, len(source)) and source[end] in "01234567":
            end += 1
        return chr(int(source[index + 1 : end], 8) & 0xFF), end
    return _ESCAPES.get(following, following), index + 2


def _bracket(source: str, start: int) -> tuple[str, int]:
    """A bracket expression with its escapes replaced; `]`, `^` and `-` that were escaped go where they stand for
    themselves."""
    index = start + 1
    head = "["
    if source[index : index + 1] == "^":
        head = "[^"
        index += 1
    first, body, last = "", [], ""
    if source[index : index + 1] == "]":
        first = "]"
        index += 1
    while index < len(source) and source[index] != "]":
        if source.startswith("[:", index) and (close := source.find(":]", index)) > 0:
            body.append(source[index : close + 2])
            index = close + 2
        elif source[index] == "\\":
            literal, index = _escape(source, index)
            if literal == "]":
                first = "]"
            elif literal in "-^":
                last = literal + last if literal == "^" else last + literal
            else:
                body.append(literal)
        else:
            body.append(source[index])
            index += 1
    if index >= len(source):
        raise RegexError("Unmatched [")
    inside = first + "".join(body) + last
    if inside == "^":
        return ("\\^" if head == "[" else "[^^]"), index + 1
    return f"{head}{inside}]", index + 1
