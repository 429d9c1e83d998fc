"""What `check` accepts, `compile_pack` takes: values of good documents are changed at random, and both are asked.

Mutations are drawn from a seeded generator, so that a failure names a seed that shows it again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from compiler.bundle import compile_pack
from scenario_dsl.checks.fault import check_fault
from scenario_dsl.checks.scenario import check_scenario
from scenario_dsl.checks.system import check_system
from scenario_dsl.diagnostics import Diagnostic, errors_in
from scenario_dsl.library import load_library
from scenario_dsl.loading import Loaded, load_text
from scenario_dsl.model import Fault, Library, Scenario, System
from scenario_dsl.nodes import ScalarNode, scalars
from scenario_dsl.realise.known import known_of
from scenario_dsl.source import SourceText

PACK = Path(__file__).parents[1] / "scenario_dsl" / "pack"
GOOD = sorted(path for path in PACK.rglob("*.yml") if path.name != "pack.yml")
ROUNDS, PER_ROUND = 8, 40
VALUES = (
    "banana", '""', '" "', "0", "1", "-1", "70000", "3.5", "1e-7", "9007199254740991", "true", "null", "[a, b]", "[]",
    "{a: b}", '"0644"', '"u+x"', "5s", "1h30m", "8GB", "64KB", "/etc/x", "relative/x", "a.service", '"a b"', '"("',
    '"^a$"', '"http://localhost/"', "ü漢😀", '"\\ud83d"', '"\\0"', '"{{ unit }}"', '"{{ port }}"', '"{{ path }}"',
    '"{{ keep }}"', '"{{ item }}"', '"x {{ port }} y"', '"{{ [1, 2] }}"', '"{{ none }}"', '"{{ 1 // 0 }}"',
    '"{{ 2 ** 53 }}"', '"{{ 2 ** 60 }}"', '"{{ 1.5 }}"', '"{{ port > 1 }}"', '"{{ \'{{\' }} x }}"', '"{{ unit ~ 1 }}"',
    '"{{ stopped }}"', '"{{ stopped | upper }}"', '"{{ before.stat.exists }}"', '"{{ before.stat.size ~ keep }}"',
    '"{% for %}"', '"{{ {1: 2} }}"', '"{{ {} }}"',
)  # fmt: skip


def mutated(text: str, path: Path, source: random.Random) -> str:
    """The document with one or two of its scalars replaced."""
    for _ in range(source.choice((1, 1, 2))):
        document = load_text(path, SourceText(path.name, text)).document
        if document is None:
            return text
        plain = [node for _, node in scalars(document.root) if node.style != "literal" and node.style != "folded"]
        node: ScalarNode = source.choice(plain)
        text = text[: node.span.start] + source.choice(VALUES) + text[node.span.end :]
    return text


def with_document(library: Library, loaded: Loaded) -> Library:
    value = loaded.value
    assert loaded.document is not None
    documents = {**library.documents, (str(loaded.kind), loaded.name): loaded.document}
    if isinstance(value, Scenario):
        return replace(library, scenarios={**library.scenarios, value.name: value}, documents=documents)
    if isinstance(value, Fault):
        return replace(library, faults={**library.faults, value.name: value}, documents=documents)
    assert isinstance(value, System)
    value = replace(value, files=library.systems[value.name].files if value.name in library.systems else value.files)
    return replace(library, systems={**library.systems, value.name: value}, documents=documents)


def checked(library: Library, loaded: Loaded) -> Iterator[Diagnostic]:
    """What `check` says of the pack with this document in it."""
    known = known_of(library)
    assert loaded.document is not None
    if isinstance(loaded.value, Fault):
        yield from check_fault(loaded.document, loaded.value)
    if isinstance(loaded.value, System):
        yield from check_system(loaded.document, loaded.value, loaded.data)
    for name, scenario in library.scenarios.items():
        yield from check_scenario(library.documents["scenario", name], scenario, known)


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(PACK)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_what_check_accepts_compile_takes(seed: int, library: Library) -> None:
    source = random.Random(seed)
    accepted = 0
    for number in range(PER_ROUND):
        path = source.choice(GOOD)
        text = mutated(path.read_text(), path, source)
        loaded = load_text(path, SourceText(path.name, text))
        if loaded.value is None:
            continue
        changed = with_document(library, loaded)
        if errors_in((*loaded.found, *checked(changed, loaded))):
            continue
        accepted += 1
        try:
            compile_pack(changed)
        except Exception as error:
            raise AssertionError(f"seed {seed}, mutation {number}: accepted, and then {error!r}\n{text}") from error
    assert accepted >= 3, "almost nothing was accepted, so that nothing was tested"
