"""From `llm:PROVIDER/MODEL` and its settings to an agent. Nothing here needs the openai package; playing does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal, cast
from urllib.parse import urlsplit

from runners.agents.llm.model import Model, ModelSettings
from runners.agents.protocol import Agent, Setting
from runners.agents.settings import flag, number, seconds, used, whole
from runners.agents.spec import AgentRequest, AgentSpec, Endpoint
from runners.records import AgentIdentity
from scenario_dsl.errors import AuthorError, HostError
from scenario_dsl.values import Value

PROVIDERS: Mapping[str, Endpoint] = MappingProxyType(
    {
        endpoint.name: endpoint
        for endpoint in (
            Endpoint(name="openai", url="https://api.openai.com/v1", key_from="OPENAI_API_KEY"),
            Endpoint(name="openrouter", url="https://openrouter.ai/api/v1", key_from="OPENROUTER_API_KEY"),
            Endpoint(name="together", url="https://api.together.xyz/v1", key_from="TOGETHER_API_KEY"),
            Endpoint(name="groq", url="https://api.groq.com/openai/v1", key_from="GROQ_API_KEY"),
            Endpoint(name="mistral", url="https://api.mistral.ai/v1", key_from="MISTRAL_API_KEY"),
            Endpoint(name="deepseek", url="https://api.deepseek.com/v1", key_from="DEEPSEEK_API_KEY"),
            Endpoint(name="ollama", url="http://127.0.0.1:11434/v1"),
            Endpoint(name="vllm", url="http://127.0.0.1:8000/v1"),
            Endpoint(name="litellm", url=""),
        )
    }
)
"""Endpoints by the name that stands before the slash; a plan's own come first. One without URL is litellm's."""
_OWN_URL = "OPENAI_BASE_URL"
"""The environment variable that says where `openai` is, as the openai package itself reads it."""


@dataclass(frozen=True, slots=True)
class Factory:
    """Makes an agent that talks to one model, where it plays."""

    model: Model

    def __call__(self, setting: Setting) -> Agent:
        # Imported where a model plays: the openai package is an extra, and slow to load.
        making = import_module("runners.agents.llm.making")
        return cast(Agent, making.make(self.model, setting.seed))


def read(request: AgentRequest) -> AgentSpec:
    """Raises AuthorError for an unknown provider or setting, HostError where the extra or the key is missing."""
    provider, _, model = request.configuration.partition("/")
    if not provider or not model:
        raise AuthorError("agent `llm` needs a provider and a model: `llm:PROVIDER/MODEL`")
    endpoint = _endpoint(provider, request.endpoints)
    settings = _settings(request)
    for package, needed, extra in (("openai", True, "llm"), ("litellm", not endpoint.url, "litellm")):
        if needed and find_spec(package) is None:
            raise HostError(
                f"agent `llm:{provider}` needs the {package} package", remedy=f"pip install 'breakfix[{extra}]'"
            )
    if endpoint.key_from and not os.environ.get(endpoint.key_from):
        raise HostError(
            f"agent `llm:{request.configuration}` needs a key in ${endpoint.key_from}, which is not set",
            remedy=f"export {endpoint.key_from}=…",
        )
    price = _price(request)
    identity = AgentIdentity(
        name="llm",
        configuration=request.configuration,
        trusted=False,
        training=request.training,
        settings=used(settings, ModelSettings(), leave=("patience", "resend")),
        title=request.title,
    )
    factory = Factory(Model(endpoint=endpoint, model=model, settings=settings, price=price))
    return AgentSpec(identity=identity, factory=factory, lane=endpoint.name, price=price, paid=True)


def _endpoint(provider: str, own: Mapping[str, Endpoint]) -> Endpoint:
    known = {**PROVIDERS, **own}
    if provider not in known:
        raise AuthorError(
            f"agent `llm`: unknown provider `{provider}`; known are: {', '.join(known)}. "
            "A plan's `endpoints` name further ones"
        )
    endpoint = known[provider]
    if not endpoint.url:
        return endpoint
    url = os.environ.get(_OWN_URL) or endpoint.url if provider == "openai" and provider not in own else endpoint.url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AuthorError(f"endpoint `{provider}`: `{url}` is no URL of an endpoint")
    if parts.username or parts.password or parts.query:
        raise AuthorError(f"endpoint `{provider}`: its URL may hold no secret; name the key's variable in `key_from`")
    return Endpoint(name=provider, url=url, key_from=endpoint.key_from)


def _settings(request: AgentRequest) -> ModelSettings:
    usual = ModelSettings()
    request.only(*(name for name in ModelSettings.__dataclass_fields__), "price")
    protocol = request.settings.get("protocol", usual.protocol)
    if protocol not in ("text", "tools"):
        raise AuthorError(f"agent `llm`: `protocol` is `text` or `tools`, not `{protocol}`")
    return ModelSettings(
        protocol=cast(Literal["text", "tools"], protocol),
        temperature=number(request, "temperature", usual.temperature, 0, 10),
        top_p=number(request, "top_p", usual.top_p, 0, 1),
        max_tokens=whole(request, "max_tokens", usual.max_tokens, 16, 1_000_000),
        context_tokens=whole(request, "context_tokens", usual.context_tokens, 1024, 10_000_000),
        malformed=whole(request, "malformed", usual.malformed, 1, 1000),
        deadline=seconds(request, "deadline", usual.deadline),
        hints=flag(request, "hints"),
        seed=flag(request, "seed", usual=True),
        patience=seconds(request, "patience", usual.patience),
        resend=whole(request, "resend", usual.resend, 0, 100),
    )


def _price(request: AgentRequest) -> tuple[float, float] | None:
    given = request.settings.get("price")
    if given is None:
        return None
    values: list[Value] = [given.get("input"), given.get("output")] if isinstance(given, Mapping) else []
    found = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(found) != 2 or min(found) < 0:
        raise AuthorError("agent `llm`: `price` has `input` and `output`: money for a million tokens of each")
    return found[0], found[1]
