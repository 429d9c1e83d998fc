"""An intervention as a document of its own, in YAML and in JSON."""

from __future__ import annotations

import json

import pytest

from scenario_dsl.diagnostics import Diagnostics
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Hypothesis, Intervention, Step
from scenario_dsl.realise.interventions import read_intervention
from scenario_dsl.source import SourceText

TEXT = """
intervention: start what died
hypothesis: a service behind the shop has died
predicts: systemd lists it as failed
alternatives:
  - {hypothesis: the network is down, predicts: no packet comes through}
evidence: [0123456789abcdef]
falsifier: test -z "$(systemctl --failed --no-legend)"
invariants: [systemctl is-active nginx]
steps:
  - {run: systemctl --failed, discover: unit}
  - {run: "systemctl start {{ unit }}", only_if: "systemctl is-failed {{ unit }}", undo: "systemctl stop {{ unit }}"}
postconditions: ["systemctl is-active {{ unit }}"]
"""
MEANT = Intervention(
    name="start what died",
    hypothesis="a service behind the shop has died",
    predicts="systemd lists it as failed",
    alternatives=(Hypothesis(claim="the network is down", predicts="no packet comes through"),),
    evidence=("0123456789abcdef",),
    falsifier='test -z "$(systemctl --failed --no-legend)"',
    invariants=("systemctl is-active nginx",),
    steps=(
        Step(run="systemctl --failed", discover="unit"),
        Step(
            run="systemctl start {{ unit }}",
            only_if="systemctl is-failed {{ unit }}",
            undo="systemctl stop {{ unit }}",
        ),
    ),
    postconditions=("systemctl is-active {{ unit }}",),
)


def test_yaml_and_json_say_the_same() -> None:
    assert read_intervention(SourceText("fix.yml", TEXT)) == MEANT
    data = {
        "intervention": "start what died",
        "hypothesis": MEANT.hypothesis,
        "predicts": MEANT.predicts,
        "alternatives": [{"hypothesis": "the network is down", "predicts": "no packet comes through"}],
        "evidence": ["0123456789abcdef"],
        "falsifier": MEANT.falsifier,
        "invariants": list(MEANT.invariants),
        "steps": [
            {key: getattr(step, key) for key in ("run", "discover", "only_if", "undo") if getattr(step, key)}
            for step in MEANT.steps
        ],
        "postconditions": list(MEANT.postconditions),
    }
    assert read_intervention(SourceText("fix.json", json.dumps(data, indent=2))) == MEANT


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hypothesis: a service", "hypothesys: a service", "unknown key `hypothesys`"),
        ("0123456789abcdef", "the log", "evidence"),
        ("start {{ unit }}", "start {{ unti }}", "`unti`"),
        ("invariants: [systemctl is-active nginx]", 'invariants: ["systemctl is-active {{ unit }}"]', "`unit`"),
        ("intervention: start what died", "scenario: x", "missing here"),
        ("run: systemctl --failed, ", "", "discover"),
    ],
)
def test_mistakes_are_pointed_at(old: str, new: str, said: str) -> None:
    with pytest.raises(Diagnostics) as caught:
        read_intervention(SourceText("fix.yml", TEXT.replace(old, new, 1)))
    assert said in str(caught.value)
    assert "fix.yml:" in str(caught.value)


def test_a_document_of_another_kind_is_no_intervention() -> None:
    pack = "pack: mine\nversion: 1.0.0\ntitle: Mine\nlicense: MIT\ncanary: x\n"
    with pytest.raises(AuthorError, match="is a pack; an intervention begins with `intervention:`"):
        read_intervention(SourceText("mine.yml", pack))
