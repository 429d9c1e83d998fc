"""The litellm package carries the same dialogue: by hand or in CI (`make models`), for it is no locked dependency.

The provider is OpenAI's protocol on loopback, so that nothing leaves the machine; what litellm makes of the protocols
of others is its own business and tested there.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from runners.agents.registry import parse_agent
from runners.records import TrialRecord
from runners.trials import Job, Work, run_trial, trial_id
from scenario_dsl.values import Value
from tests.runners.agents.llm.server import Behaviour, Served, fails, in_turn, never, says, sends, serving
from tests.runners.cases import bundle_of, job_of, repair, site_of
from tests.runners.toy import ToyBackend

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(find_spec("litellm") is None, reason="pip install litellm: it is not installed here"),
]

KEY = "sk-very-secret-123456"
USUAL: dict[str, Value] = {"resend": 1, "price": {"input": 2.0, "output": 10.0}}
BUNDLE = bundle_of(repair())
REPAIR = in_turn(
    says("<think>That one.</think><bash>write /etc/app.conf good; systemctl start app</bash>", tokens=(1000, 60)),
    says("<think>Done.</think><done/>", tokens=(1200, 10)),
)


def played(
    behave: Callable[[int], Behaviour], monkeypatch: pytest.MonkeyPatch, **settings: Value
) -> tuple[TrialRecord, Served]:
    with serving(behave) as served:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        spec = parse_agent("llm:litellm/openai/tiny", settings={**USUAL, **settings})
        trial = job_of(site_of(repair()), agent=spec.identity).trial
        work = Work(
            contents={BUNDLE.digest: BUNDLE.content},
            factories={spec.identity: spec.factory},
            backend=ToyBackend(),
        )
        return run_trial(Job(trial_id=trial_id(trial), trial=trial, ordinal=0), work), served


def test_it_repairs_and_everything_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    record, served = played(REPAIR, monkeypatch)
    assert record.outcome == "Passed"
    assert record.turns[0].think == "That one."
    assert (record.tokens_in, record.tokens_out, record.requests, record.resent) == (2200, 70, 2, 0)
    assert record.cost == pytest.approx((2200 * 2 + 70 * 10) / 1e6)
    path, headers, body = served.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["seed"]) == ("tiny", record.agent_seed)


def test_it_calls_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    record, served = played(
        in_turn(
            says(None, calls=[("bash", '{"command": "write /etc/app.conf good; systemctl start app"}')]),
            says(None, calls=[("done", "{}")]),
        ),
        monkeypatch,
        protocol="tools",
    )
    assert record.outcome == "Passed"
    assert {tool["function"]["name"] for tool in served.asked[0][2]["tools"]} >= {"bash", "done"}


@pytest.mark.parametrize(
    ("behave", "kind"),
    [
        (fails(429, "slow down"), "rate-limit"),
        (fails(500), "agent"),
        (fails(401, f"Incorrect API key provided: {KEY}"), "agent"),
        (sends(b"<html>"), "agent"),
        (never, "agent"),
    ],
)
def test_what_the_endpoint_does_wrong_is_no_failure_of_the_model(
    behave: Behaviour, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, _ = played(in_turn(behave), monkeypatch, patience="1s")
    assert (record.outcome, record.error_kind) == ("Errored", kind)
    assert record.error is not None
    assert KEY not in record.error
