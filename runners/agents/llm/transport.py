"""Ways to a model: the openai package with bounds on time and size, and litellm for what speaks no such protocol."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, cast

import httpx2
import openai

LARGEST_ANSWER = 8 << 20
"""Bytes of a response that are read; no honest answer is as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to ask. patience: seconds for one answer; resend: how often again after an error; backoff: the first pause.

    url: where; empty for litellm, which knows by the model's name. sampling: the request's own parameters, as the
    endpoint takes them.
    """

    url: str
    key: str
    model: str
    sampling: Mapping[str, object] = field(default_factory=dict)
    patience: float = 120.0
    resend: int = 6
    backoff: float = 1.0


class Transport(Protocol):
    """Carries one request."""

    def send(self, request: Mapping[str, object]) -> bytes:
        """The response's body, as JSON of a chat completion if the endpoint does its work.

        request: what the chat completions API takes. Raises openai.APIError, or ValueError for a body past its bounds.
        """

    def close(self) -> None: ...


def transport_to(access: Access) -> Transport:
    return OpenAiTransport(access) if access.url else LiteLlmTransport(access)


class OpenAiTransport:
    """To any URL where somebody speaks the protocol of OpenAI's chat completions."""

    def __init__(self, access: Access) -> None:
        self._patience = access.patience
        self._client = openai.OpenAI(
            api_key=access.key or "none",
            base_url=access.url,
            max_retries=0,
            timeout=access.patience,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [self._bound]}),
        )

    def send(self, request: Mapping[str, object]) -> bytes:
        given: Any = {name: request[name] for name in ("model", "messages", "tools") if name in request}
        sampling = {name: value for name, value in request.items() if name not in given}
        answer = self._client.chat.completions.with_raw_response.create(**given, extra_body=sampling)
        return answer.http_response.content

    def close(self) -> None:
        self._client.close()

    def _bound(self, response: httpx2.Response) -> None:
        """A body has an end, in time and in size, whatever its status; one that unpacks to more could have none."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("it sent a compressed response, which nobody asked for")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, time.monotonic() + self._patience)


class LiteLlmTransport:
    """To the many providers whose protocols litellm translates. Its errors are openai's own kinds.

    Where no key is given it reads that of the provider from the variable that it documents. It bounds time, no sizes.
    """

    def __init__(self, access: Access) -> None:
        self._patience = access.patience
        self._key = access.key or None
        # Without this the import asks a server for the latest prices, which are the plan's business.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        self._litellm = cast(Any, import_module("litellm"))
        self._litellm.telemetry = False
        self._litellm.suppress_debug_info = True

    def send(self, request: Mapping[str, object]) -> bytes:
        answer = self._litellm.completion(
            **request,
            api_key=self._key,
            timeout=self._patience,
            max_retries=0,
            num_retries=0,
            drop_params=True,  # not every provider takes a seed
        )
        return bytes(answer.model_dump_json().encode())

    def close(self) -> None:
        """It keeps nothing open of ours."""


class _Bounded(httpx2.SyncByteStream):
    """A body up to its bounds. Raises ValueError where it goes on past them."""

    def __init__(self, stream: httpx2.SyncByteStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > LARGEST_ANSWER:
                raise ValueError(f"its response has more than {LARGEST_ANSWER} bytes")
            if time.monotonic() > self._until:
                raise ValueError("its response came without an end")
            yield part

    def close(self) -> None:
        self._stream.close()
