"""The published schemas: current, valid, free of `oneOf`, and in agreement with what `check` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from scenario_dsl.model import Parameter
from scenario_dsl.modules import MODULES
from scenario_dsl.parameters import TYPE_NAMES, normal
from scenario_dsl.probes import PROBES
from scenario_dsl.reference import reference
from scenario_dsl.schema import KINDS, DocumentKind, inlined, schema, schema_files
from tests.scenario_dsl.regenerate import REFERENCE, SCHEMAS

PACK = Path(__file__).parent / "pack"


def test_published_schemas_are_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.glob("*.json")}
    assert written == dict(schema_files())


def test_language_reference_is_current() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_valid_and_use_no_one_of(kind: DocumentKind) -> None:
    Draft202012Validator.check_schema(schema(kind))
    Draft202012Validator.check_schema(inlined(kind))
    assert '"oneOf"' not in json.dumps(schema(kind))
    assert "$ref" not in json.dumps(inlined(kind))


@pytest.mark.parametrize("path", sorted(PACK.rglob("*.yml")), ids=lambda path: path.stem)
def test_published_schema_takes_good_documents(path: Path) -> None:
    """As an editor uses them: the published text, references and all."""
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    kind = next(kind for kind in KINDS if kind in document)
    published = json.loads((SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    broken = [error for error in Draft202012Validator(published).iter_errors(document) if "$defs" not in error.schema]
    # BaseLoader gives every scalar as text, so only what text can break counts: keys and their nesting.
    assert not [error.message for error in broken if error.validator in ("additionalProperties", "required", "anyOf")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_a_description(kind: DocumentKind) -> None:
    bare = [path for path, node in _properties(schema(kind), kind) if not _described(node)]
    assert bare == []


def _described(node: object) -> bool:
    return isinstance(node, dict) and bool(node.get("description") or "$ref" in node or node == {"not": {}})


def _properties(node: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(node, list):
        for item in node:
            yield from _properties(item, path)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "properties" and "additionalProperties" in node:
            for name, inner in value.items():
                yield f"{path}.{name}", inner
        if key not in ("if", "then", "dependentSchemas"):
            yield from _properties(value, f"{path}.{key}")


@pytest.mark.parametrize("name", PROBES)
def test_examples_of_probes_are_valid(name: str) -> None:
    probe = PROBES[name]
    declared = {parameter.name: parameter for parameter in probe.parameters}
    assert set(probe.example) <= set(declared)
    assert {parameter.name for parameter in probe.parameters if parameter.required} <= set(probe.example)
    for argument, value in probe.example.items():
        normal(declared[argument].type, value)
    if probe.at_least_one:
        assert set(probe.at_least_one) & set(probe.example)


@pytest.mark.parametrize("name", [*PROBES, *MODULES])
def test_tables_are_consistent(name: str) -> None:
    for table in (PROBES, MODULES):
        if name not in table:
            continue
        parameters: tuple[Parameter, ...] = table[name].parameters
        names = [parameter.name for parameter in parameters]
        assert len(names) == len(set(names))
        assert all(parameter.doc and parameter.type in TYPE_NAMES for parameter in parameters)
        assert all(key in names for group in table[name].exactly_one for key in group)
        for parameter in parameters:
            if parameter.default is not None:
                normal(parameter.type, parameter.default)
                assert not parameter.choices or parameter.default in parameter.choices
