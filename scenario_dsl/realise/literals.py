"""Plain text inside Ansible's templates.

Every text in a resolved task is an Ansible template, because tasks may speak of `item` and of registered results. Text
that must not be one (a configuration file that itself holds `{{ name }}`) is escaped by `escape`; `unescape` tells the
lowering which texts are plain, so that a playbook can carry them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scenario_dsl.values import Value

_OPENING = re.compile(r"\{(?=[{%#])")
_OPENING_OR_LAST = re.compile(r"\{(?=[{%#]|\Z)")
_BRACE = "{{ '{' }}"


def is_template(text: str) -> bool:
    """Would Ansible (or jinja2) see anything but text here?"""
    return _OPENING.search(text) is not None


def escape(text: str, *, joined: bool = False) -> str:
    """The template that renders to `text`. `joined`: an expression follows it, so that a last brace counts too."""
    return (_OPENING_OR_LAST if joined else _OPENING).sub(lambda _: _BRACE, text)


def escape_all(value: Value) -> Value:
    """`escape` for every text inside a value."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, tuple):
        return tuple(escape_all(item) for item in value)
    if isinstance(value, Mapping):
        return {key: escape_all(item) for key, item in value.items()}
    return value


def unescape(template: str) -> str | None:
    """The text that `escape` was given, or None when the template holds expressions of its own."""
    parts = template.split(_BRACE)
    if any(is_template(part) for part in parts):
        return None
    return "{".join(parts)
