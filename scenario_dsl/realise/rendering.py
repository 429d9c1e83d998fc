"""Putting values into texts, where some names get theirs only at run time.

A document's names (parameters, a fault's arguments) are known now. Names of the run (a task's `item` and registered
results, a step's discovered values) are not; expressions about them stay. One expression never speaks of both. All
functions raise TemplateError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from scenario_dsl.realise.literals import escape, escape_all
from scenario_dsl.template import TemplateError, expressions, names_in, names_in_condition, render
from scenario_dsl.values import Value, strings


def text(template: str, names: Mapping[str, Value]) -> str:
    """A template whose result is text, whatever type its values have."""
    value = render(template, names)
    if value is None or isinstance(value, tuple | Mapping):
        raise TemplateError("value", template, "it gives no text")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def mentions(value: Value, names: AbstractSet[str]) -> bool:
    """Does any text inside a value speak of one of the names?"""
    return any(names_in(found) & names for _, found in strings(value))


def for_shell(template: str, names: Mapping[str, Value], discovered: AbstractSet[str]) -> str:
    """Shell text: discovered names, each alone in its expression, stay as `{{ name }}` for the run to replace."""
    known = {name: value for name, value in names.items() if name not in discovered}
    parts: list[str] = []
    for part, is_expression in _parts(template):
        if is_expression and names_in(part) & discovered:
            parts.append(f"{{{{ {part[2:-2].strip()} }}}}")
        else:
            parts.append(text(part, known) if is_expression else part)
    return "".join(parts)


def for_ansible(value: Value, names: Mapping[str, Value], runtime: AbstractSet[str]) -> Value:
    """A task's argument as an Ansible template: expressions about `runtime` names are left, all else is escaped."""
    if isinstance(value, str):
        return _ansible_text(value, names, runtime)
    if isinstance(value, tuple):
        return tuple(for_ansible(item, names, runtime) for item in value)
    if isinstance(value, Mapping):
        return {key: for_ansible(item, names, runtime) for key, item in value.items()}
    return value


def condition(when: str, names: Mapping[str, Value], runtime: AbstractSet[str]) -> bool | str:
    """A task's `when`: True or False where it is decided by the document's names alone, else what Ansible must decide.

    In a condition about both, the document's names are written as `{{ name }}`.
    """
    written = when
    if "{{" in when:
        when = _joined(when, names, runtime, escaped=False)
    used = names_in_condition(when)
    if used & runtime:
        _refuse_mixed(written, used, names.keys(), runtime)
        return when
    decided = render(f"{{{{ {when} }}}}", names)
    if not isinstance(decided, bool):
        raise TemplateError("value", written, "it is neither true nor false")
    return decided


def _ansible_text(template: str, names: Mapping[str, Value], runtime: AbstractSet[str]) -> Value:
    if not names_in(template) & runtime:
        return escape_all(render(template, names))
    return _joined(template, names, runtime, escaped=True)


def _joined(template: str, names: Mapping[str, Value], runtime: AbstractSet[str], *, escaped: bool) -> str:
    parts: list[str] = []
    known = {name: value for name, value in names.items() if name not in runtime}
    for part, is_expression in _parts(template):
        used = names_in(part) if is_expression else frozenset()
        if used & runtime:
            _refuse_mixed(part, used, names.keys(), runtime)
            parts.append(part)
        else:
            plain = text(part, known) if is_expression else part
            parts.append(escape(plain, joined=True) if escaped else plain)
    return "".join(parts)


def _refuse_mixed(written: str, used: AbstractSet[str], names: AbstractSet[str], runtime: AbstractSet[str]) -> None:
    early, late = sorted(used & names - runtime), sorted(used & runtime)
    if early and late:
        raise TemplateError("mixed", written, "this mixes now and later", early[0], late[0])


def _parts(template: str) -> Iterator[tuple[str, bool]]:
    """The template cut into plain text and expressions (True), in order."""
    end = 0
    for found in expressions(template):
        if found.start > end:
            yield template[end : found.start], False
        yield found.written, True
        end = found.start + len(found.written)
    if end < len(template):
        yield template[end:], False
