"""What was said so far, and as much of it as a model is shown: the beginning, and the latest turns that fit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runners.agents.llm.connection import Message

_FIRST_GUESS = 3.0
"""Characters per token, until the endpoint's own count says better."""
_BOUNDS = (1.0, 6.0)
_LEFT_OUT: Message = {"role": "user", "content": "[Earlier turns are left out here; what they changed is still so.]"}
_SMALLEST = 512
"""Tokens that are always shown: with fewer there is no conversation."""


class Dialogue:
    """Messages in turns (an answer and what it got back), cut to a budget of tokens from the oldest turn on."""

    def __init__(self, opening: Sequence[Message], budget: int) -> None:
        self._opening = tuple(opening)
        self._turns: list[tuple[Message, ...]] = []
        self._budget = budget
        self._ratio = _FIRST_GUESS

    def add(self, *messages: Message) -> None:
        """One turn more: an answer and what it got back."""
        self._turns.append(messages)

    def shown(self) -> list[Message]:
        """What is sent. The opening and the last turn always are; what is too long in them is cut in its middle."""
        left = self._budget - sum(map(self.tokens, self._opening))
        kept: list[Message] = []
        count = 0
        for turn in reversed(self._turns):
            cost = sum(map(self.tokens, turn))
            if count and cost > left:
                break
            kept[:0] = turn if cost <= left else self._shortened(turn, max(left, _SMALLEST))
            left -= cost
            count += 1
        gap = [_LEFT_OUT] if count < len(self._turns) else []
        return [*self._opening, *gap, *kept]

    def tokens(self, message: Message) -> int:
        """About how many tokens a message has."""
        return int(_length(message) / self._ratio) + 4

    def measured(self, sent: Sequence[Message], tokens: int) -> None:
        """The endpoint counted so many tokens for what was sent."""
        if tokens > 0:
            ratio = sum(map(_length, sent)) / tokens
            self._ratio = min(max(ratio, _BOUNDS[0]), _BOUNDS[1])

    def halve(self) -> bool:
        """Show half as much from now on. False where there is nothing left to leave out."""
        if self._budget <= _SMALLEST:
            return False
        self._budget = max(self._budget // 2, _SMALLEST)
        return True

    def _shortened(self, turn: Sequence[Message], tokens: int) -> tuple[Message, ...]:
        each = int(tokens * self._ratio / len(turn))
        return tuple(
            {**message, "content": _cut(content, each)}
            if isinstance(content := message.get("content"), str)
            else message
            for message in turn
        )


def _length(message: Message) -> int:
    content = message.get("content")
    calls = message.get("tool_calls")
    return (len(content) if isinstance(content, str) else 0) + (len(json.dumps(calls)) if calls else 0)


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    half = max((length - 40) // 2, 20)
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"
