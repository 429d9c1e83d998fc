"""Records are written as RFC 8785 asks, whatever text and numbers they hold."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from compiler.codec import NotCanonical
from runners.records import AgentIdentity, Trial, TrialRecord, Turn
from runners.records_io import decode, encode, seal
from tests.runners.cases import job_of, repair, site_of


def trial() -> Trial:
    return job_of(site_of(repair()), agent=AgentIdentity(name="someone")).trial


TRIAL = trial()


def record(text: str, number: float, count: int) -> TrialRecord:
    return TrialRecord(
        trial_id="0" * 64,
        trial=TRIAL,
        ordinal=0,
        outcome="Failed",
        score=number,
        commands=count,
        seconds=number,
        turns=(Turn(kind="run", text=text, output=text, exit_code=0, reward=-number),),
    )


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.floats(-(2**53) + 1, 2**53 - 1) | st.floats(-1e-3, 1e-3),
    st.integers(-(2**53) + 1, 2**53 - 1),
)
def test_same_bytes_as_the_reference_encoder(text: str, number: float, count: int) -> None:
    made = record(text, number, count)
    assert encode(made) == rfc8785.dumps(asdict(made))
    assert decode(seal(encode(made))) == made


@pytest.mark.parametrize(("text", "number"), [("\ud800", 1.0), ("", float("nan")), ("", float("inf")), ("", 1e300)])
def test_refuses_what_json_readers_do_not_keep(text: str, number: float) -> None:
    with pytest.raises(NotCanonical):
        encode(record(text, number, 0))
