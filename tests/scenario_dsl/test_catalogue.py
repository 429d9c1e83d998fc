"""The catalogue of faults: current, complete, and its examples can be copied into a scenario."""

from __future__ import annotations

import re

import pytest

from scenario_dsl.catalogue import catalogue
from scenario_dsl.markdown import flow
from scenario_dsl.nodes import value_of
from scenario_dsl.parsing import parse
from scenario_dsl.source import SourceText
from scenario_dsl.values import Value
from tests.scenario_dsl.regenerate import CATALOGUE, shipped_libraries

TEXT = CATALOGUE.read_text(encoding="utf-8")
FAULTS = {name: fault for library in shipped_libraries() for name, fault in library.faults.items()}


def test_catalogue_is_current() -> None:
    assert catalogue(shipped_libraries()) == TEXT


def section(name: str) -> str:
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{name} has no section"
    return found[1]


def read(text: str) -> Value:
    document, found = parse(SourceText("example.yml", text))
    assert document is not None, found
    return value_of(document.root)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_section_says_all_there_is_about_a_fault(name: str) -> None:
    fault, text = FAULTS[name], section(name)
    assert " ".join(text.split()).startswith(f"**{fault.title}.**")
    for parameter in fault.arguments:
        assert f"| `{parameter.name}` | {parameter.type} | {parameter.doc}" in text
    assert text.count("\n- `") == len(fault.witness)
    block = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    key = "instead_of_faults" if fault.decoy else "faults"
    assert read(block[1]) == {key: ({name: fault.example},)}


def test_needs_are_read_off_the_tasks() -> None:
    assert "`/usr/local/bin/report-export`" in section("port_taken")
    assert "any that has what the arguments name" in section("wrong_owner")


@pytest.mark.parametrize(
    "value",
    [
        "text", "/a/b", "20MB", "0640", "640", "1e5", "0x1f", "true", "Null", "a: b", "it's", "", "a, b", "-",
        True, None, 3, 0.5, ("a", "1"), {"a": {"b": ()}},
    ],
)  # fmt: skip
def test_flow_is_read_back_as_it_was(value: Value) -> None:
    assert read(f"key: {flow(value)}") == {"key": value}
