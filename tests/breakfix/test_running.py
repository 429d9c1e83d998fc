"""`breakfix run` with a plan's document, and `breakfix status`: what is said, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run

PLAN = """\
plan: nightly
packs:
  - path: build/starter
agents:
  gold: {}
  typist: {agent: "script:fix.txt"}
scenarios: [process-recovery]
attempts: 2
"""
AWAY = """\
  away: {agent: "llm:here/tiny", resend: 0, price: {input: 1, output: 1}}
endpoints:
  here: {url: "http://127.0.0.1:9/v1"}
retries: {agent: 0}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    assert run(["compile", "packs/starter", "--out", str(folder / "build/starter")]) == 0
    assert run(["keygen", str(folder / "me.key")]) == 0
    assert run(["sign", str(folder / "build/starter"), "--key", str(folder / "me.key"), "--unproven"]) == 0
    (folder / "fix.txt").write_text("systemctl restart postgresql\n")
    return folder


@pytest.fixture(autouse=True)
def _there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def play(plan: str, out: str, *options: str) -> int:
    Path("nightly.yml").write_text(plan)
    return run(["run", "nightly.yml", "--trust", "me.key.pub", "--out", out, "--executor", "local", *options])


def test_a_plan_is_played_gone_on_with_and_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert play(PLAN, "runs/one") == 0
    said = capsys.readouterr()
    assert "12 of 12 trials are in runs/one" in said.out
    assert "next: breakfix report runs/one" in said.out
    assert "episodes: 12/12 done" in said.err
    assert play(PLAN, "runs/one", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["planned"], data["resumed"], data["left"], data["stopped"]) == (12, 12, {}, "")

    assert run(["status", "runs/one"]) == 0
    shown = capsys.readouterr().out
    assert "typist  starter     6   6 " in shown
    assert "finished; next: breakfix report runs/one" in shown
    assert run(["status", "runs/one", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["plan"], status["done"], status["running"]) == ("nightly", 12, False)


def test_another_plan_under_a_run_is_refused_and_taken_over_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert play(PLAN, "runs/a/first") == 0
    more = PLAN.replace("attempts: 2", "attempts: 3")
    assert play(more, "runs/a/first") == 1
    said = capsys.readouterr().err
    assert "attempts: 2 in the stored plan, 3 now" in said
    assert "--since" in said
    assert play(more, "runs/a/second", "--since-last") == 0
    assert "18 of 18 trials are in runs/a/second, 12 taken over from earlier runs" in capsys.readouterr().out
    assert run(["status", "runs/a/second"]) == 0
    assert "12 were taken over from earlier runs" in capsys.readouterr().out
    assert play(PLAN, "runs/a/third", "--since", "runs/a/first", "--json") == 0
    assert json.loads(capsys.readouterr().out)["carried"] == 12
    assert play(PLAN, "runs/b/only", "--since-last", "--json") == 0
    assert json.loads(capsys.readouterr().out)["carried"] == 0


def test_a_bundle_that_was_compiled_anew_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert play(PLAN, "runs/pinned") == 0
    capsys.readouterr()
    pinned = PLAN.replace("build/starter\n", "build/starter\n    digest: 0123456789abcdef\n")
    assert play(pinned, "runs/pinned") == 1
    said = capsys.readouterr().err
    assert "error[plan-digest]: the bundle at `build/starter` has another digest" in said
    assert "--> nightly.yml:4:13" in said
    assert run(["status", "runs/pinned"]) == 0
    assert "12/12 done" in capsys.readouterr().out


def test_what_an_agent_prints_stays_out_of_the_output(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "chatty.py").write_text(
        "from runners.agents.protocol import Done\n"
        "class Chatty:\n"
        "    def __init__(self, settings, seed): pass\n"
        "    def reset(self, briefing): print('hello')\n"
        "    def act(self, observation): return Done()\n"
    )
    plan = PLAN.replace("  gold: {}", '  chatty: {agent: "chatty:Chatty"}')
    assert play(plan, "runs/chatty", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["done"] == 12
    assert "hello" in said.err


def test_an_endpoint_that_is_away_leaves_errors_and_a_plain_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    plan = PLAN.replace("scenarios:", f"{AWAY}scenarios:")
    assert play(plan, "runs/away") == 2
    said = capsys.readouterr().out
    assert "6 stayed Errored (the infrastructure, not the agents)" in said
    assert "  6 × the agent could not be reached: tiny gave no answer in one request, in the end: " in said
    assert run(["status", "runs/away"]) == 0
    shown = capsys.readouterr().out
    assert "away    starter     0   6       0  6 agent" in shown
    assert "the command that began the run goes on with it" in shown


def test_a_budget_that_is_used_up_says_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert play(PLAN + "budget: {wall: 0}\n", "runs/short") == 2
    said = capsys.readouterr().out
    assert "0 of 12 trials are in runs/short" in said
    assert "left: 6 of gold, 6 of typist" in said
    assert "the budget is used up (wall clock: 0 s); with a larger one the same command goes on from here" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nightly.yml", "-a", "gold"], "nightly.yml says what is played and how; leave --agent to it"),
        (["nightly.yml", "-n", "3", "--retries", "0"], "leave --attempts, --retries to it"),
        (["build/starter"], "name at least one agent with --agent"),
        (["missing.yml"], "missing.yml"),
        (["nightly.yml", "--executor", "local", "-j", "2"], "--workers is for the ray executor"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("nightly.yml").write_text(PLAN)
    assert run(["run", *arguments, "--trust", "me.key.pub", "--out", "runs/none"]) == 1
    assert said in capsys.readouterr().err
    assert not Path("runs/none").exists()


def test_a_status_of_what_is_no_run_is_an_authors_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "build"]) == 1
    assert "not a run folder" in capsys.readouterr().err


def test_the_schema_of_a_plan_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "plan"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["plan"]
