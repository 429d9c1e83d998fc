"""Two thousand mutations of good documents: each is accepted or diagnosed, and none gives a traceback or takes long.

Mutations are drawn from a seeded generator, so that a failure names a seed that shows it again.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from scenario_dsl.checks.fault import check_fault
from scenario_dsl.checks.scenario import check_scenario
from scenario_dsl.checks.system import check_system
from scenario_dsl.diagnostics import Diagnostic, as_json, ordered, render_text
from scenario_dsl.library import load_library
from scenario_dsl.loading import load_text, unreadable
from scenario_dsl.model import Fault, Library, Scenario, System
from scenario_dsl.realise.known import known_of
from scenario_dsl.source import SourceText, Unreadable, decode

PACK = Path(__file__).parent / "pack"
GOOD = sorted(path for path in PACK.rglob("*.yml"))
ROUNDS, PER_ROUND = 20, 100
TOKENS = (
    b": ", b"- ", b" #", b"{{ ", b" }}", b"{{ x }}", b"{{ 9**9**9 }}", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"!!str ",
    b"|-\n", b">", b'"', b"'", b"\t", b"\n", b"\r\n", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"null", b"true",
    b"~", b"1e999", b"0644", b"-1", b"---\n", b"...\n", b"%YAML 1.1\n", b"<<: ", b"? ", b"@", b"`", b"\\",
    b"\xe2\x80\xa8", b"a" * 300, b"[" * 60, b"{a: " * 60, "ü".encode(), "漢字".encode(), b"5s", b"8GB",
    b"{% for x in y %}",
)  # fmt: skip


def mutated(data: bytes, other: bytes, source: random.Random) -> bytes:
    """One to four changes of bytes, tokens or lines."""
    for _ in range(source.randint(1, 4)):
        data = _changed(data, other, source)
    return data


def _changed(data: bytes, other: bytes, source: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = source.randrange(len(data) + 1)
    row = source.randrange(len(lines))
    match source.randrange(9):
        case 0:
            return data[:at] + bytes([source.randrange(256)]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + source.randint(1, 12) :]
        case 2:
            return data[:at] + source.choice(TOKENS) + data[at:]
        case 3:
            words = data.split(b" ")
            words[source.randrange(len(words))] = source.choice(TOKENS).strip() or b"x"
            return b" ".join(words)
        case 4:
            del lines[row]
        case 5:
            lines.insert(source.randrange(len(lines) + 1), lines[row])
        case 6:
            lines[row] = b" " * source.randint(1, 4) + lines[row]
        case 7:
            lines[row] = lines[row].lstrip()
        case _:
            theirs = other.split(b"\n")
            lines.insert(row, source.choice(theirs))
    return b"\n".join(lines)


def judged(data: bytes, path: Path, library: Library) -> tuple[Diagnostic, ...]:
    """What `check` says about a text, the rest of its pack being sound."""
    try:
        source = SourceText(path.name, decode(data))
    except Unreadable as error:
        return (unreadable(SourceText(path.name, error.text), error),)
    loaded = load_text(path, source)
    known = known_of(library)
    found = list(loaded.found)
    if isinstance(loaded.value, Scenario) and loaded.document:
        found += check_scenario(loaded.document, loaded.value, known)
    elif isinstance(loaded.value, Fault) and loaded.document:
        found += check_fault(loaded.document, loaded.value)
    elif isinstance(loaded.value, System) and loaded.document:
        found += check_system(loaded.document, loaded.value, loaded.data)
    assert loaded.value is not None or found
    return ordered(found)


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(PACK)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_every_mutation_is_accepted_or_diagnosed(seed: int, library: Library) -> None:
    source = random.Random(seed)
    good = [(path, path.read_bytes()) for path in GOOD]
    for number in range(PER_ROUND):
        path, data = source.choice(good)
        broken = mutated(data, source.choice(good)[1], source)
        began = time.perf_counter()
        found = judged(broken, path, library)
        text = render_text(found)
        assert time.perf_counter() - began < 2, f"seed {seed}, mutation {number}"
        lines = broken.count(b"\n") + broken.count(b"\r") + 3
        for each in as_json(found):
            line, column = each["line"], each["column"]
            assert isinstance(line, int)
            assert isinstance(column, int)
            assert 1 <= line <= lines + broken.count(b"\xe2\x80") + broken.count(b"\x85")
            assert column >= 1
            assert f"{each['path']}:{line}:{column}\n" in text


def test_the_good_documents_are_accepted(library: Library) -> None:
    assert [found for path in GOOD for found in judged(path.read_bytes(), path, library)] == []
