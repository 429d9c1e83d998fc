"""A person at the prompt, by what stands on standard input."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from breakfix.cli import play_
from breakfix.cli.main import run
from breakfix.content import open_pack
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.agents.registry import parse_agent
from runners.backends.sim import SimBackend
from runners.plan import plan
from runners.worlds import WorldError


def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario: str, *lines: str) -> list[str]:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert run(["play", scenario]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_prompt_is_the_servers_own_from_the_first_line_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = play(monkeypatch, capsys, "process-recovery", ":answer who knows", "cd /etc", ":done")
    typed = [line for line in said if line.endswith((":answer who knows", "cd /etc", ":done")) and "# " in line]
    assert [line.partition(":")[2] for line in typed] == ["~# :answer who knows", "~# cd /etc", "/etc# :done"]
    assert all(line.startswith("root@") for line in typed)


def test_the_experts_way_can_be_typed_as_it_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [line.strip() for line in play(monkeypatch, capsys, "process-recovery", ":done")]
    way = said[said.index("How an expert went about it, on the first call:") :]
    typed = [line.removeprefix("$ ") for line in way if line.startswith("$ ")]
    assert "systemctl start postgresql.service" in typed
    assert len([line for line in way if line.startswith("# ")]) >= 4
    again = play(monkeypatch, capsys, "process-recovery", *typed, ":done", "n")
    assert any(line.startswith("Score 1 of 1") for line in again)


def test_who_runs_out_of_time_is_told_so_and_sees_the_last_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = play(monkeypatch, capsys, "permission-repair", "echo 'here'; sleep 2000")
    end = said.index("[the time is up]")
    assert "here" in said[:end]
    assert any(line.startswith("Verdict: NOT_RECOVERED") for line in said)


def test_a_world_that_fails_gives_away_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_given: object, **_named: object) -> object:
        raise WorldError("it did not boot")

    monkeypatch.setattr(SimBackend, "open", broken)
    monkeypatch.setattr("sys.stdin", io.StringIO(":done\n"))
    assert run(["play", "process-recovery"]) == 3
    said = capsys.readouterr().out
    assert "No verdict" in said
    assert "expert" not in said


def test_the_second_call_is_not_always_the_same_world() -> None:
    """Nor is the third always the false alarm."""
    library = open_pack("starter")
    seconds = set()
    for name in library.scenarios:
        only = replace(library, scenarios={name: library.scenarios[name]})
        bundle = verify_under_ephemeral_key(compile_pack(only))
        calls = play_._calls(plan([bundle], [parse_agent("gold")], backends=("sim",)))
        assert calls[0].trial.role == "primary"
        seconds.add(calls[1].trial.role)
    assert seconds == {"twin", "control"}
