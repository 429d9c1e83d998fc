"""Plan documents: what they say, what is resolved from them, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from compiler.bundle import write_bundle, write_envelope
from compiler.keys import generate, load_private
from compiler.signing import sign
from compiler.trust import Trust, trust_only
from runners.course import Budget
from runners.plan import GivenLimits
from runners.planning.document import is_plan, read_plan_document
from runners.planning.resolving import Resolved, resolve
from runners.planning.schema import plan_schema
from scenario_dsl.diagnostics import Diagnostics
from scenario_dsl.errors import HostError
from tests.runners.cases import bundle_of, investigation, repair

WHOLE = """\
plan: nightly
title: What we look at in the morning.
packs:
  - path: toys
    digest: {digest}
agents:
  gold: {{}}
  typist: {{agent: "script:fix.txt"}}
  cool: {{agent: "llm:here/tiny", temperature: 0, deadline: 5m, price: {{input: 0.1, output: 0.2}}}}
  warm: {{agent: "llm:here/tiny", temperature: 1.5, protocol: tools, price: {{input: 0.1, output: 0.2}}}}
endpoints:
  here: {{url: "http://127.0.0.1:9/v1", concurrency: 3}}
  ollama: {{concurrency: 2}}
programs: {{concurrency: 4}}
scenarios: [repair]
splits: [train]
worlds: [primary, twin]
attempts: 5
seeds: [1, 2]
limits: {{commands: 7, seconds: 1h}}
backends: {{sim: {{concurrency: 2}}, container: {{}}}}
budget: {{money: 5, tokens: 100000, wall: 6h}}
retries: {{rate-limit: 9}}
baseline: runs/before
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed bundle, its key and a script."""
    folder = tmp_path_factory.mktemp("plans")
    bundle = bundle_of(repair(), investigation()).bundle
    write_bundle(bundle, folder / "toys")
    generate(folder / "me.key")
    write_envelope(folder / "toys", sign(bundle, load_private(folder / "me.key"), None))
    (folder / "fix.txt").write_text("failed\n")
    return folder


def digest() -> str:
    return bundle_of(repair(), investigation()).digest


def trust(home: Path) -> Trust:
    return trust_only(home / "me.key.pub")


def resolved(home: Path, text: str) -> Resolved:
    path = home / "nightly.yml"
    path.write_text(text)
    return resolve(read_plan_document(path), trust(home))


def refused(home: Path, text: str) -> str:
    with pytest.raises(Diagnostics) as raised:
        resolved(home, text)
    return str(raised.value)


def test_a_whole_plan(home: Path) -> None:
    path = home / "whole.yml"
    path.write_text(WHOLE.format(digest=digest()[:16]))
    document = read_plan_document(path)
    assert document.course.budget == Budget(money=5, tokens=100_000, seconds=21_600)
    assert (document.course.tries("rate-limit"), document.course.tries("world"), document.course.tries(None)) == (
        9,
        2,
        2,
    )
    assert [document.course.at_once(lane) for lane in ("here", "ollama", "programs", "openai")] == [3, 2, 4, 8]
    assert (document.backends, document.course.worlds) == (("sim", "container"), {"sim": 2})
    assert document.baseline == home / "runs/before"
    assert document.limits == GivenLimits(commands=7, seconds=3600)

    found = resolve(document, trust(home))
    plan = found.plan
    assert (plan.name, plan.attempts, plan.seeds) == ("nightly", 5, (1, 2))
    assert [agent.label for agent in plan.agents] == ["gold", "typist", "cool", "warm"]
    assert [agent.lane for agent in found.agents] == ["", "", "here", "here"]
    assert plan.agents[3].settings == (("protocol", "tools"), ("temperature", "1.5"))
    assert plan.prices == (("cool", 0.1, 0.2), ("warm", 0.1, 0.2))
    (scenario,) = plan.scenarios
    assert scenario.bundle_digest == digest()
    assert [world for world, _ in scenario.worlds] == ["primary", "other"]
    assert (scenario.limits.commands, scenario.limits.seconds) == (7, 3600)
    assert scenario.limits.output_bytes == repair().limits.output_bytes
    assert plan.backends == ("sim", "container")
    assert plan.size == 4 * 2 * 5 * 2 * 2


def test_the_least_plan(home: Path) -> None:
    plan = resolved(home, "plan: a\npacks: [{path: toys}]\nagents: {nop: {}}\n").plan
    assert (plan.attempts, plan.seeds, plan.size) == (1, (0,), 6)


def test_its_schema_is_one_for_editors() -> None:
    Draft202012Validator.check_schema(plan_schema())
    assert is_plan(Path("a.yml"))
    assert is_plan(Path("a.yaml"))
    assert not is_plan(Path("bundle.tar"))


AGENTS = "agents: {nop: {}}\n"
PACKS = "packs: [{path: toys}]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        ("plan: [", "-->"),
        (PACKS + AGENTS, "the plan has no `plan`"),
        ("plan: a\n" + AGENTS, "the plan has no `packs`"),
        ("plan: a\n" + PACKS, "the plan has no `agents`"),
        ("plan: A B\n" + PACKS + AGENTS, "lower-case letters"),
        ("plan: a\npack: []\n" + PACKS + AGENTS, "unknown key `pack`"),
        ("plan: a\nattemps: 3\n" + PACKS + AGENTS, "did you mean `attempts`?"),
        ("plan: a\nattempts: 0\n" + PACKS + AGENTS, "must be at least 1"),
        ("plan: a\nattempts: many\n" + PACKS + AGENTS, "`attempts`"),
        ("plan: a\nbudget: {wall: soon}\n" + PACKS + AGENTS, "not a duration"),
        ("plan: a\nbudget: {money: -1}\n" + PACKS + AGENTS, "must be at least 0"),
        ("plan: a\nretries: {wordl: 1}\n" + PACKS + AGENTS, "did you mean `world`?"),
        ("plan: a\nsplits: [test]\n" + PACKS + AGENTS, "`train`"),
        ("plan: a\nlimits: {seconds: -3}\n" + PACKS + AGENTS, "`seconds`"),
        ("plan: a\n" + PACKS + "agents: {}\n", "`agents` is empty"),
        ("plan: a\n" + PACKS + "agents: {a: {agent: golden}}\n", "unknown agent `golden`"),
        ("plan: a\n" + PACKS + "agents: {gold: {temperature: 1}}\n", "agent `gold` has no setting `temperature`"),
        ("plan: a\n" + PACKS + "agents: {a: {agent: nop}, b: {agent: nop}}\n", "the same agent as `a`"),
        ("plan: a\n" + PACKS + 'agents: {a: {agent: "script:none.txt"}}\n', "cannot read the script"),
        ("plan: a\npacks: [{path: nowhere}]\n" + AGENTS, "not a bundle that can be run"),
        ("plan: a\npacks: [{path: toys, digest: 0123456789ab}]\n" + AGENTS, "has another digest"),
        ("plan: a\npacks: [{path: toys, digest: short}]\n" + AGENTS, "not a digest"),
        ("plan: a\nscenarios: [none]\n" + PACKS + AGENTS, "no scenario `none`"),
        ("plan: a\nworlds: [none]\n" + PACKS + AGENTS, "nothing to play"),
        ("plan: a\nsplits: [heldout]\n" + PACKS + AGENTS, "nothing to play"),
        ("plan: a\nbackends: {cloud: {}}\n" + PACKS + AGENTS, "there is no backend `cloud` here"),
        ("plan: a\nendpoints: {mine: {concurrency: 3}}\n" + PACKS + AGENTS, "the endpoint `mine` has no `url`"),
        ("plan: a\nendpoints: {mine: {url: here}}\n" + PACKS + AGENTS, "`url`"),
        (
            "plan: a\nbudget: {money: 1}\n" + PACKS + 'agents: {a: {agent: "llm:ollama/m"}}\n',
            "needs the price of every model, and that of `a` is unknown",
        ),
    ],
)
def test_every_mistake_is_told_with_its_place(home: Path, text: str, expected: str) -> None:
    said = refused(home, text)
    assert expected in said
    assert "nightly.yml" in said
    assert "Traceback" not in said


def test_several_mistakes_are_told_at_once(home: Path) -> None:
    said = refused(
        home, "plan: a\npacks: [{path: toys, digest: 0123456789ab}]\nagents: {a: {agent: golden}, b: {agent: nob}}\n"
    )
    assert said.count("error[plan-") == 3
    assert "nightly.yml:2:30" in said


def test_what_the_machine_lacks_is_its_own_kind_of_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(HostError, match="OPENAI_API_KEY"):
        resolved(home, "plan: a\n" + PACKS + 'agents: {a: {agent: "llm:openai/m"}}\n')


def test_a_key_may_stand_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    text = "plan: a\nendpoints: {openai: {key_from: MY_KEY}}\n" + PACKS + 'agents: {a: {agent: "llm:openai/m"}}\n'
    assert resolved(home, text).agents[0].lane == "openai"
