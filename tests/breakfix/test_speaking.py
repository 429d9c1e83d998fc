"""Episodes as conversations: what is said is what the `llm` agent says and reads, and the files load elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakfix.cli.main import run
from breakfix.speaking import speaker
from runners.agents.llm.connection import ModelAnswer
from runners.agents.llm.manner import Tags
from runners.agents.protocol import Answer, Done, Run, Submit
from runners.agents.registry import parse_agent
from runners.interventions import from_text
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.records import TrialRecord
from runners.records_io import read_records
from runners.run import run as play
from scenario_dsl.errors import AuthorError
from tests.runners.cases import bundle_of, repair
from tests.runners.toy import ToyBackend

BUNDLE = bundle_of(repair())
AGENTS = [parse_agent("gold"), parse_agent("nop")]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[TrialRecord]:
    folder = tmp_path_factory.mktemp("run")
    resolved = plan([BUNDLE], AGENTS, backends=("toy",))
    play(resolved, [BUNDLE], AGENTS, (ToyBackend(),), folder, executor=LocalExecutor())
    return list(read_records(folder))


def test_every_answer_reads_back_as_the_action_it_was(records: list[TrialRecord]) -> None:
    speak = speaker([BUNDLE])
    for record in records:
        answers = [each["content"] for each in speak(record).completion if each["role"] == "assistant"]
        assert len(answers) == len(record.turns) == len(speak(record).rewards)
        for turn, text in zip(record.turns, answers, strict=True):
            action = Tags().read(ModelAnswer(text=text))
            assert action.think == turn.think
            match action:
                case Run(command=said) | Answer(text=said):
                    assert said == turn.text
                case Submit(intervention=handed_in):
                    assert handed_in.steps
                    assert [step.run for step in handed_in.steps] == [step.run for step in from_text(turn.text).steps]
                case Done():
                    assert turn.kind == "done"


def test_a_conversation_opens_as_the_agents_does_and_takes_turns(records: list[TrialRecord]) -> None:
    gold = next(record for record in records if record.trial.agent.name == "gold" and record.trial.role == "primary")
    conversation = speaker([BUNDLE])(gold)
    system, user = conversation.prompt
    assert system == {"role": "system", "content": Tags.instructions}
    assert user["content"].startswith("The complaint:\nSomething is slow (primary).")
    assert "Look at" not in user["content"]
    roles = [message["role"] for message in conversation.completion]
    assert roles == (["assistant", "user"] * len(gold.turns))[:-1]
    heard = [message["content"] for message in conversation.completion if message["role"] == "user"]
    assert "exit code" in heard[0]
    assert f"You have {gold.trial.max_commands - 1} commands" in heard[0]


def test_a_bundle_that_is_not_given_is_named(records: list[TrialRecord]) -> None:
    with pytest.raises(AuthorError, match=f"digest {BUNDLE.digest}; name it with --bundle"):
        speaker([])(records[0])


@pytest.mark.slow
def test_a_packs_gold_makes_a_first_training_set_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    assert run(["compile", "packs/starter", "--out", "starter"]) == 0
    assert run(["keygen", "me.key"]) == 0
    assert run(["sign", "starter", "--key", "me.key", "--unproven"]) == 0
    bundle = ["starter", "--trust", "me.key.pub"]
    for agent, attempts in (("gold", "3"), ("bad", "1")):
        played = ["run", *bundle, "-a", agent, "-n", attempts, "-o", f"runs/{agent}", "--executor", "local", "-q"]
        assert run(played) == 0
    fields = {
        "sft": {"messages"},
        "preferences": {"prompt", "chosen", "rejected"},
        "grpo": {"prompt", "completion", "advantage", "reward"},
    }
    datasets = pytest.importorskip("datasets", reason="needs the datasets package")
    for kind, wanted in fields.items():
        file = f"{kind}.jsonl"
        assert run(["export", kind, "runs/gold", "runs/bad", "--bundle", *bundle, "--out", file]) == 0
        loaded = datasets.load_dataset("json", data_files=file, cache_dir=str(tmp_path / "cache"), split="train")
        assert wanted <= set(loaded.column_names)
        assert loaded.num_rows == len(Path(file).read_text().splitlines())
    gold = [json.loads(line) for line in Path("sft.jsonl").read_text().splitlines()]
    assert len(gold) >= 92
    assert {row["role"] for row in gold} == {"primary", "twin", "control"}
    assert all(any("<think>" in message["content"] for message in row["messages"]) for row in gold)
