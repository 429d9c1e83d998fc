"""Ansible's expressions while tasks run: `{{ … }}` in arguments, `when`, `loop`, and the tests and filters that go with
registered results.

What the language's own templates could put in is in place already; here only `item` and registered variables are left.
Values are never rendered a second time, so text that came out of the machine stays text.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from runners.sim.tasks.result import ModuleFailure
from scenario_dsl.values import Value, freeze, thaw

_SOLE = re.compile(r"\A\{\{((?:(?!\}\}|\{\{).)*)\}\}\Z", re.DOTALL)


def render(value: Value, variables: Mapping[str, Value]) -> Value:
    """`value` with every template in it replaced. A string that is one expression keeps that expression's type.

    Raises ModuleFailure for undefined names and broken templates.
    """
    if isinstance(value, str):
        return _render_text(value, variables)
    if isinstance(value, tuple):
        return tuple(render(item, variables) for item in value)
    if isinstance(value, Mapping):
        return {key: render(item, variables) for key, item in value.items()}
    return value


def holds(condition: str, variables: Mapping[str, Value]) -> bool:
    """Does a `when` hold? It must come to a boolean, as ansible-core 2.19 demands."""
    text = condition.strip()
    sole = _SOLE.match(text)
    value = _evaluate(sole.group(1) if sole else text, variables)
    if isinstance(value, str) and value in ("True", "False"):
        return value == "True"
    if not isinstance(value, bool):
        raise ModuleFailure(
            f"Conditional result ({bool(value)}) was derived from value of type {type(value).__name__!r}. "
            "Conditionals must have a boolean result."
        )
    return value


def _render_text(text: str, variables: Mapping[str, Value]) -> Value:
    if "{{" not in text and "{%" not in text:
        return text
    sole = _SOLE.match(text)
    if sole:
        return freeze(_evaluate(sole.group(1), variables))
    try:
        return _TEXTS.from_string(text).render(_plain(variables))
    except (TemplateError, TypeError, ValueError) as error:
        raise ModuleFailure(f"Error while resolving value: {error}") from error


def _evaluate(expression: str, variables: Mapping[str, Value]) -> Any:
    try:
        value = _TEXTS.compile_expression(expression.strip(), undefined_to_none=False)(**_plain(variables))
        if isinstance(value, Undefined):
            str(value)
    except (TemplateError, TypeError, ValueError, AttributeError) as error:
        raise ModuleFailure(f"Error while evaluating expression: {error}") from error
    return value


def _plain(variables: Mapping[str, Value]) -> dict[str, Any]:
    return {name: thaw(value) for name, value in variables.items()}


# -- tests and filters


def _result_test(key: str, wanted: bool) -> Callable[[Any], bool]:
    def test(result: Any) -> bool:
        if not isinstance(result, Mapping):
            raise TemplateError(f"The '{key}' test expects a dictionary")
        return bool(result.get(key, False)) is wanted

    return test


def _searches(method: str) -> Callable[..., bool]:
    def test(value: Any, pattern: str, ignorecase: bool = False, multiline: bool = False) -> bool:
        flags = (re.IGNORECASE if ignorecase else 0) | (re.MULTILINE if multiline else 0)
        return getattr(re.compile(pattern, flags), method)(str(value)) is not None

    return test


def _regex_search(value: Any, pattern: str, *groups: str) -> Any:
    """The match, or the groups asked for as `\\1` or `\\g<name>`; None where nothing matches."""
    match = re.search(pattern, str(value))
    if match is None:
        return None
    if not groups:
        return match.group()
    return [match.group(name[3:-1] if name.startswith("\\g<") else int(name.lstrip("\\"))) for name in groups]


def _to_bool(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() in ("yes", "on", "1", "true")


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {
        "b64decode": lambda value: base64.b64decode(value).decode("utf-8", "surrogateescape"),
        "b64encode": lambda value: base64.b64encode(str(value).encode("utf-8", "surrogateescape")).decode(),
        "basename": lambda value: posixpath.basename(value),
        "bool": _to_bool,
        "dirname": lambda value: posixpath.dirname(value),
        "from_json": json.loads,
        "quote": lambda value: "'" + str(value).replace("'", "'\"'\"'") + "'",
        "regex_escape": lambda value: re.escape(str(value)),
        "regex_findall": lambda value, pattern: re.findall(pattern, str(value)),
        "regex_replace": lambda value, pattern="", to="": re.sub(pattern, to, str(value)),
        "regex_search": _regex_search,
        "split": lambda value, separator=None: str(value).split(separator),
        "to_json": json.dumps,
    }
    failed, succeeded = _result_test("failed", True), _result_test("failed", False)
    changed, skipped = _result_test("changed", True), _result_test("skipped", True)
    environment.tests |= {
        "change": changed,
        "changed": changed,
        "failed": failed,
        "failure": failed,
        "match": _searches("match"),
        "regex": _searches("search"),
        "search": _searches("search"),
        "skip": skipped,
        "skipped": skipped,
        "succeeded": succeeded,
        "success": succeeded,
    }
    return environment


_TEXTS = _environment()
