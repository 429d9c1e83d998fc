"""Asking an endpoint, whatever it does: retries with back-off, bounds on time and size, and an account of it all.

An answer that arrived whole is the model's, however poor. Anything else (nobody there, 429, 5xx, no JSON, no end, no
choice in it) is the endpoint's: asked again for a while, then AgentUnavailableError, which makes the trial Errored.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import openai
from pydantic import BaseModel, Field, ValidationError

from runners.agents.llm.transport import Access, transport_to
from runners.agents.protocol import AgentUnavailableError
from runners.seeds import derive
from runners.text import writable

Message: TypeAlias = Mapping[str, object]

_LONGEST_WAIT = 60.0
_LONGEST_REASON = 300
_KEY = re.compile(r"\b(?:sk|key|gsk|xai)-[\w*.-]{6,}")
_TOO_LONG = re.compile(r"context.{0,20}(length|window|size)|too (long|many tokens)|maximum.{0,30}tokens", re.IGNORECASE)
_NO_MONEY = re.compile(r"insufficient_quota|billing|credit", re.IGNORECASE)


def _api_keys() -> Iterator[str]:
    """Keys of any provider in this process's environment: a library that reads them by itself may quote one."""
    return (value for name, value in os.environ.items() if name.endswith("_API_KEY") and len(value) >= 8)


class ContextTooLongError(Exception):
    """The endpoint says that the conversation is longer than its model can read."""


class _Function(BaseModel):
    name: str = ""
    arguments: str | None = ""


class _Call(BaseModel):
    id: str = ""
    function: _Function


class _Said(BaseModel):
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = Field(ge=0, le=10**9)
    completion_tokens: int = Field(ge=0, le=10**9)


class _Completion(BaseModel):
    """What of a response is looked at. Endpoints differ in all the rest."""

    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: _Tokens | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as the model wrote it: `arguments` should be JSON and may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """One answer. `tokens`: (in, out) as the endpoint counted them, or None. `cut`: it was ended by its limit."""

    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: tuple[int, int] | None = None
    model: str = ""
    cut: bool = False
    seconds: float = 0.0


class Connection:
    """One agent's line to its model."""

    def __init__(self, access: Access, seed: int, sleep: Callable[[float], None] = time.sleep) -> None:
        self._access = access
        self._seed = seed
        self._sleep = sleep
        self.requests = 0
        self.resent = 0
        self._transport = transport_to(access)

    def close(self) -> None:
        self._transport.close()

    def ask(self, messages: Sequence[Message], tools: Sequence[Message] = ()) -> ModelAnswer:
        """One answer. Raises AgentUnavailableError, and ContextTooLongError where fewer words would help."""
        for attempt in range(self._access.resend + 1):
            if attempt:
                self.resent += 1
            self.requests += 1
            begun = time.monotonic()
            try:
                return self._once(messages, tools, begun)
            except openai.APIStatusError as error:
                wait = self._refused(error)
                trouble, kind = self._words(error), "rate-limit" if error.status_code == 429 else "agent"
            except (openai.APIError, ValidationError, ValueError) as error:
                wait, trouble, kind = None, self._words(error), "agent"
            if attempt < self._access.resend:
                self._sleep(self._pause(attempt) if wait is None else min(wait, _LONGEST_WAIT))
        asked = f"{self._access.resend + 1} requests" if self._access.resend else "one request"
        message = f"{self._access.model} gave no answer in {asked}, in the end: {trouble}"
        raise AgentUnavailableError(message, kind="rate-limit" if kind == "rate-limit" else "agent")

    def _once(self, messages: Sequence[Message], tools: Sequence[Message], begun: float) -> ModelAnswer:
        given: dict[str, object] = {"model": self._access.model, "messages": list(messages), **self._access.sampling}
        if tools:
            given["tools"] = list(tools)
        data = self._transport.send(given)
        try:
            completion = _Completion.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the response"
            raise ValueError(f"what it sent is no completion: {where}: {first['msg']}") from None
        choice = completion.choices[0]
        usage = completion.usage
        return ModelAnswer(
            text=writable(choice.message.content or ""),
            reasoning=writable(choice.message.reasoning_content or ""),
            calls=tuple(
                ToolCall(
                    id=call.id or f"call-{number}",
                    name=writable(call.function.name),
                    arguments=writable(call.function.arguments or ""),
                )
                for number, call in enumerate(choice.message.tool_calls or ())
            ),
            tokens=None if usage is None else (usage.prompt_tokens, usage.completion_tokens),
            model=writable(completion.model or "")[:200],
            cut=choice.finish_reason == "length",
            seconds=time.monotonic() - begun,
        )

    def _refused(self, error: openai.APIStatusError) -> float | None:
        """How long the endpoint asks to wait, None where it does not say. Raises where asking again cannot help."""
        status, said = error.status_code, self._words(error)
        if status in (400, 413, 422) and _TOO_LONG.search(said):
            raise ContextTooLongError(said) from error
        if status == 429 and _NO_MONEY.search(said):
            raise AgentUnavailableError(f"{self._access.model}: {said}", kind="rate-limit") from error
        if status < 500 and status not in (408, 409, 425, 429):
            raise AgentUnavailableError(f"{self._access.model}: {said}") from error
        try:
            return max(0.0, float(str(error.response.headers.get("retry-after", ""))))
        except ValueError:
            return None

    def _pause(self, attempt: int) -> float:
        """Twice as long each time, and a little different for each agent, so that they do not all come back at once."""
        longest = min(self._access.backoff * (1 << attempt), _LONGEST_WAIT)
        return longest * (0.5 + derive(self._seed, "pause", str(attempt)) % 1000 / 2000)

    def _words(self, error: Exception) -> str:
        """An error in one short line that holds no key."""
        if isinstance(error, openai.APITimeoutError):
            return f"it did not answer within {self._access.patience:g} s"
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
        said = str(cause or error)
        status = f"{error.status_code}: " if isinstance(error, openai.APIStatusError) else ""
        for key in (self._access.key, *_api_keys()):
            if key:
                said = said.replace(key, "***")
        line = " ".join(writable(_KEY.sub("***", said)).split())
        return (line if status and line.startswith("Error code") else f"{status}{line}")[:_LONGEST_REASON]
