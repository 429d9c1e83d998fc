"""`llm:PROVIDER/MODEL`, read: which endpoint, which settings, and what is refused before anything is asked."""

from __future__ import annotations

import pytest

from runners.agents.llm import reading
from runners.agents.llm.reading import PROVIDERS, Factory
from runners.agents.registry import parse_agent
from runners.agents.spec import Endpoint
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.values import Value


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def url_of(text: str, endpoints: dict[str, Endpoint] | None = None) -> str:
    factory = parse_agent(text, endpoints=endpoints or {}).factory
    assert isinstance(factory, Factory)
    return factory.model.endpoint.url


def test_a_model_waits_at_its_endpoint_and_costs_money() -> None:
    spec = parse_agent("llm:openai/gpt-x", settings={"price": {"input": 1, "output": 2.5}, "resend": 3})
    assert (spec.lane, spec.paid, spec.price) == ("openai", True, (1.0, 2.5))
    assert spec.identity.label == "llm:openai/gpt-x"
    assert not parse_agent("nop").paid


def test_a_plans_own_endpoint_comes_before_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert url_of("llm:openai/m") == PROVIDERS["openai"].url
    assert url_of("llm:ollama/org/model:8b") == "http://127.0.0.1:11434/v1"
    own = {"openai": Endpoint(name="openai", url="http://127.0.0.1:1/v1")}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:2/v1")
    assert url_of("llm:openai/m") == "http://127.0.0.1:2/v1"
    assert url_of("llm:openai/m", own) == "http://127.0.0.1:1/v1"


def test_where_an_endpoint_is_does_not_make_another_agent() -> None:
    one, two = ({"a": Endpoint(name="a", url=f"http://127.0.0.1:{port}/v1")} for port in (1, 2))
    assert parse_agent("llm:a/m", endpoints=one).identity == parse_agent("llm:a/m", endpoints=two).identity


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("llm:", {}, "needs a provider and a model"),
        ("llm:openai", {}, "needs a provider and a model"),
        ("llm:opnai/m", {}, "unknown provider `opnai`; known are: openai,"),
        ("llm:openai/m", {"temperatur": 1}, "did you mean `temperature`"),
        ("llm:openai/m", {"temperature": "hot"}, "`temperature` is a number from 0 to 10"),
        ("llm:openai/m", {"top_p": 2}, "`top_p` is a number from 0 to 1"),
        ("llm:openai/m", {"max_tokens": 1.5}, "`max_tokens` is a whole number"),
        ("llm:openai/m", {"protocol": "xml"}, "`protocol` is `text` or `tools`"),
        ("llm:openai/m", {"deadline": -1}, "`deadline` is a duration"),
        ("llm:openai/m", {"price": 3}, "`price` has `input` and `output`"),
        ("llm:openai/m", {"price": {"input": 1}}, "`price` has `input` and `output`"),
        ("llm:openai/m", {"price": {"input": -1, "output": 1}}, "`price` has `input` and `output`"),
    ],
)
def test_what_is_refused(text: str, settings: dict[str, Value], message: str) -> None:
    with pytest.raises(AuthorError, match=message):
        parse_agent(text, settings=settings)


@pytest.mark.parametrize("url", ["127.0.0.1:80", "ftp://x/", "http://user:pass@x/v1", "http://x/v1?key=1"])
def test_an_address_that_is_none_or_holds_a_secret(url: str) -> None:
    with pytest.raises(AuthorError, match="endpoint `a`"):
        parse_agent("llm:a/m", endpoints={"a": Endpoint(name="a", url=url)})


def test_what_is_missing_here_is_told_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(HostError, match=r"needs a key in \$OPENAI_API_KEY"):
        parse_agent("llm:openai/m")
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    with pytest.raises(HostError, match="needs the openai package") as raised:
        parse_agent("llm:ollama/m")
    assert raised.value.remedy == "pip install 'breakfix[llm]'"
    monkeypatch.setattr(reading, "find_spec", lambda name: None if name == "litellm" else object())
    with pytest.raises(HostError, match="needs the litellm package") as raised:
        parse_agent("llm:litellm/anthropic/m")
    assert raised.value.remedy == "pip install 'breakfix[litellm]'"
