"""A model as an agent: where it answers, with what settings. It holds no key: who plays reads their own environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from runners.agents.protocol import AgentUnavailableError
from runners.agents.spec import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What differs from these is part of the agent's identity, but for `patience` and `resend`, which are transport."""

    protocol: Literal["text", "tools"] = "text"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 2048
    context_tokens: int = 24_000
    malformed: int = 5
    deadline: float = 1800.0
    hints: bool = False
    seed: bool = True
    patience: float = 120.0
    resend: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. price: money for a million tokens in and out; None where it is not known."""

    endpoint: Endpoint
    model: str
    settings: ModelSettings
    price: tuple[float, float] | None


def key_of(endpoint: Endpoint) -> str:
    """The endpoint's key, from this process's environment. Raises AgentUnavailableError where it is missing."""
    if not endpoint.key_from:
        return ""
    key = os.environ.get(endpoint.key_from, "")
    if not key:
        raise AgentUnavailableError(f"${endpoint.key_from} is not set on the machine that plays")
    return key
