"""What prove says to people and to scripts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from breakfix.cli.main import run
from breakfix.cli.proving import as_document, show_proof
from compiler.model import Proof
from runners.prove.proving import prove
from tests.runners.cases import GOLD, bundle_of, repair
from tests.runners.test_prove import SPARE
from tests.runners.toy import ToyBackend


def proof_of(**change: object) -> Proof:
    return prove(bundle_of(replace(repair(), **change)), ToyBackend(), repeats=2)


def test_in_short_a_line_for_each_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    show_proof(proof_of(), verbose=False)
    assert capsys.readouterr().out == (
        "repair: proven, 38 findings, 8 mutants (0 survived, 0 waived), 13 bad habits (0 VERIFIED), k = 2\n"
    )


def test_a_survivor_names_the_objective_and_a_waiver_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    show_proof(proof_of(gold=SPARE, waivers={"without step 4": "a note for people"}), verbose=False)
    shown = capsys.readouterr().out
    assert "NOT PROVEN" in shown
    assert "(1 survived, 1 waived)" in shown
    assert "nobody notices gold step 4 with `web` for `app`: sharpen objective `running`" in shown
    assert "  waived gold without step 4: a note for people\n" in shown


def test_at_length_who_noticed_what(capsys: pytest.CaptureFixture[str]) -> None:
    show_proof(proof_of(), verbose=True)
    shown = capsys.readouterr().out.splitlines()
    for line in (
        "    running: 2, 3",
        "    wrong service: step 2 with `web` for `app`: 0.2 points in `primary`",
        "    known name: HARMFUL: twin in other, control in noise, repeat in primary, reversibility in primary",
        "    noise: 2 of 2",
    ):
        assert line in shown


def test_a_script_reads_the_whole_proof() -> None:
    document = as_document(proof_of(gold=replace(GOLD, steps=GOLD.steps[:2])))
    assert document["holds"] is False
    (scenario,) = document["scenarios"]
    assert scenario["holds"] is False
    assert {"scenario", "backend", "repeats", "findings", "flips", "mutants", "habits", "agreement"} <= scenario.keys()


def test_what_a_backend_cannot_run_is_left_out_and_named_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fleet = ["prove", "packs/fleet", "--quiet"]
    assert run(fleet) == 1
    assert "FAILED healthy: sim cannot run it" in capsys.readouterr().out
    assert run([*fleet, "--supported"]) == 0
    assert capsys.readouterr().out.startswith("drifted-fleet: left out, sim cannot run it: ")
    assert run([*fleet, "--supported", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["scenarios"] == []
    assert document["unsupported"].keys() == {"drifted-fleet"}
