"""A person at the prompt, by what stands on standard input."""

from __future__ import annotations

import io

import pytest

from breakfix.cli.main import run


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


def test_the_experts_way_says_what_is_found_out_and_what_is_guarded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [line.strip() for line in play(monkeypatch, capsys, "process-recovery", ":done")]
    way = said[said.index("How an expert went about it:") :]
    assert any(line.startswith("$ failed=$(systemctl list-units --state=failed") for line in way)
    assert "$ if systemctl is-failed --quiet ${failed}; then systemctl start ${failed}; fi" in way
    assert not any("{{" in line for line in way)
