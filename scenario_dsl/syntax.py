"""A YAML scanner's complaint, in the words of somebody who sees that the author wrote shell or prose.

PyYAML and libyaml word their complaints differently; what decides here is the text around the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from yaml.error import MarkedYAMLError

from scenario_dsl.diagnostics import Diagnostic, Label
from scenario_dsl.nodes import Document, scalars
from scenario_dsl.problems import reading as problems
from scenario_dsl.source import SourceText, Span

SHELL_KEYS = frozenset({"run", "only_if", "undo", "falsifier", "cmd"})
PROSE_KEYS = frozenset({"think", "complaint", "hypothesis", "question", "answer", "title", "doc", "hints"})

_KEY = re.compile(r"""^[ ]*(?:-[ ]+)*(?:\{[ ]*)?(?P<key>"[^"]*"|'[^']*'|[^\s:#'"{\[][^:#]*?)[ ]*:[ ]+(?=\S)""")
_NO_SPACE = re.compile(r"^[ ]*(?:-[ ]+)*[A-Za-z_]+:\S")
_NO_SPACE_AFTER_DASH = re.compile(r"^[ ]*-[^\s-]")
_ITEM = re.compile(r"^[ ]*(?:-[ ]+)+(?=\S)")
_MEANINGS = {
    "*": "YAML reads this as an alias",
    "&": "YAML reads this as an anchor",
    "!": "YAML reads this as a tag",
    "[": "YAML reads this as a list",
    "{": "YAML reads this as a mapping",
    "@": "YAML reserves this sign",
    "`": "YAML reserves this sign",
    "%": "YAML reserves this sign",
    "|": "YAML reads this as the beginning of a block of text",
    ">": "YAML reads this as the beginning of a block of text",
}
_WORDS = (
    ("mapping values are not allowed", "a key cannot stand here; check the indentation"),
    ("did not find expected key", "the indentation or the list around this does not fit"),
    ("expected <block end>", "the indentation or the list around this does not fit"),
    ("did not find expected '-' indicator", "expected another item (`- `) or less indentation"),
    ("',' or ']'", "expected `,` or `]`"),
    ("',' or '}'", "expected `,` or `}`"),
    ("could not find expected ':'", "this line has no `key: value`"),
    ("unknown escape character", "this escape does not exist in double quotes; single quotes keep backslashes"),
    ("hexdecimal", "this escape needs hexadecimal digits"),
    ("hexadecimal", "this escape needs hexadecimal digits"),
    ("block sequence entries are not allowed", "a list cannot begin here; put it on the next line"),
    ("expected node content", "a value is missing"),
    ("document start", "the document had already ended"),
    ("document end", "the document had already ended"),
    ("chomping or indentation", "only `|`, `>`, `-`, `+` and a digit may begin a block of text"),
    ("comment or line break", "the text of a block begins on the next line"),
    ("unexpected end of stream", "the file ends too early"),
    ("simple key", "this line has no `key: value`"),
    ("directive", "directives are not supported"),
)


def explain(source: SourceText, error: MarkedYAMLError) -> Diagnostic:
    """The diagnostic for a text that could not be scanned or parsed."""
    mark = error.problem_mark or error.context_mark
    at = source.index(mark.line, mark.column) if mark else 0
    began = error.context_mark
    context = source.index(began.line, began.column) if began else at
    problem = error.problem or error.context or "unknown"
    return (
        _tab(source, at)
        or _colon(source, at, problem)
        or _unclosed(source, at, context, error)
        or _start(source, at, context, error)
        or _plain(source, at, context, problem)
    )


def _tab(source: SourceText, at: int) -> Diagnostic | None:
    number, column = source.position(at)
    line = source.line(number)
    indent = len(line) - len(line.lstrip(" \t"))
    tab = line.find("\t", 0, max(indent, column + 1))
    if tab < 0 or (tab >= indent and tab != column):
        return None
    start = at - column + tab
    return problems.YamlTab(source=source, span=Span(start, start + 1))


def _colon(source: SourceText, at: int, problem: str) -> Diagnostic | None:
    if "mapping values are not allowed" not in problem:
        return None
    number, column = source.position(at)
    key = _KEY.match(source.line(number))
    if key is None or key.end() > column:
        return None
    return problems.YamlColonInText(source=source, span=Span(at, at + 1), key=key["key"])


def _unclosed(source: SourceText, at: int, context: int, error: MarkedYAMLError) -> Diagnostic | None:
    sign = source.text[context : context + 1]
    quoted = "quoted scalar" in (error.context or "") and "end of stream" in (error.problem or "")
    flow = sign in ("[", "{") and "flow" in (error.context or "")
    new_line = source.position(at)[0] > source.position(context)[0]
    if sign and (quoted or (flow and (new_line or not source.text[at:].strip()))):
        return problems.YamlUnclosed(source=source, span=Span(context, context + 1), sign=sign)
    return None


def _start(source: SourceText, at: int, context: int, error: MarkedYAMLError) -> Diagnostic | None:
    """Text that begins with a sign of YAML's own, or goes on after a closing quote."""
    number, column = source.position(at)
    line = source.line(number)
    base = at - column
    key = _KEY.match(line) or _ITEM.match(line)
    if "alias" in (error.context or "") or "anchor" in (error.context or "") or "tag" in (error.context or ""):
        start = context
    else:
        start = at
    if key and key.end() <= column:
        first = line[key.end()]
        if first in "'\"" and key.end() < column and "quoted scalar" not in (error.context or ""):
            return problems.YamlTextAfterValue(source=source, span=Span(at, source.line_end(at)))
        name = key.groupdict().get("key")
        if first in _MEANINGS and (first not in "[{" or name in SHELL_KEYS or name in PROSE_KEYS):
            start = base + key.end()
    sign = source.text[start : start + 1]
    if (sign in _MEANINGS and sign not in "[{") or (sign in ("[", "{") and start != at):
        meaning = _MEANINGS[sign]
    else:
        return None
    return problems.YamlTextStart(source=source, span=Span(start, start + 1), sign=sign, meaning=meaning)


def _plain(source: SourceText, at: int, context: int, problem: str) -> Diagnostic:
    detail = next((words for part, words in _WORDS if part in problem), problem)
    if "could not find expected ':'" in problem or "mapping values are not allowed" in problem:
        # The line itself is what is wrong; the scanner noticed only further on.
        number, _ = source.position(context if "could not find" in problem else at)
        line = source.line(number)
        start = source.index(number, len(line) - len(line.lstrip(" ")))
        if _NO_SPACE.match(line):
            detail = "a space must follow the colon of a key"
        return problems.YamlSyntax(source=source, span=Span(start, source.line_end(start)), detail=detail)
    if _NO_SPACE_AFTER_DASH.match(source.line(source.position(at)[0])):
        detail = "a space must follow the `-` of an item"
    at = min(at, max(0, len(source.text.rstrip()) - 1)) if not source.text[at:].strip() else at
    labels: tuple[Label, ...] = ()
    if source.position(context)[0] != source.position(at)[0]:
        labels = (Label(span=Span(context, min(context + 1, len(source.text))), text="what is being read began here"),)
    end = max(at + 1, source.line_end(at)) if source.text[at : at + 1].strip() else at + 1
    return problems.YamlSyntax(source=source, span=Span(at, end), labels=labels, detail=detail)


_CUT = re.compile(r"[ \t]+(?=#)")


def cut_texts(document: Document) -> Iterator[Diagnostic]:
    """Warnings for text that a ` #` ended without the author's notice."""
    source = document.source
    for route, node in scalars(document.root):
        key = next((step for step in reversed(route) if isinstance(step, str)), "")
        if node.style != "plain" or node.anchor or not isinstance(node.value, str):
            continue
        if key not in SHELL_KEYS and key not in PROSE_KEYS:
            continue
        cut = _CUT.match(source.text, node.span.end)
        if cut:
            span = Span(cut.end(), source.line_end(cut.end()))
            yield problems.YamlCommentCutsText(source=source, span=span, key=key)
