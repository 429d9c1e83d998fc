"""Templates: what they compute, and that no expression can hang, crash, grow or reach out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_dsl.template import (
    TemplateError,
    expressions,
    is_name,
    names_in,
    names_in_condition,
    render,
)
from scenario_dsl.values import Value

NAMES: Mapping[str, Value] = {
    "port": 8080,
    "unit": "app",
    "on": True,
    "paths": ("/a", "/b"),
    "none": None,
    "m": {"k": 1},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{{ port }}", 8080),
        ("{{port}}", 8080),
        ("{{ port + 1 }}", 8081),
        (" {{ port }}", " 8080"),
        ("{{ on }}", True),
        ("x{{ on }}", "xtrue"),
        ("{{ paths }}", ("/a", "/b")),
        ("{{ paths[0] }}", "/a"),
        ("{{ paths | join(' ') }}", "/a /b"),
        ("{{ paths | reverse | list }}", ("/b", "/a")),
        ("{{ m.k }}", 1),
        ("{{ 'a' if on else 'b' }}", "a"),
        ("{{ unit ~ '-' ~ port }}", "app-8080"),
        ("{{ unit | upper }} {{ unit | quote }}", "APP app"),
        ("{{ none | default('x') }}", "x"),
        ("{{ '/a/b' | basename }}{{ '/a/b' | dirname }}", "b/a"),
        ("{{ 'a.b' | regex_escape }}", "a\\.b"),
        ("{{ 2 ** 10 }}", 1024),
        ("${#array[@]} {%s} {# x #} ${x:-y}", "${#array[@]} {%s} {# x #} ${x:-y}"),
        ("awk '{print $1; exit}'", "awk '{print $1; exit}'"),
        ("{{ unclosed", "{{ unclosed"),
    ],
)
def test_value(text: str, value: Value) -> None:
    assert render(text, NAMES) == value
    assert type(render(text, NAMES)) is type(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{ nobody }}", "unknown"),
        ("{{ }}", "syntax"),
        ("{{ 1 + }}", "syntax"),
        ("{{- port -}}", "syntax"),
        ("{{ port }}{{ {'a': {'b': 1}} }}", "syntax"),
        ("{{ m.missing }}", "value"),
        ("{{ port / 0 }}", "value"),
        ("{{ unit - 1 }}", "value"),
        ("{{ unit | int }}", "value"),
        ("{{ paths }} in text", "value"),
        ("{{ none }} in text", "value"),
        ("{{ unit.__class__ }}", "value"),
        ("{{ unit['__class__'] }}", "value"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "forbidden"),
        ("{{ unit.format(1) }}", "forbidden"),
        ("{{ range(10) }}", "forbidden"),
        ("{{ self }}", "unknown"),
        ("{{ cycler }}", "unknown"),
        ("{{ lipsum() }}", "forbidden"),
        ("{{ unit | attr('upper') }}", "forbidden"),
        ("{{ paths | map('upper') | list }}", "forbidden"),
        ("{{ '%s' | format(1) }}", "forbidden"),
        ("{{ 9 ** 9 ** 9 }}", "large"),
        ("{{ 9 ** 9 ** 9 ** 9 ** 9 }}", "large"),
        ("{{ (-9) ** 999999999 }}", "large"),
        ("{{ 2.0 ** 99999 }}", "value"),
        ("{{ 1e308 * 10 }}", "large"),
        ("{{ 1e999 }}", "large"),
        ("{{ " + "9" * 900 + " }}", "large"),
        ("{{ 'a' * 10 ** 9 }}", "large"),
        ("{{ 10 ** 9 * 'a' }}", "large"),
        ("{{ [0] * 10 ** 9 }}", "large"),
        ("{{ ('a' * 60000) ~ ('a' * 60000) }}", "large"),
        ("{{ ('a' * 60000) | replace('a', 'a' * 60000) }}", "large"),
        ("{{ ('a' * 60000) | list | join('a' * 60000) }}", "large"),
        ('{{ ("\'" * 60000)' + " | quote" * 30 + " }}", "large"),
        ("{{ '.' * 60000" + " | regex_escape" * 30 + " }}", "large"),
        ("{{ ('9' * 60000) | int }}", "large"),
        ("{{ '%9999999999d' % 1 }}", "value"),
        ("{{ 'a' * 60000 }}{{ 'a' * 60000 }}", "large"),
        ("{{ " + "(" * 400 + "1" + ")" * 400 + " }}", "large"),
        ("{{ " + "-" * 900 + "1 }}", "large"),
        ("{{ " + "[" * 400 + "]" * 400 + " }}", "large"),
        ("{{ " + "1 + " * 300 + "1 }}", "large"),
        ("{{ " + "not " * 240 + "1 }}", "large"),
        ("{{ " + "x" * 2000 + " }}", "large"),
    ],
)
def test_hostile_and_wrong_expressions_are_refused_at_once(text: str, kind: str) -> None:
    began = time.perf_counter()
    with pytest.raises(TemplateError) as caught:
        render(text, NAMES)
    assert time.perf_counter() - began < 2
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 3000


@given(st.text(alphabet="{}[]()%#'\"|~+-*/.,:= abport019e\\_", max_size=60))
def test_any_expression_has_a_value_or_a_template_error(inner: str) -> None:
    # Nothing but a TemplateError may leave it.
    with suppress(TemplateError):
        render("{{" + inner + "}}", NAMES)


def test_names() -> None:
    assert names_in("{{ a }} {{ b + c | default(d) }} {x}") == {"a", "b", "c", "d"}
    assert names_in("none") == frozenset()
    assert names_in_condition("before.stat.exists and item is defined") == {"before", "item"}
    with pytest.raises(TemplateError):
        names_in_condition("a ==")


def test_places_of_expressions() -> None:
    found = list(expressions("ab {{ x }}c{{y}}"))
    assert [(each.written, each.start) for each in found] == [("{{ x }}", 3), ("{{y}}", 11)]
    assert is_name(" x ")
    assert not is_name("x | upper")
