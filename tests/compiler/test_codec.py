from __future__ import annotations

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.codec import Malformed, NotCanonical, dump, load, load_value
from compiler.model import Finding, Proof, ScenarioProof
from scenario_dsl.model import Answer, Delay, Intervention, Objective, Probe, Seen, Step, System, SystemFile, Task
from scenario_dsl.values import Value
from scenario_dsl.worlds import ResolvedFault, World

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
REAL = st.floats(-(2.0**53) + 1, 2.0**53 - 1, allow_nan=False)
SCALAR = st.none() | st.booleans() | WHOLE | REAL | TEXT
VALUE: st.SearchStrategy[Value] = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(TEXT, VALUE, max_size=3)
ROUTE = st.lists(TEXT | st.integers(0, 99), max_size=3).map(tuple)
PROBE = st.builds(Probe, type=TEXT, arguments=ARGUMENTS, at=ROUTE)
TASK = st.builds(
    Task,
    name=TEXT,
    module=TEXT,
    arguments=ARGUMENTS,
    when=st.none() | TEXT,
    loop=st.none() | TEXT | st.lists(VALUE, max_size=2).map(tuple),
    register=st.none() | TEXT,
    ignore_errors=st.booleans(),
    at=ROUTE,
)
TASKS = st.lists(TASK, max_size=2).map(tuple)
FAULT = st.builds(ResolvedFault, fault=TEXT, arguments=ARGUMENTS, inject=TASKS, revert=TASKS, witness=st.tuples(PROBE))
CHECK = (
    PROBE
    | st.builds(Answer, question=TEXT, equals=TEXT, matches=st.none())
    | st.builds(Seen, output=TEXT, command=st.none() | TEXT)
)
OBJECTIVE = st.builds(Objective, name=TEXT, points=REAL, check=CHECK, armed_by=st.none() | TEXT, settle=REAL, at=ROUTE)
WORLD = st.builds(
    World,
    name=TEXT,
    role=st.sampled_from(["primary", "twin", "control"]),
    parameters=ARGUMENTS,
    complaint=TEXT,
    faults=st.tuples(FAULT),
    cascades=st.just(()),
    objectives=st.tuples(OBJECTIVE),
    invariants=st.just(()),
)
OPTIONAL = st.none() | TEXT
STEP = st.builds(
    Step, think=OPTIONAL, run=OPTIONAL, discover=OPTIONAL, only_if=OPTIONAL, undo=OPTIONAL, answer=OPTIONAL
)
INTERVENTION = st.builds(Intervention, name=TEXT, steps=st.lists(STEP, max_size=3).map(tuple), hypothesis=OPTIONAL)
FILE = st.builds(
    SystemFile,
    path=TEXT,
    type=st.sampled_from(["file", "directory", "link"]),
    content=OPTIONAL,
    mode=OPTIONAL,
    size=st.none() | st.integers(0, 2**50),
    age=st.floats(0, 1e9),
)
SYSTEM = st.builds(System, name=TEXT, title=TEXT, files=st.tuples(FILE), settings=ARGUMENTS, healthy=st.tuples(PROBE))
FINDING = st.builds(Finding, check=TEXT, world=TEXT, passed=st.none() | st.booleans(), detail=TEXT)
PROOF = st.builds(
    Proof,
    bundle_digest=TEXT,
    scenarios=st.lists(
        st.builds(
            ScenarioProof, scenario=TEXT, backend=TEXT, repeats=WHOLE, findings=st.lists(FINDING, max_size=3).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the first value makes all the strategies
@given(value=WORLD | INTERVENTION | SYSTEM | PROOF | st.builds(Delay, commands=WHOLE, seconds=REAL))
def test_what_is_written_comes_back(value: Any) -> None:
    data = dump(value)
    back = load(type(value), data)
    assert back == value
    assert dump(back) == data


@given(value=VALUE)
def test_plain_values_come_back(value: Value) -> None:
    assert load_value(dump(value)) == value


KEYS = st.text(st.sampled_from('ab"\\\x00\x1f\x7f\u2028\ud7ff\ue000\uffff\U0001f600'), max_size=4)


@given(value=st.dictionaries(KEYS, st.floats(-1e6, 1e6) | st.floats(-1e-3, 1e-3) | WHOLE | KEYS, max_size=6))
def test_every_way_to_write_is_rfc_8785s(value: dict[str, Any]) -> None:
    assert dump(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("number", [math.nan, math.inf, 2**53, -(2**53), 1e17])
def test_numbers_that_json_would_change_are_refused(number: float) -> None:
    with pytest.raises(NotCanonical):
        dump({"a": (number,)})


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(NotCanonical):
        dump("\ud800")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"commands":1,"seconds":0,"hours":1}', "hours"),
        (b'{"commands":"1","seconds":0}', "commands"),
        (b'{"commands":true,"seconds":0}', "commands"),
        (b'{"commands":1.5,"seconds":0}', "commands"),
        (b"[]", "its beginning"),
        (b"{", "its beginning"),
        (b"1],[2", "its beginning"),
        (b"\xff", "its beginning"),
        (b"", "its beginning"),
    ],
)
def test_other_shapes_are_refused_with_their_place(data: bytes, where: str) -> None:
    with pytest.raises(Malformed) as caught:
        load(Delay, data)
    assert caught.value.where == where
