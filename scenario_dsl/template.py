"""Templates: `{{ expression }}` inside text, and nothing else of Jinja2.

Statements and comments (`{% … %}`, `{# … #}`) are plain text here, because shell is full of such signs. Expressions are
Jinja2's, in its sandbox, over a list of allowed constructs and filters: no calls, no attributes of Python objects, and
every operation that could grow is bounded before it runs. A text that is exactly one expression keeps its value's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from scenario_dsl.errors import AuthorError
from scenario_dsl.filters import FILTERS, TooLarge, bounded, bounded_binop, kept
from scenario_dsl.values import Value, freeze, thaw

MAX_EXPRESSION = 1000
MAX_DEPTH = 20

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
STATEMENT = re.compile(
    r"\{%[-+]?\s*(for|endfor|if|elif|else|endif|set|endset|macro|include|import|from|extends|block|raw|filter|call|with)\b"
)
_NAME = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*\s*")
_TESTS = frozenset({"defined", "undefined", "none", "string", "number", "true", "false", "in", "sameas", "eq", "ne"})
_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.Name,
    nodes.Const,
    nodes.TemplateData,
    nodes.List,
    nodes.Tuple,
    nodes.Dict,
    nodes.Pair,
    nodes.Keyword,
    nodes.Getitem,
    nodes.Getattr,
    nodes.Slice,
    nodes.Filter,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.CondExpr,
    nodes.Concat,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Neg,
    nodes.Pos,
    nodes.BinExpr,
)


class TemplateError(AuthorError):
    """An expression that cannot be evaluated. `expression` is its text with the braces; `kind` is one of:

    syntax, forbidden (`name`: the unknown filter, if it is one), unknown (`name`: the unknown name), large, value,
    mixed (`name` is known now, `late` only while running)
    """

    def __init__(self, kind: str, expression: str, reason: str, name: str = "", late: str = "") -> None:
        super().__init__(f"{expression}: {reason}")
        self.kind = kind
        self.expression = expression
        self.reason = reason
        self.name = name
        self.late = late


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 (Jinja2's)
        return bounded_binop(operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        # Values are plain data: a dot reaches into a mapping and never into a Python object.
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)


def _sandbox() -> _Sandbox:
    # Without the optimizer: it would fold constants, that is evaluate them, while compiling.
    sandbox = _Sandbox(undefined=StrictUndefined, optimized=False, autoescape=False, cache_size=0)
    sandbox.filters.clear()
    sandbox.filters.update(FILTERS)
    sandbox.globals.clear()
    return sandbox


_SANDBOX = _sandbox()


@dataclass(frozen=True, slots=True)
class _Compiled:
    names: frozenset[str]
    evaluate: Callable[[Mapping[str, object]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One `{{ … }}` of a text: as written with its braces, where it begins, and what is inside."""

    written: str
    start: int
    inner: str


def expressions(text: str) -> Iterator[Expression]:
    """Every expression of a text, unparsed."""
    for found in _EXPRESSION.finditer(text):
        yield Expression(written=found.group(), start=found.start(), inner=found.group(1))


def is_name(inner: str) -> bool:
    """Is the inside of an expression just a name?"""
    return _NAME.fullmatch(inner) is not None


@lru_cache(maxsize=4096)
def _compile(inner: str) -> _Compiled:
    """Raises TemplateError for anything outside the allowed expressions."""
    written = f"{{{{{inner}}}}}"
    if len(inner) > MAX_EXPRESSION:
        raise TemplateError("large", written[:40] + "…", f"an expression has at most {MAX_EXPRESSION} characters")
    try:
        tree = _SANDBOX.parse("{{" + inner + "}}")
        _inspect(tree, written, 0)
        # A second guard against braces inside the text: it must be one expression, not text beside one.
        if len(tree.body) != 1 or len(getattr(tree.body[0], "nodes", ())) != 1:
            raise TemplateError("syntax", written, "not one expression")
        names = frozenset(node.name for node in tree.find_all(nodes.Name))
        function = _SANDBOX.compile_expression(inner, undefined_to_none=False)
    except TemplateSyntaxError as error:
        raise TemplateError("syntax", written, _reason(error)) from None
    except (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError):
        raise TemplateError("large", written[:40], "too deeply nested or too large") from None
    return _Compiled(names, lambda given: function(**given))


def _reason(error: Exception) -> str:
    message = getattr(error, "message", None) or str(error) or "not an expression"
    # Jinja2's own words for the closing braces.
    return str(message).rstrip(".").replace("unexpected 'end of print statement'", "it ends too early")


def _inspect(node: nodes.Node, written: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise TemplateError("large", written, f"an expression is nested at most {MAX_DEPTH} deep")
    if isinstance(node, nodes.Call):
        raise TemplateError("forbidden", written, "nothing can be called in an expression")
    if not isinstance(node, _ALLOWED):
        raise TemplateError("forbidden", written, "this is not allowed in an expression")
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise TemplateError("forbidden", written, f"there is no filter `{node.name}`", node.name)
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        raise TemplateError("forbidden", written, f"there is no test `{node.name}`")
    if isinstance(node, nodes.Const):
        try:
            # Also because Python code, which an expression becomes, has no way to write an infinite number.
            bounded(node.value)
        except TooLarge as error:
            raise TemplateError("large", written, str(error)) from None
    for child in node.iter_child_nodes():
        _inspect(child, written, depth + 1)


def names_in(text: str) -> frozenset[str]:
    """The names that a text's expressions use; raises TemplateError."""
    return frozenset(name for found in expressions(text) for name in _compile(found.inner).names)


def names_in_condition(expression: str) -> frozenset[str]:
    """The names that an Ansible condition (`when:`, no braces) uses; raises TemplateError for what does not parse."""
    try:
        tree = _SANDBOX.parse("{{" + expression + "}}")
    except TemplateSyntaxError as error:
        raise TemplateError("syntax", expression, _reason(error)) from None
    except (RecursionError, MemoryError, ValueError):
        raise TemplateError("large", expression[:40], "too deeply nested") from None
    return frozenset(node.name for node in tree.find_all(nodes.Name))


def _evaluate(found: Expression, names: Mapping[str, object]) -> Value:
    compiled = _compile(found.inner)
    for name in sorted(compiled.names - names.keys()):
        raise TemplateError("unknown", found.written, f"`{name}` is not known here", name)
    try:
        return kept(freeze(bounded(compiled.evaluate({name: names[name] for name in compiled.names}))))
    except TooLarge as error:
        raise TemplateError("large", found.written, str(error)) from None
    except TemplateRuntimeError as error:
        raise TemplateError("value", found.written, _reason(error)) from None
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError, AttributeError) as error:
        raise TemplateError("value", found.written, _reason(error)) from None


def render(text: str, names: Mapping[str, Value]) -> Value:
    """Text with its expressions put in; raises TemplateError."""
    if "{{" not in text:
        return text
    plain = {name: thaw(value) for name, value in names.items()}
    parts: list[str] = []
    at = size = 0
    for found in expressions(text):
        piece = _evaluate(found, plain)
        if len(found.written) == len(text):
            return piece
        parts += [text[at : found.start], _as_text(piece, found)]
        size += len(parts[-1])
        if size > 1 << 16:
            raise TemplateError("large", found.written, "the text grows beyond 65536 characters")
        at = found.start + len(found.written)
    return "".join([*parts, text[at:]])


def _as_text(value: Value, found: Expression) -> str:
    if value is None:
        raise TemplateError("value", found.written, "this has no value")
    if isinstance(value, tuple | Mapping):
        raise TemplateError("value", found.written, "a list or mapping cannot stand inside text; use `join`")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
