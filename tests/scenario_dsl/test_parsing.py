"""Text to trees: the scalars of YAML 1.2, places, and what libyaml's absence changes (nothing)."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scenario_dsl import parsing
from scenario_dsl.nodes import Document, data_of, value_of
from scenario_dsl.parsing import parse
from scenario_dsl.source import SourceText, Span
from scenario_dsl.values import LARGEST_NUMBER, Scalar


def document(text: str) -> Document:
    parsed, found = parse(SourceText("x.yml", text))
    assert parsed is not None
    assert found == ()
    return parsed


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0644", 644),
        ("0o644", 420),
        ("0x1F", 31),
        ("yes", "yes"),
        ("on", "on"),
        ("no", "no"),
        ("n", "n"),
        ("1:30", "1:30"),
        ("2026-03-14", "2026-03-14"),
        ("1_000", "1_000"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("+1", 1),
        ("-0", 0),
        ("=", "="),
        ("'12'", "12"),
        ('"true"', "true"),
        ("9007199254740991", 2**53 - 1),
        ("a#b", "a#b"),
        ("!!str 12", "12"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(written: str, value: Scalar) -> None:
    found = value_of(document(f"key: {written}\n").root)
    assert found == {"key": value}
    assert isinstance(found, dict)
    assert type(found["key"]) is type(value)


def test_places() -> None:
    text = "a: one\nb:\n  - {c: 'two', d: [3]}\n  - |\n    long\n    text\n"
    parsed = document(text)
    place = parsed.place

    def words(span: Span) -> str:
        return text[span.start : span.end]

    assert words(parsed.key(("b", 0, "d"))) == "d"
    assert words(place(("a",))) == "one"
    assert words(place(("b", 0, "c"))) == "'two'"
    assert words(place(("b", 0, "d", 0))) == "3"
    assert words(place(("b",))) == "b"
    assert words(place(("b", 1))) == "|"
    assert words(parsed.within(("b", 1), "text")) == "text"
    assert parsed.source.position(parsed.within(("b", 1), "text").start) == (5, 4)
    # What is not there is shown by what should hold it.
    assert words(parsed.key(("b", 0, "missing"))) == "{c: 'two', d: [3]}"
    assert words(parsed.key(("missing",))) == "a"


def test_aliases_carry_their_value_and_their_own_place() -> None:
    parsed = document("a: &x {k: 1}\nb: *x\n")
    assert data_of(parsed.root) == {"a": {"k": 1}, "b": {"k": 1}}
    span = parsed.node(("b",)).span
    assert parsed.source.text[span.start : span.end] == "*x"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_positions_agree_with_every_line_break_of_yaml(line_break: str) -> None:
    source = SourceText("x.yml", f"a: 1{line_break}b: [{line_break}")
    _, found = parse(source)
    assert [each.position for each in found] == [(2, 4)]


def test_positions_count_characters_not_bytes() -> None:
    source = SourceText("x.yml", "ü: 漢字\nkey: 'ä' b\n")
    _, found = parse(source)
    assert [each.position for each in found] == [(2, 10)]


SAME_WITHOUT_LIBYAML = [
    "a: b: c\n",
    "a: 'x\n",
    "a: [1, 2\nb: 3\n",
    "a: *b\n",
    "a: &x [*x]\n",
    "a: !foo b\n",
    "a: 1\na: 2\n",
    "a: @x\n",
    "a:\n\t- b\n",
    "a: 1\n---\nb: 2\n",
    "run: *.log\n",
    "a: " + "[" * 100,
    "- a\n",
    "a\n",
    "<<: {a: 1}\n",
]


@pytest.mark.parametrize("text", SAME_WITHOUT_LIBYAML)
def test_diagnostics_are_the_same_without_libyaml(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_libyaml = parse(SourceText("x.yml", text))[1]
    monkeypatch.setattr(parsing, "LOADER", yaml.SafeLoader)
    without = parse(SourceText("x.yml", text))[1]
    assert [(each.code, each.position) for each in without] == [(each.code, each.position) for each in with_libyaml]
    assert with_libyaml


@given(st.text(alphabet=":-#{}[]&*!|>'\"%@`?, \n\tab1~", max_size=40))
def test_any_text_gives_a_tree_or_a_diagnostic(text: str) -> None:
    parsed, found = parse(SourceText("x.yml", text))
    assert parsed is not None or found
    assert all(each.position >= (1, 1) for each in found)


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-LARGEST_NUMBER, LARGEST_NUMBER), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), PLAIN, min_size=1, max_size=4))
def test_what_json_can_say_is_read_as_json_would(data: dict[str, object]) -> None:
    """JSON is YAML 1.2; PyYAML's dumper in JSON style, quoted throughout, is the writer."""
    text = yaml.dump(data, default_style='"', default_flow_style=True, allow_unicode=False, Dumper=_Quoted)
    parsed, found = parse(SourceText("x.yml", text))
    if "<<" in data:
        return
    assert found == ()
    assert parsed is not None
    assert data_of(parsed.root) == data


class _Quoted(yaml.SafeDumper):
    """Text in quotes, everything else plain, no anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_scalar(self, tag: str, value: str, style: str | None = None) -> yaml.ScalarNode:
        plain = tag != "tag:yaml.org,2002:str"
        node: yaml.ScalarNode = super().represent_scalar(tag, value, "" if plain else '"')
        return node
