"""Putting an agent together where it plays: key, connection, manner of speaking."""

from __future__ import annotations

from runners.agents.llm.connection import Connection
from runners.agents.llm.manner import Manner, Tags, Tools
from runners.agents.llm.model import Model, key_of
from runners.agents.llm.player import Conduct, ModelAgent
from runners.agents.llm.transport import Access
from runners.agents.protocol import Agent

LARGEST_SEED = (1 << 31) - 1
"""Seeds for models have 31 bits: every server takes those."""


def make(model: Model, seed: int) -> Agent:
    """The agent for one episode. `seed` is the trial's own."""
    settings = model.settings
    small = seed & LARGEST_SEED
    # OpenAI's own models take the limit of an answer under a newer name, and other servers under the older one only.
    limit = "max_completion_tokens" if model.endpoint.name == "openai" else "max_tokens"
    sampling = {
        limit: settings.max_tokens,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": small if settings.seed else None,
    }

    def connect() -> Connection:
        access = Access(
            url=model.endpoint.url,
            key=key_of(model.endpoint),
            model=model.model,
            sampling={name: value for name, value in sampling.items() if value is not None},
            patience=settings.patience,
            resend=settings.resend,
        )
        return Connection(access, small)

    manner: Manner = Tools() if settings.protocol == "tools" else Tags()
    conduct = Conduct(
        context_tokens=settings.context_tokens,
        most_malformed=settings.malformed,
        deadline=settings.deadline,
        hints=settings.hints,
        price=model.price,
        seed=small if settings.seed else None,
    )
    return ModelAgent(connect, manner, conduct)
