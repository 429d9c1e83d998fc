"""Receipts of recorded trials."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler.receipts import sign_receipt, verify_receipt
from compiler.trust import Trust, TrustedKey
from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Action, Agent, Observation, Run, Submit
from runners.agents.script import ScriptAgent
from runners.attempt.issuing import issue
from runners.records import TrialRecord
from runners.replay import ReplayError
from runners.trials import play_trial
from scenario_dsl.errors import AuthorError
from tests.runners.cases import GOLD, bundle_of, investigation, job_of, repair, site_of
from tests.runners.toy import ToyBackend

BUNDLE = bundle_of(repair())
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUST = Trust(source="test", keys=(TrustedKey(name="me", key=KEY.public_key()),))


class Citing(InterventionAgent):
    """Plays gold, and cites the first thing it saw."""

    def __init__(self) -> None:
        super().__init__(GOLD)
        self.first = ""

    def act(self, observation: Observation) -> Action:
        self.first = self.first or observation.evidence
        action = super().act(observation)
        return Submit(replace(GOLD, evidence=(self.first[:16],))) if isinstance(action, Submit) else action


def recorded(agent: Agent) -> TrialRecord:
    site = site_of(repair())
    return play_trial(job_of(site, seed=3), site, site.scenario.worlds[0], agent)


def test_a_verified_document_gets_its_receipt() -> None:
    record = replace(recorded(Citing()), model="some/model")
    issued = issue(record, BUNDLE, ToyBackend())
    receipt = verify_receipt(sign_receipt(issued.receipt, KEY), TRUST, issued.outputs)
    assert (receipt.model, receipt.mode, receipt.agent) == ("some/model", "live", "test")
    assert receipt.intervention.evidence == (receipt.evidence[0].id,)
    assert [change.what for change in receipt.changes] == ["/etc/app.conf", "process:app"]
    assert receipt.facts == record.facts
    assert issue(replace(record, mode="replay"), BUNDLE, ToyBackend()).receipt.mode == "replay"


def test_no_other_verdict_and_no_typed_commands_get_one() -> None:
    with pytest.raises(AuthorError, match="by itself is HARMFUL"):
        issue(recorded(InterventionAgent(repair().bad[0])), BUNDLE, ToyBackend())
    typed = tuple(Run(turn.text) for turn in recorded(InterventionAgent(GOLD)).turns if turn.kind == "run")
    with pytest.raises(AuthorError, match="by itself is UNKNOWN"):
        issue(recorded(ScriptAgent(typed)), BUNDLE, ToyBackend())


def test_a_record_that_says_more_than_was_played_gets_none() -> None:
    honest = recorded(Citing())
    poor = recorded(InterventionAgent(repair().bad[0]))
    with pytest.raises(AuthorError, match="is not what was played"):
        issue(replace(poor, facts=honest.facts, harms=()), BUNDLE, ToyBackend())
    with pytest.raises(ReplayError, match="not given here"):
        issue(honest, bundle_of(investigation()), ToyBackend())
