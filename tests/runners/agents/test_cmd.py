"""Programs as agents: what passes over the wire, and every way in which a program can misbehave."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from runners.agents.cmd import Command, CommandSettings
from runners.agents.program import LONGEST_LINE
from runners.agents.protocol import (
    Action,
    AgentFailedError,
    AgentUnavailableError,
    Answer,
    Briefing,
    Closing,
    Done,
    Metered,
    Observation,
    Run,
    Setting,
    Submit,
)
from runners.agents.registry import parse_agent
from runners.agents.spec import AgentSpec
from runners.records import TrialRecord
from runners.trials import Job, Work, run_trial, trial_id
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Limits
from scenario_dsl.values import Value
from tests.runners.cases import bundle_of, job_of, repair, site_of
from tests.runners.toy import ToyBackend

SEEING = Observation(commands_left=10, seconds_left=10.0)
BUNDLE = bundle_of(repair())
SETTING = Setting(scenario=repair(), world=repair().worlds[0], seed=7 << 40 | 5, attempt=0)
REPEAT = "import sys, json\nfor line in sys.stdin:\n    print(json.dumps({'run': 'true', 'think': line}), flush=True)\n"


def spec_of(folder: Path, source: str, **settings: Value) -> AgentSpec:
    path = folder / "agent.py"
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return parse_agent(f"cmd:{path}", settings=settings)


class Playing(Metered, Closing, Protocol):
    """A program under way."""

    def act(self, observation: Observation, /) -> Action: ...


@contextmanager
def playing(folder: Path, source: str, **settings: Value) -> Iterator[Playing]:
    agent = pickle.loads(pickle.dumps(spec_of(folder, source, **settings))).factory(SETTING)
    agent.reset(Briefing(complaint="It is slow.", questions=("Why?",), hints=("Look.",), limits=Limits()))
    try:
        yield agent
    finally:
        agent.close()


def played(folder: Path, source: str, **settings: Value) -> TrialRecord:
    """The record of one trial of the program in the toy's first world."""
    spec = spec_of(folder, source, **settings)
    trial = job_of(site_of(repair()), agent=spec.identity).trial
    work = Work(contents={BUNDLE.digest: BUNDLE.content}, factories={spec.identity: spec.factory}, backend=ToyBackend())
    return run_trial(Job(trial_id=trial_id(trial), trial=trial, ordinal=0), work)


def test_it_is_told_what_an_agent_is_told(tmp_path: Path) -> None:
    with playing(tmp_path, REPEAT) as agent:
        first = agent.act(SEEING)
        second = agent.act(Observation(output="o", stdout="s", exit_code=3, commands_left=9, seconds_left=8.0))
    assert isinstance(first, Run)
    assert isinstance(second, Run)
    greeting = json.loads(first.think or "")
    assert greeting["briefing"] == {
        "complaint": "It is slow.",
        "questions": ["Why?"],
        "hints": [],
        "limits": {"commands": 40, "seconds": 1800.0, "output_bytes": 16384},
        "seed": 5,
        "deadline": 1800.0,
    }
    assert greeting["observation"]["exit_code"] is None
    seen = json.loads(second.think or "")
    assert set(seen) == {"observation"}
    assert (seen["observation"]["stdout"], seen["observation"]["exit_code"]) == ("s", 3)
    assert seen["observation"]["deadline_left"] <= 1800


def test_hints_are_for_those_that_say_so(tmp_path: Path) -> None:
    with playing(tmp_path, REPEAT, hints=True) as agent:
        action = agent.act(SEEING)
    assert isinstance(action, Run)
    assert json.loads(action.think or "")["briefing"]["hints"] == ["Look."]
    assert spec_of(tmp_path, REPEAT, hints=True).identity.settings == (("hints", "true"),)


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ('{"run": "ls"}', Run("ls")),
        ('{"answer": "DNS", "think": "hm"}', Answer("DNS", "hm")),
        ('{"done": true}', Done()),
        ('{"run": ""}', Run("")),
    ],
)
def test_actions(tmp_path: Path, line: str, action: Action) -> None:
    with playing(tmp_path, f"input(); print({line!r}, flush=True); input()") as agent:
        assert agent.act(SEEING) == action


def test_a_document_can_be_handed_in(tmp_path: Path) -> None:
    document = {"hypothesis": "h", "falsifier": "false", "steps": [{"run": "x", "discover": "a", "undo": "y"}]}
    line = json.dumps({"submit": document})
    with playing(tmp_path, f"input(); print({line!r}, flush=True); input()") as agent:
        action = agent.act(SEEING)
    assert isinstance(action, Submit)
    assert action.intervention.steps[0].undo == "y"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hello", "no JSON"),
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "an action is an object"),
        ("{}", "exactly one of"),
        ('{"run": "a", "done": true}', "exactly one of"),
        ('{"run": 3}', "`run` is text, not a number"),
        ('{"rum": "a"}', "did you mean `run`?"),
        ('{"submit": "restart it"}', "an intervention is an object"),
        ('{"submit": {}}', "the intervention has no `hypothesis`, `steps`"),
        ('{"submit": {"hypothesis": "h", "steps": "ls"}}', "`steps`"),
        ('{"submit": {"hypothesis": "h", "steps": []}}', "`steps` is empty"),
        ('{"submit": {"hypothesis": "h", "steps": [{"think": "a"}]}}', "a step needs one of `run`, `answer`"),
        ('{"submit": {"hypothesis": "h", "steps": [{"answer": "a", "undo": "b"}]}}', "a step has no `run`"),
        ('{"submit": {"hypothesis": "h", "steps": [{"run": "a", "discover": "b c"}]}}', "`discover`"),
        ('{"submit": {"hypothesis": "h", "steps": [{"runs": "a"}]}}', "did you mean `run`?"),
        ('{"submit": {"hypothesis": "\\ufffe", "steps": [{"run": "a"}]}}', "your document"),
        ('{"done": true, "usage": {"cost": -1}}', "`usage`: cost"),
        ('{"done": true, "usage": {"tokens": 1}}', "`usage`: tokens"),
    ],
)
def test_a_malformed_line_is_answered_with_the_reason(tmp_path: Path, line: str, why: str) -> None:
    again = "import json; print(json.dumps({'answer': input()}), flush=True); input()"
    source = f"input(); print({line!r}, flush=True); {again}"
    with playing(tmp_path, source) as agent:
        action = agent.act(SEEING)
        assert isinstance(action, Answer)
        assert why in json.loads(action.text)["error"]
        assert agent.usage().malformed == 1


def test_what_it_reports_is_what_it_used(tmp_path: Path) -> None:
    line = '{"done": true, "usage": {"tokens_in": 5, "tokens_out": 2, "cost": 0.25, "model": "m"}}'
    record = played(tmp_path, f"input(); print({line!r}, flush=True)\nimport sys; sys.stderr.write('well\\n')")
    assert (record.tokens_in, record.tokens_out, record.cost, record.model) == (5, 2, 0.25, "m")
    assert record.agent_log == "well\n"
    assert record.trial.agent.trusted is False


def test_what_it_does_not_report_is_unknown_and_not_zero(tmp_path: Path) -> None:
    record = played(tmp_path, "input(); print('{\"done\": true}')")
    assert record.cost is None
    assert record.outcome == "Failed"


@pytest.mark.parametrize(
    ("source", "settings", "said"),
    [
        (
            "import sys; sys.stderr.write('oh no\\n'); sys.exit(3)",
            {},
            "ended with exit code 3 before it was done; it said: oh no",
        ),
        ("import os, signal; input(); os.kill(os.getpid(), signal.SIGTERM)", {}, "ended with exit code -15"),
        ("import os, time; os.close(1); time.sleep(60)", {}, "closed its output"),
        ("import time; time.sleep(60)", {"patience": 0.3}, "did not answer in time"),
        ("import time; time.sleep(60)", {"deadline": 0.3}, "did not answer in time"),
        ("while True: print('x', flush=True)", {}, "10 lines in a row were no action"),
        (
            f"import sys\nwhile True: sys.stdout.write('x' * {LONGEST_LINE})",
            {"patience": 0.5},
            "did not answer in time",
        ),
        ("import sys, time\nsys.stderr.write('e' * 10_000_000); time.sleep(60)", {"patience": 0.5}, "did not answer"),
    ],
)
def test_its_own_failures_are_failed_and_never_errored(
    tmp_path: Path, source: str, settings: dict[str, Value], said: str
) -> None:
    begun = time.monotonic()
    record = played(tmp_path, source, **settings)
    assert record.outcome == "Failed"
    assert said in (record.error or "")
    assert len(record.agent_log) <= 16 << 10
    assert time.monotonic() - begun < 10


def test_too_long_a_line_is_dropped_and_the_next_one_read(tmp_path: Path) -> None:
    source = f"input(); print('x' * {3 * LONGEST_LINE}); print('{{\"done\": true}}', flush=True); input()"
    with playing(tmp_path, source) as agent:
        assert agent.act(SEEING) == Done()
        assert agent.usage().malformed == 1


def test_an_observation_that_it_does_not_read_blocks_nobody(tmp_path: Path) -> None:
    with playing(tmp_path, "import time; print('{\"done\": true}', flush=True); time.sleep(60)") as agent:
        assert agent.act(Observation(output="x" * 3_000_000, commands_left=1, seconds_left=1.0)) == Done()


def test_its_group_ends_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    source = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "print('{\"done\": true}', flush=True); time.sleep(600)\n"
    )
    with playing(tmp_path, source) as agent:
        assert agent.act(SEEING) == Done()
    for pid in pids.read_text().split():
        until = time.monotonic() + 5
        while _lives(pid) and time.monotonic() < until:
            time.sleep(0.02)
        assert not _lives(pid)


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_its_environment_holds_no_secrets_but_those_it_is_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("MY_KEY", "letmein-please")
    source = (
        "import os, sys, json\ninput()\nprint('key is', os.environ['MY_KEY'], file=sys.stderr, flush=True)\n"
        "seen = [sorted(os.environ), os.getcwd(), os.listdir()]\n"
        "print(json.dumps({'answer': json.dumps(seen)}), flush=True); sys.stdin.read()"
    )
    with playing(tmp_path, source, env=("MY_KEY",)) as agent:
        action = agent.act(SEEING)
        assert isinstance(action, Answer)
        names, folder, files = json.loads(action.text)
        assert set(names) <= {"HOME", "TMPDIR", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "MY_KEY"}
        assert files == []
        assert Path(folder).is_dir()
    assert not Path(folder).exists()
    assert agent.usage().log == "key is ***\n"
    assert "letmein" not in repr(spec_of(tmp_path, source, env=("MY_KEY",)))


def test_a_program_that_cannot_be_started_is_our_trouble(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, REPEAT)
    (tmp_path / "agent.py").unlink()
    with pytest.raises(AgentUnavailableError, match="cannot be started: No such file"):
        spec.factory(SETTING).reset(Briefing(complaint="", questions=(), hints=(), limits=Limits()))


def test_an_agent_that_was_told_nothing_fails_as_one() -> None:
    with pytest.raises(AgentFailedError):
        Command(command=("true",), settings=CommandSettings())(SETTING).act(SEEING)


def test_it_is_known_by_its_content_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    here = spec_of(one, REPEAT).identity
    assert spec_of(two, REPEAT).identity == here
    assert spec_of(two, REPEAT + "# new\n").identity != here
    monkeypatch.chdir(one)
    by_python = parse_agent("cmd:python3 agent.py --fast")
    assert by_python.identity.configuration.startswith("python3 agent.py@")
    assert by_python.identity.configuration.endswith(" --fast")
    assert parse_agent("cmd:./agent.py").identity == here
    factory = by_python.factory
    assert isinstance(factory, Command)
    assert factory.command[1] == str(one / "agent.py")


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("cmd:", {}, "needs a program"),
        ("cmd:'", {}, "is no command"),
        ("cmd:/does/not/exist", {}, "there is no program `/does/not/exist` here"),
        ("cmd:true", {"patience": "soon"}, "`patience` is a duration"),
        ("cmd:true", {"patience": 0}, "`patience` is a duration"),
        ("cmd:true", {"hints": "yes"}, "`hints` is true or false"),
        ("cmd:true", {"env": "KEY"}, "`env` is a list of names"),
        ("cmd:true", {"env": ("A=b",)}, "`env` is a list of names"),
        ("cmd:true", {"patient": 1}, "has no setting `patient`; did you mean `patience`?"),
        ("gold", {"patience": 1}, "agent `gold` has no setting `patience`"),
    ],
)
def test_what_is_refused(text: str, settings: dict[str, Value], message: str) -> None:
    with pytest.raises(AuthorError, match=message):
        parse_agent(text, settings=settings)


def test_no_folder_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    os.mkdir(tmp_path / "t")
    assert played(tmp_path, REPEAT).outcome == "Failed"
    assert os.listdir(tmp_path / "t") == []
