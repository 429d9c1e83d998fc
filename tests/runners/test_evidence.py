"""Evidence: what is kept, what is taken out first, and what may be cited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from compiler.evidence import EvidenceRef
from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Action, Observation, Run, Submit
from runners.evidence import cited, keep, redact
from runners.trials import play_trial
from runners.worlds import CommandResult
from scenario_dsl.errors import AuthorError
from tests.runners.cases import GOLD, job_of, repair, site_of

KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\nAAAA\n-----END OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b"before\n" + KEY + b"\nafter", b"before\n[redacted]\nafter"),
        (KEY[:60], b"[redacted]"),
        (b"root:$y$j9T$wUq1mJm8Vf0b1m9V$kC1c9F8Jm2cE:19000:0:", b"root:[redacted]:19000:0:"),
        (
            b"DATABASE_URL=postgres://shop:hunter22@db:5432/shop",
            b"DATABASE_URL=postgres://shop:[redacted]@db:5432/shop",
        ),
        (b"DB_PASSWORD=hunter22\nPORT=8000", b"DB_PASSWORD=[redacted]\nPORT=8000"),
        (b'password: "hunter22"', b'password: "[redacted]"'),
        (b'{"api_key": "0123456789"}', b'{"api_key": "[redacted]"}'),
        (b"requirepass hunter22\nport 6379", b"requirepass [redacted]\nport 6379"),
        (b"Authorization: Bearer abcdef0123456789", b"Authorization: Bearer [redacted]"),
        (b"key AKIAIOSFODNN7EXAMPLE here", b"key [redacted] here"),
    ],
)
def test_secrets_stay_in_the_world(text: bytes, kept: bytes) -> None:
    assert redact(text) == (kept, 1)


@pytest.mark.parametrize(
    "text",
    [
        b"PasswordAuthentication no",
        b"PermitRootLogin prohibit-password",
        b"Failed password for anna from 185.220.101.34 port 41246 ssh2",
        b"PASSWORD_FILE=/etc/shop/secret.key",
        b"secret=$(cat /etc/shop/secret.key)",
        b"postgresql.service loaded failed failed PostgreSQL\n",
        b"",
    ],
)
def test_what_is_no_secret_is_kept(text: bytes) -> None:
    assert redact(text) == (text, 0)


def observed(output: bytes = b"failed\n", command: str = "systemctl --failed") -> EvidenceRef:
    result = CommandResult(output=output, stdout=output, stderr=b"", exit_code=0, seconds=0.25)
    return keep("primary", command, result, at=3.0).ref


def test_a_secret_in_the_command_is_one_too() -> None:
    ref = observed(command="redis-cli -u redis://:hunter22@localhost ping")
    assert ref.command == "redis-cli -u redis://:[redacted]@localhost ping"
    assert ref.redacted == 1


def test_any_change_is_another_observation() -> None:
    ref = observed()
    changed = {"world": "other", "command": "x", "at": 1.0, "seconds": 9.0, "exit_code": 1, "size": 1, "sha256": "0"}
    for field in fields(EvidenceRef):
        assert replace(ref, **{field.name: changed.get(field.name, 7)}).id != ref.id
    assert observed().id == ref.id
    assert observed(b"other\n").id != ref.id


def test_only_what_was_seen_can_be_cited() -> None:
    seen = (observed(), observed(b"other\n"))
    assert cited([seen[1].id[:12], seen[1].id], seen) == (seen[1].id,)
    with pytest.raises(AuthorError, match="nothing that this attempt has seen"):
        cited(["0123456789abcdef"], seen)
    with pytest.raises(AuthorError, match="nothing that this attempt has seen"):
        cited([seen[0].id[:4]], seen)


class Citing(InterventionAgent):
    """Looks once, then hands in gold with what it cites."""

    def __init__(self, cites: Callable[[Observation], str]) -> None:
        super().__init__(GOLD)
        self._cites = cites
        self._looked = False

    def act(self, observation: Observation) -> Action:
        if not self._looked:
            self._looked = True
            return Run("failed")
        return Submit(replace(GOLD, evidence=(self._cites(observation),)))


@pytest.mark.parametrize(
    ("cites", "error"),
    [
        (lambda observation: observation.evidence, None),
        (lambda observation: observation.evidence[:12], None),
        (lambda observation: "0123456789abcdef", "it cites evidence `0123456789abcdef`, which it has not seen"),
    ],
)
def test_an_agent_cites_what_its_own_commands_showed(cites: Callable[[Observation], str], error: str | None) -> None:
    site = site_of(repair())
    record = play_trial(job_of(site), site, site.scenario.worlds[0], Citing(cites))
    if error is None:
        assert record.error is None
    else:
        assert record.error is not None
        assert error in record.error
