"""What is wrong with a document, where, and what to do about it. How each reads is in its class, in `problems/`."""

from __future__ import annotations

import difflib
import string
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from scenario_dsl.errors import AuthorError
from scenario_dsl.source import SourceText, Span

Severity = Literal["error", "warning"]
_WIDEST_LINE = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A second place that explains the first."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding. Subclasses set the class-level templates; `{field}` in them is a field of the instance.

    `help` may be a template or empty. A `suggestion` adds a did-you-mean of its own.
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = "error"
    title: ClassVar[str] = ""
    caret: ClassVar[str] = ""
    help: ClassVar[str] = ""

    source: SourceText
    span: Span
    labels: tuple[Label, ...] = ()
    suggestion: str | None = None
    advice: tuple[str, ...] = ()

    def _fill(self, template: str) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return string.Formatter().vformat(template, (), values)

    @property
    def message(self) -> str:
        return _one_line(self._fill(self.title))

    @property
    def caret_text(self) -> str:
        return _one_line(self._fill(self.caret))

    @property
    def helps(self) -> tuple[str, ...]:
        found = []
        if self.suggestion is not None:
            found.append(f"did you mean `{self.suggestion}`?")
        if self.help:
            found.append(self._fill(self.help))
        found += self.advice
        return tuple(_one_line(text) for text in found)

    @property
    def position(self) -> tuple[int, int]:
        """Line and column as people count them, from 1."""
        line, column = self.source.position(self.span.start)
        return line + 1, column + 1


class Diagnostics(AuthorError):  # noqa: N818 (it reads as what it is)
    """Documents that do not pass, with everything that the stage found, in order of position."""

    def __init__(self, found: Iterable[Diagnostic]) -> None:
        self.found = ordered(found)
        super().__init__(render_text(self.found))

    def __reduce__(self) -> tuple[type[Diagnostics], tuple[tuple[Diagnostic, ...]]]:
        return (Diagnostics, (self.found,))


def ordered(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file and position; what was found twice (through an alias, say) is kept as it was first told."""
    unique: dict[tuple[str, int, int, str, str], Diagnostic] = {}
    for each in found:
        unique.setdefault((each.source.path, each.span.start, each.span.end, each.code, each.message), each)
    return tuple(each for _, each in sorted(unique.items(), key=lambda item: item[0]))


def errors_in(found: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in found)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    candidates = sorted(known)
    folded = {candidate.lower().replace("-", "_"): candidate for candidate in candidates}
    wanted = name.lower().replace("-", "_")
    found = difflib.get_close_matches(wanted, list(folded), n=1, cutoff=0.66)
    return folded[found[0]] if found else None


def listing(names: Sequence[str], most: int = 12) -> str:
    """Names for people, cut where a list stops helping."""
    if len(names) <= most:
        return ", ".join(names)
    return ", ".join(names[:most]) + f" and {len(names) - most} more"


def as_json(found: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """The same findings as plain data, for editors and scripts."""
    return [
        {
            "code": each.code,
            "severity": each.severity,
            "message": each.message,
            "path": each.source.path,
            **_range(each.source, each.span),
            "label": each.caret_text,
            "labels": [{"text": label.text, **_range(each.source, label.span)} for label in each.labels],
            "help": list(each.helps),
        }
        for each in found
    ]


def _range(source: SourceText, span: Span) -> dict[str, int]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(max(span.start, span.end))
    return {"line": line + 1, "column": column + 1, "end_line": end_line + 1, "end_column": end_column + 1}


def render_text(found: Iterable[Diagnostic]) -> str:
    """All findings as text, an empty line between two, each ending in a newline."""
    return "\n".join(render(each) for each in found)


def render(diagnostic: Diagnostic) -> str:
    source = diagnostic.source
    marks = [(diagnostic.span, "^", diagnostic.caret_text)]
    marks += [(label.span, "-", _one_line(label.text)) for label in diagnostic.labels]
    by_line: dict[int, list[tuple[int, Span, str, str]]] = {}
    for span, sign, text in marks:
        line, column = source.position(span.start)
        by_line.setdefault(line, []).append((column, span, sign, text))
    gutter = len(str(max(by_line) + 1))
    blank = " " * gutter
    line, column = diagnostic.position
    out = [
        f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}",
        f"{blank}--> {_one_line(source.path)}:{line}:{column}",
    ]
    if source.text.strip():
        out.append(f"{blank} |")
    else:
        # There is no text to show: the file could not be read, or it is empty.
        by_line = {}
    previous: int | None = None
    for number in sorted(by_line):
        if previous is not None and number > previous + 1:
            out.append("...")
        previous = number
        out += _excerpt(source, number, by_line[number], gutter)
    helps = diagnostic.helps
    if helps:
        out += [f"{blank} |"] if by_line else []
        out += [f"{blank} = help: {text}" for text in helps]
    return "\n".join(out) + "\n"


def _excerpt(source: SourceText, number: int, marks: list[tuple[int, Span, str, str]], gutter: int) -> list[str]:
    """One line of the document with a row of underlining per mark."""
    line = source.line(number)
    first = min(column for column, *_ in marks)
    shift = max(0, first - _WIDEST_LINE // 2) if len(line) > _WIDEST_LINE else 0
    shown = line[shift : shift + _WIDEST_LINE]
    lead = "…" if shift else ""
    tail = "…" if shift + _WIDEST_LINE < len(line) else ""
    rows = [f"{number + 1:>{gutter}} | {lead}{_shown(shown)}{tail}".rstrip()]
    for column, span, sign, text in sorted(marks, key=lambda mark: (mark[0], mark[2])):
        length = min(span.end, source.line_end(span.start)) - span.start
        before = lead + _shown(shown[: max(0, column - shift)])
        under = _shown(shown[max(0, column - shift) : max(0, column - shift) + max(1, length)])
        row = " " * _width(before) + sign * max(1, _width(under))
        rows.append(f"{' ' * gutter} | {row} {text}".rstrip())
    return rows


def _shown(text: str) -> str:
    """Source text as a terminal may print it: tabs as spaces, nothing that would move the cursor."""
    return "".join("    " if char == "\t" else char if char.isprintable() or char == " " else "\ufffd" for char in text)


def _one_line(text: str) -> str:
    """Text from a document inside a message: one line, nothing that would move the cursor."""
    return "".join(char if char.isprintable() else " " if char in "\n\t\r" else "\ufffd" for char in text)


def _width(text: str) -> int:
    """Columns that a terminal gives to text."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
