"""Agents by name, and how they behave in an episode."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from runners.agents import registry
from runners.agents.nop import Nop
from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run, Setting
from runners.agents.random_ import RandomAgent
from runners.agents.registry import known_agents, parse_agent
from runners.agents.script import parse_script
from runners.agents.spec import AgentRequest, AgentSpec, agent_spec
from runners.records import AgentIdentity
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Limits
from tests.runners.cases import repair

SEEING = Observation(commands_left=10, seconds_left=10.0)


class Foreign:
    """An agent as another distribution would bring it."""

    def __init__(self, configuration: str, seed: int) -> None:
        self.said = f"{configuration} {seed}"

    def reset(self, briefing: Briefing) -> None:
        self.said += f" {briefing.complaint}"

    def act(self, observation: Observation) -> Action:
        return Answer(self.said)


def setting(attempt: int = 0, seed: int = 7) -> Setting:
    scenario = repair()
    return Setting(scenario=scenario, world=scenario.worlds[0], seed=seed, attempt=attempt)


def briefing(questions: tuple[str, ...] = ()) -> Briefing:
    return Briefing(complaint="It is slow.", questions=questions, hints=(), limits=Limits())


@pytest.mark.parametrize("text", ["gold", "nop", "random", "bad", "bad:known name", "bad:reboot"])
def test_own_agents_parse_and_travel(text: str) -> None:
    spec = parse_agent(text)
    assert spec.identity.label == text
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    agent = again.factory(setting())
    agent.reset(briefing())
    assert isinstance(agent.act(SEEING), Run | Done)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("golden", "unknown agent `golden`; known are: gold, bad, nop, random, script, cmd"),
        ("gold:x", "takes no settings"),
        ("script:", "needs a file"),
        ("script:/does/not/exist", "cannot read the script"),
    ],
)
def test_what_cannot_be_an_agent_is_refused(text: str, message: str) -> None:
    with pytest.raises(AuthorError, match=message):
        parse_agent(text)


def test_an_unknown_habit_is_refused_with_the_known_ones() -> None:
    with pytest.raises(AuthorError, match="no bad habit `nap`; it has: known name, only restart"):
        parse_agent("bad:nap").factory(setting())


def test_bad_plays_another_habit_each_attempt() -> None:
    first = []
    for attempt in range(4):
        agent = parse_agent("bad").factory(setting(attempt))
        agent.reset(briefing())
        action = agent.act(SEEING)
        assert isinstance(action, Run)
        first.append(action.command)
    assert first[0] == first[3] == "write /etc/app.conf good"
    assert len(set(first)) == 3


def test_random_depends_on_its_seed_alone() -> None:
    def played(seed: int) -> list[Action]:
        agent = RandomAgent(seed)
        agent.reset(briefing(("When?",)))
        actions: list[Action] = []
        while not actions or not isinstance(actions[-1], Done):
            actions.append(agent.act(SEEING))
        return actions

    assert played(1) == played(1)
    assert len({str(played(seed)) for seed in range(10)}) == 10
    assert sum(isinstance(action, Answer) for action in played(3)) == 1


def test_a_script_is_known_by_its_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "fix.sh", tmp_path / "b" / "fix.sh"
    for path in (first, second):
        path.parent.mkdir()
        path.write_text("# look\nfailed\n\nanswer  it was DNS \n  write /x y\n")
    one, two = parse_agent(f"script:{first}"), parse_agent(f"script:{second}")
    assert one.identity == two.identity
    assert one.identity.configuration.startswith("fix.sh@")
    second.write_text("true\n")
    assert parse_agent(f"script:{second}").identity != one.identity
    first.unlink()
    agent = pickle.loads(pickle.dumps(one)).factory(setting())
    agent.reset(briefing())
    assert [agent.act(SEEING) for _ in range(4)] == [Run("failed"), Answer("it was DNS"), Run("  write /x y"), Done()]


def test_a_script_must_be_text(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"\xff\xfe")
    with pytest.raises(AuthorError, match="not UTF-8"):
        parse_agent(f"script:{tmp_path / 's'}")
    assert parse_script("") == ()


def test_an_agent_is_one_line_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(request: AgentRequest) -> AgentSpec:
        return agent_spec(request, request.configuration.upper(), Nop())

    monkeypatch.setattr(registry, "READERS", {**registry.READERS, "mute": read})
    assert "mute" in known_agents()
    assert parse_agent("mute:a:b", training=True).identity == AgentIdentity(
        name="mute", configuration="A:B", training=True
    )
    for name in ("gold", "nop", "random"):
        with pytest.raises(AuthorError, match="takes no settings"):
            parse_agent(f"{name}:fast")


def test_others_agents_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(name="mine", value="tests.runners.agents.test_registry:Foreign", group=registry.ENTRY_POINTS)

    def found(*, group: str, name: str | None = None) -> EntryPoints:
        assert group == "breakfix.agents"
        return EntryPoints([point] if name in (None, "mine") else [])

    monkeypatch.setattr(registry, "entry_points", found)
    assert known_agents()[-1] == "mine"
    agent = parse_agent("mine:large", training=True).factory(setting(seed=5))
    agent.reset(briefing())
    assert agent.act(SEEING) == Answer("large 5 It is slow.")
    assert parse_agent("mine:large", training=True).identity.training
