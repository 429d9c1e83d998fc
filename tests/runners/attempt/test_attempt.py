"""An attempt from its first stage to its last: the order, the evidence, the log, the verdict and the receipt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compiler.receipts import verify_receipt
from compiler.trust import Trust, TrustedKey
from runners.attempt import folder as on_disk
from runners.attempt.attempt import Attempt
from runners.attempt.events import Gated, Inspected, LogError, contents, from_lines, to_lines
from runners.attempt.stages import STAGES, StageError, admit
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.model import Hypothesis, Intervention, Step
from tests.runners.cases import GOLD, bundle_of, investigation, repair
from tests.runners.toy import ToyBackend, ToyWorld

BUNDLE = bundle_of(repair())
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUST = Trust(source="test", keys=(TrustedKey(name="me", key=KEY.public_key()),))
CLAIMS = (
    Hypothesis(claim="Its configuration was damaged", predicts="the unit is listed as failed"),
    Hypothesis(claim="the log is too loud", predicts="nothing has failed"),
)


def started(**named: str) -> Attempt:
    return Attempt.start(BUNDLE, "repair", ToyBackend(), seed=4, **named)


def contract(*evidence: str, steps: tuple[Step, ...] = GOLD.steps) -> Intervention:
    return replace(
        GOLD,
        name="mine",
        hypothesis="its configuration was  damaged",
        alternatives=CLAIMS[1:],
        evidence=evidence,
        steps=steps,
    )


def contracted(steps: tuple[Step, ...] = GOLD.steps) -> Attempt:
    attempt = started()
    attempt.predict(CLAIMS)
    seen = attempt.probe("failed").evidence
    attempt.probe("cat /etc/app.conf")
    attempt.contract(contract(seen.id[:12], steps=steps))
    return attempt


def test_all_ten_stages_end_in_a_receipt_that_verifies() -> None:
    attempt = contracted()
    applied, acknowledged = attempt.apply()
    assert (applied.refuted, applied.played, applied.bindings) == (False, (0, 1, 2), {"unit": "app"})
    assert [change.what for change in acknowledged.changes] == ["/etc/app.conf", "process:app"]
    assert attempt.verify().verdict == "VERIFIED"
    envelope = attempt.receipt(KEY)
    assert attempt.reflect("it was as foretold").borne_out
    assert list(dict.fromkeys(event.stage for event in attempt.events)) == list(STAGES)
    assert attempt.stage is None
    assert envelope is not None
    receipt = verify_receipt(envelope, TRUST, attempt.outputs)
    assert (receipt.scenario, receipt.verdict, receipt.bundle_digest) == ("repair", "VERIFIED", BUNDLE.digest)
    assert receipt.intervention.evidence == (receipt.evidence[0].id,)
    assert receipt.rollback == ("systemctl stop app", "write /etc/app.conf bad")
    assert [each.check for each in receipt.facts if each.means == "intervention"].count("twin") == 1


def test_who_did_it_and_which_model_helped_stand_in_the_receipt() -> None:
    attempt = started(agent="anna", model="some/model", help="wrote the contract")
    attempt.predict(CLAIMS)
    attempt.contract(contract(attempt.probe("failed").evidence.id))
    attempt.apply()
    attempt.verify()
    receipt = verify_receipt(attempt.receipt(KEY) or b"", TRUST, attempt.outputs)
    assert (receipt.agent, receipt.model, receipt.help) == ("anna", "some/model", "wrote the contract")


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_is_skipped_or_repeated(stage: str) -> None:
    done = STAGES[: STAGES.index(stage)]
    admit(done, stage)
    for later in STAGES[len(done) + 1 :]:
        with pytest.raises(StageError, match=f"stage `{later}` would skip `{stage}`"):
            admit(done, later)
    for earlier in done:
        if earlier == "inspect" and done[-1] == "inspect":
            admit(done, earlier)
        else:
            with pytest.raises(StageError, match=f"stage `{earlier}` was done already"):
                admit(done, earlier)
    with pytest.raises(StageError, match="this attempt is over"):
        admit(STAGES, stage)


@pytest.mark.parametrize(
    ("enter", "stage"),
    [
        (lambda attempt: attempt.probe("failed"), "inspect"),
        (lambda attempt: attempt.contract(contract("0" * 16)), "contract"),
        (lambda attempt: attempt.apply(), "apply"),
        (lambda attempt: attempt.verify(), "verify"),
        (lambda attempt: attempt.receipt(KEY), "receipt"),
        (lambda attempt: attempt.reflect("so"), "reflect"),
    ],
)
def test_every_door_asks(enter: Callable[[Attempt], object], stage: str) -> None:
    attempt = started()
    before = attempt.events
    with pytest.raises(StageError, match=f"stage `{stage}` would skip `predict`"):
        enter(attempt)
    assert attempt.events == before


def test_a_prediction_says_what_would_be_seen() -> None:
    for wrong in ((), (Hypothesis(claim="something"),)):
        with pytest.raises(AuthorError, match="says of each what would be seen"):
            started().predict(wrong)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"falsifier": None}, "a contract needs `falsifier`"),
        ({"hypothesis": None}, "a contract needs `hypothesis`"),
        ({"alternatives": ()}, "a contract needs `alternatives`"),
        ({"evidence": ()}, "a contract needs `evidence`"),
        ({"evidence": ("0123456789abcdef",)}, "is nothing that this attempt has seen"),
    ],
)
def test_what_a_contract_needs(change: dict[str, object], said: str) -> None:
    attempt = started()
    attempt.predict(CLAIMS)
    seen = attempt.probe("failed").evidence
    with pytest.raises(AuthorError, match=said):
        attempt.contract(replace(contract(seen.id), **change))
    assert attempt.stage == "contract"
    assert attempt.contract(contract(seen.id)).foretold


def test_a_repair_by_name_recovers_and_gets_no_receipt() -> None:
    attempt = contracted((Step(run="write /etc/app.conf good"), Step(run="systemctl start app")))
    attempt.apply()
    gated = attempt.verify()
    assert gated.verdict == "RECOVERED_UNPROVEN"
    assert attempt.receipt(KEY) is None
    assert not attempt.reflect("it was the name that I knew").borne_out


def test_a_falsifier_that_holds_stops_everything() -> None:
    attempt = started()
    attempt.predict(CLAIMS)
    seen = attempt.probe("failed").evidence
    attempt.contract(replace(contract(seen.id), falsifier="failed"))
    applied, acknowledged = attempt.apply()
    assert (applied.refuted, applied.played, acknowledged.changes) == (True, (), ())
    assert attempt.verify().verdict == "NOT_RECOVERED"


def test_harm_that_was_done_while_looking_counts() -> None:
    attempt = started()
    attempt.predict(CLAIMS)
    seen = attempt.probe("failed").evidence
    attempt.probe("systemctl stop web")
    attempt.probe("systemctl start web")
    attempt.contract(contract(seen.id))
    attempt.apply()
    assert attempt.verify().verdict == "HARMFUL"


def test_looking_that_changes_something_is_written_down() -> None:
    attempt = started()
    attempt.predict(CLAIMS)
    assert attempt.probe("write /etc/motd x").changed == ("/etc/motd",)
    assert attempt.probe("failed").changed == ()


def test_the_commands_of_an_attempt_are_counted() -> None:
    attempt = started()
    attempt.predict(CLAIMS)
    for _ in range(12):
        attempt.probe("true")
    with pytest.raises(AuthorError, match="all 12 commands are used up"):
        attempt.probe("true")


def test_an_attempt_goes_on_where_it_was(tmp_path: Path) -> None:
    """As the command line does: every stage in a process of its own."""

    def reopened() -> Attempt:
        events, outputs = on_disk.read(tmp_path)
        return Attempt.resume(BUNDLE, ToyBackend(), events, outputs)

    begun = started()
    on_disk.write(tmp_path, begun.events, begun.outputs)
    for step in (
        lambda attempt: attempt.predict(CLAIMS),
        lambda attempt: attempt.probe("failed"),
        lambda attempt: attempt.probe("cat /etc/app.conf"),
        lambda attempt: attempt.contract(contract(next(iter(evidence(attempt))))),
        lambda attempt: attempt.apply(),
        lambda attempt: attempt.verify(),
    ):
        attempt = reopened()
        step(attempt)
        on_disk.write(tmp_path, attempt.events, attempt.outputs)
    assert reopened().verdict == "VERIFIED"
    whole = contracted()
    whole.apply()
    whole.verify()
    assert contents(whole.events, "gate", Gated) == contents(reopened().events, "gate", Gated)


def evidence(attempt: Attempt) -> list[str]:
    return [each.evidence.id for each in contents(attempt.events, "inspect", Inspected)]


def test_a_world_that_takes_another_course_is_not_gone_on_with() -> None:
    class Fickle(ToyBackend):
        motd = "first"

        def open(self, content: object, scenario: object, world: object, *, seed: int) -> ToyWorld:
            live = super().open(content, scenario, world, seed=seed)
            live.machine.files["/etc/motd"] = self.motd
            return live

    backend = Fickle()
    attempt = Attempt.start(BUNDLE, "repair", backend, seed=4)
    attempt.predict(CLAIMS)
    attempt.probe("cat /etc/motd")
    Attempt.resume(BUNDLE, backend, attempt.events, {})
    backend.motd = "second"
    with pytest.raises(HostError, match="took another course this time, at `cat /etc/motd`"):
        Attempt.resume(BUNDLE, backend, attempt.events, {})


@pytest.mark.parametrize("real", [True, False])
def test_where_time_is_the_real_one_moments_need_not_be_the_same(real: bool) -> None:
    class Late(ToyBackend):
        opened = 0

        def open(self, content: object, scenario: object, world: object, *, seed: int) -> ToyWorld:
            live = super().open(content, scenario, world, seed=seed)
            self.opened += 1
            pace, elapsed = self.opened, live.elapsed
            live.elapsed = lambda: pace * elapsed()
            return live

    backend = Late()
    if real:
        backend.computed = True
    attempt = Attempt.start(BUNDLE, "repair", backend, seed=4)
    attempt.predict(CLAIMS)
    for _ in range(2):
        attempt.probe("sleep 3")
    if real:
        assert Attempt.resume(BUNDLE, backend, attempt.events, {}).stage == "contract"
    else:
        with pytest.raises(HostError, match="took another course this time"):
            Attempt.resume(BUNDLE, backend, attempt.events, {})


def test_another_bundle_is_not_gone_on_with() -> None:
    attempt = started()
    with pytest.raises(AuthorError, match="the scenario was changed since"):
        Attempt.resume(bundle_of(investigation()), ToyBackend(), attempt.events, {})


def test_no_line_of_a_log_can_change() -> None:
    attempt = contracted()
    data = to_lines(attempt.events)
    assert from_lines(data, "log") == attempt.events
    lines = data.splitlines(keepends=True)
    for number in range(len(lines) - 1):
        changed = lines[number].replace(b'"at":', b'"at":1', 1)
        with pytest.raises(LogError, match="was changed"):
            from_lines(b"".join((*lines[:number], changed, *lines[number + 1 :])), "log")
        with pytest.raises(AuthorError):
            from_lines(b"".join((*lines[:number], *lines[number + 1 :])), "log")
    with pytest.raises(LogError, match="is no event"):
        from_lines(b"nonsense\n", "log")
    with pytest.raises(LogError, match="is empty"):
        from_lines(b"", "log")


def test_evidence_on_disk_cannot_change(tmp_path: Path) -> None:
    attempt = contracted()
    on_disk.write(tmp_path, attempt.events, attempt.outputs)
    changed = next((tmp_path / "evidence").iterdir())
    changed.write_bytes(b"nothing failed")
    with pytest.raises(LogError, match="was changed since it was seen"):
        on_disk.read(tmp_path)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(AuthorError, match="is there already"):
        on_disk.begin(tmp_path)
    with pytest.raises(AuthorError, match="holds no attempt"):
        on_disk.read(tmp_path)
