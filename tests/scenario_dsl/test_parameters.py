"""The types of arguments: what they take, what they refuse, what a value means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_dsl.model import Parameter
from scenario_dsl.parameters import TYPE_NAMES, TYPES, bind, is_template, normal, schema_of, type_article, type_form
from scenario_dsl.values import Value


@pytest.mark.parametrize(
    ("type_name", "value", "meaning"),
    [
        ("size", "64KB", 64000),
        ("size", "10MiB", 10 * 2**20),
        ("size", "10M", 10 * 2**20),
        ("size", "1.5GB", 1_500_000_000),
        ("size", "0", 0),
        ("size", 4096, 4096),
        ("duration", "5s", 5),
        ("duration", "1h30m", 5400),
        ("duration", "250ms", 0.25),
        ("duration", "1d", 86400),
        ("duration", 90, 90),
        ("duration", "90", 90),
        ("integer", "42", 42),
        ("integer", 3.0, 3),
        ("number", "0.5", 0.5),
        ("boolean", "true", True),
        ("boolean", False, False),
        ("port", "443", 443),
        ("mode", "0640", "0640"),
        ("mode", "u+rwx,g-w", "u+rwx,g-w"),
        ("path", "/", "/"),
        ("unit", "getty@tty1.service", "getty@tty1.service"),
        ("user", "www-data", "www-data"),
        ("url", "https://[::1]:8443/x?y=z", "https://[::1]:8443/x?y=z"),
        ("regex", "^a(b|c)+$", "^a(b|c)+$"),
        ("shell", "echo hi", "echo hi"),
        ("list of port", (80, "443"), (80, 443)),
        ("mapping", {"a": 1}, {"a": 1}),
        ("percent", 99.5, 99.5),
    ],
)
def test_meaning(type_name: str, value: Value, meaning: Value) -> None:
    assert normal(type_name, value) == meaning
    assert type(normal(type_name, value)) is type(meaning)


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("size", "10 GB"),
        ("size", "-1"),
        ("size", True),
        ("size", "9999TB"),
        ("duration", "5 s"),
        ("duration", "soon"),
        ("duration", "1.2.3"),
        ("duration", -1),
        ("duration", True),
        ("integer", "4 2"),
        ("integer", True),
        ("integer", 0.5),
        ("number", "nan"),
        ("boolean", "yes"),
        ("boolean", 1),
        ("port", 0),
        ("port", 65536),
        ("mode", 644),
        ("mode", "0888"),
        ("mode", "rw-r--r--"),
        ("path", "etc/passwd"),
        ("path", "/a\nb"),
        ("unit", "a b"),
        ("user", "Root"),
        ("url", "ftp://host/"),
        ("url", "http://"),
        ("url", "http://host:99999/"),
        ("url", "http://[::1/"),
        ("regex", "("),
        ("regex", "(?=x)"),
        ("regex", r"(a)\1"),
        ("regex", "a{1001}"),
        ("shell", "  "),
        ("string", 5),
        ("list of port", 80),
        ("list of port", (80, "x")),
        ("mapping", "x"),
        ("percent", 101),
        ("number", float("nan")),
        ("number", float("-inf")),
    ],
)
def test_refused_with_a_reason(type_name: str, value: Value) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normal(type_name, value)


_SCALARS = st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.none())


@given(type_name=st.sampled_from(sorted(TYPES)), value=_SCALARS)
def test_meaning_is_stable_and_nothing_else_is_raised(type_name: str, value: Value) -> None:
    try:
        meaning = normal(type_name, value)
    except ValueError:
        return
    assert normal(type_name, meaning) == meaning


def test_regular_expressions_that_python_warns_of_are_judged_in_silence() -> None:
    assert normal("regex", "[[]a]") == "[[]a]"


def test_bind_fills_in_defaults_and_meanings() -> None:
    parameters = (
        Parameter(name="size", type="size", doc="", default="1KiB"),
        Parameter(name="path", type="path", doc="", required=True),
        Parameter(name="note", type="string", doc=""),
    )
    assert bind(parameters, {"path": "/a"}) == {"size": 1024, "path": "/a", "note": None}
    with pytest.raises(ValueError, match=r"^size: "):
        bind(parameters, {"size": "much", "path": "/a"})


def test_templates_are_recognised() -> None:
    assert is_template("a {{ b }}")
    assert not is_template("awk '{print $1}'")
    assert not is_template(5)


@pytest.mark.parametrize("name", TYPE_NAMES)
def test_every_type_speaks_of_itself(name: str) -> None:
    assert type_article(name)
    assert type_form(name)
    assert schema_of(name)["title"] == type_article(name)
