from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from scenario_dsl.realise.literals import escape, is_template, unescape

TEXT = st.text(st.sampled_from("{}%# a'\"\\\n"), max_size=12)
# keep_trailing_newline, as Ansible has it.
JINJA = Environment(keep_trailing_newline=True)


@given(text=TEXT)
def test_escaped_text_renders_to_itself(text: str) -> None:
    assert JINJA.from_string(escape(text)).render() == text


@given(text=TEXT)
def test_escaped_text_before_an_expression_renders_to_itself(text: str) -> None:
    assert JINJA.from_string(escape(text, joined=True) + "{{ item }}").render(item="{{ x }}") == text + "{{ x }}"


@given(text=TEXT)
def test_escaped_text_is_known_as_plain(text: str) -> None:
    assert unescape(escape(text)) == text


def test_expressions_of_their_own_are_no_plain_text() -> None:
    assert unescape("{{ '{' }}{ x {{ item }}") is None
    assert is_template("{% if x %}")
    assert is_template("{# x")
    assert not is_template("{ {x} }")
