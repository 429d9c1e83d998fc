"""The agent: tells a model what is wrong, asks for one action after the other, and counts what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runners.agents.llm import words
from runners.agents.llm.connection import Connection, ContextTooLongError, ModelAnswer
from runners.agents.llm.dialogue import Dialogue
from runners.agents.llm.manner import Manner
from runners.agents.protocol import (
    Action,
    AgentFailedError,
    AgentUnavailableError,
    Briefing,
    Observation,
    Submit,
    Usage,
)
from runners.agents.wire import MalformedActionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How a model is talked to.

    context_tokens: how much of the conversation it is shown; most_malformed: answers in a row that are no action
    before it has failed; deadline: seconds of real time that it may take to answer, over the whole episode.
    price: money for a million tokens (in, out), None where it is not known.
    """

    context_tokens: int
    most_malformed: int
    deadline: float
    hints: bool
    price: tuple[float, float] | None
    seed: int | None


@dataclass(slots=True)
class _Account:
    """What was used. Tokens that the endpoint did not count are estimated, and their cost is then unknown."""

    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    malformed: int = 0
    model: str = ""
    seconds: float = 0.0


class ModelAgent:
    """Plays one episode. `connect` is called when it begins, so that making the agent costs nothing."""

    def __init__(self, connect: Callable[[], Connection], manner: Manner, conduct: Conduct) -> None:
        self._connect = connect
        self._manner = manner
        self._conduct = conduct
        self._connection: Connection | None = None
        self._dialogue = Dialogue((), 0)
        self._account = _Account()
        self._requests = (0, 0)
        self._last: ModelAnswer | None = None
        self._briefing: Briefing | None = None
        self._submitted = False

    def reset(self, briefing: Briefing) -> None:
        self._connection = self._connect()
        self._briefing = briefing

    def act(self, observation: Observation) -> Action:
        if self._connection is None:
            raise AgentFailedError("the agent failed: it was asked before it was told what is wrong")
        self._hear(observation)
        for _ in range(self._conduct.most_malformed):
            if self._account.seconds >= self._conduct.deadline:
                raise AgentFailedError(f"the agent failed: its answers took {self._conduct.deadline:g} s of real time")
            answer = self._ask(self._connection)
            try:
                action = self._manner.read(answer)
            except MalformedActionError as error:
                self._account.malformed += 1
                text = f"{error}. Nothing was carried out. {words.left(observation, self._thinking())}"
                self._dialogue.add(self._manner.said(answer), *self._manner.reply(answer, text))
                continue
            self._last = answer
            self._submitted = isinstance(action, Submit)
            return action
        count = self._conduct.most_malformed
        raise AgentFailedError(f"the agent failed: {count} answers in a row were no action")

    def usage(self) -> Usage:
        if self._connection is not None:
            self._requests = (self._connection.requests, self._connection.resent)
        account, price = self._account, self._conduct.price
        cost = None if self._requests[0] else 0.0
        if price is not None and account.counted:
            cost = round((account.tokens_in * price[0] + account.tokens_out * price[1]) / 1e6, 9)
        return Usage(
            tokens_in=account.tokens_in,
            tokens_out=account.tokens_out,
            cost=cost,
            requests=self._requests[0],
            resent=self._requests[1],
            malformed=account.malformed,
            model=account.model,
            seed=self._conduct.seed,
        )

    def close(self) -> None:
        if self._connection is not None:
            self._requests = (self._connection.requests, self._connection.resent)
            self._connection.close()
            self._connection = None

    def _thinking(self) -> float:
        """The seconds of real time that it may still take."""
        return max(self._conduct.deadline - self._account.seconds, 0.0)

    def _hear(self, observation: Observation) -> None:
        """Put what the last action brought into the conversation."""
        left = words.left(observation, self._thinking())
        if self._last is None:
            assert self._briefing is not None, "an agent is told what is wrong before it is asked"
            told = words.opening(self._briefing, observation, self._thinking(), hints=self._conduct.hints)
            opening = (
                {"role": "system", "content": self._manner.instructions},
                {"role": "user", "content": told},
            )
            self._dialogue = Dialogue(opening, self._conduct.context_tokens)
            return
        text = words.heard(observation, submitted=self._submitted)
        self._dialogue.add(self._manner.said(self._last), *self._manner.reply(self._last, f"{text}\n{left}"))

    def _ask(self, connection: Connection) -> ModelAnswer:
        while True:
            shown = self._dialogue.shown()
            try:
                answer = connection.ask(shown, self._manner.tools)
            except ContextTooLongError as error:
                if not self._dialogue.halve():
                    raise AgentUnavailableError(f"the model reads too little for any conversation: {error}") from error
                continue
            break
        account = self._account
        account.seconds += answer.seconds
        account.model = answer.model or account.model
        if answer.tokens is None:
            account.counted = False
            account.tokens_in += sum(map(self._dialogue.tokens, shown))
            account.tokens_out += self._dialogue.tokens(self._manner.said(answer))
        else:
            account.tokens_in += answer.tokens[0]
            account.tokens_out += answer.tokens[1]
            self._dialogue.measured(shown, answer.tokens[0])
        return answer
