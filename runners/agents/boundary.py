"""Where an agent's words come in: an action is what its type says, of a bearable size, and can be written down.

What is not is the agent's own failure, found here, before it can reach a world or a record.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from compiler.codec import Malformed, NotCanonical, dump, load
from runners.agents.protocol import Action, AgentFailedError, Answer, Done, Metered, Run, Submit, Usage
from runners.interventions import without_places
from runners.text import writable
from scenario_dsl.model import Intervention

LONGEST_TEXT = 64 * 1024
"""Characters of a command, an answer or a thought that are taken."""
LONGEST_DOCUMENT = 256 * 1024
"""Bytes of an intervention, as canonical JSON."""


def admit(action: object) -> Action:
    """The action with texts that a record can hold. Raises AgentFailedError, in words for the record."""
    if not isinstance(action, Action):
        raise AgentFailedError(f"the agent failed: it returned {type(action).__name__}, which is no action")
    think = None if action.think is None else _text(action.think, "thought")
    if isinstance(action, Run):
        return Run(_text(action.command, "command"), think)
    if isinstance(action, Answer):
        return Answer(_text(action.text, "answer"), think)
    if isinstance(action, Submit):
        return Submit(_document(action.intervention), think)
    return Done(think)


def admit_usage(agent: object) -> Usage:
    """What the agent says that it used, as a record can hold it; nothing where it counts nothing.

    Whatever is wrong with it leaves the cost unknown: an episode that was played is not lost over its bill.
    """
    if not isinstance(agent, Metered):
        return Usage()
    try:
        said = agent.usage()
        return load(Usage, dump(replace(said, log=writable(said.log), model=writable(said.model))))
    except Exception:
        return Usage(cost=None)


def _text(text: object, what: str) -> str:
    if not isinstance(text, str):
        raise AgentFailedError(f"the agent failed: its {what} is {type(text).__name__}, not text")
    if len(text) > LONGEST_TEXT:
        raise AgentFailedError(f"the agent failed: its {what} has {len(text)} characters; {LONGEST_TEXT} are taken")
    return writable(text)


def _document(intervention: object) -> Intervention:
    """The document as it reads back: whatever it is made of, from here on it is plain values of the right types."""
    if not isinstance(intervention, Intervention):
        raise AgentFailedError(f"the agent failed: it submitted {type(intervention).__name__}, not an intervention")
    try:
        data = dump(without_places(intervention))
        if len(data) > LONGEST_DOCUMENT:
            raise AgentFailedError(
                f"the agent failed: its intervention has {len(data)} bytes; {LONGEST_DOCUMENT} are taken"
            )
        return _read(data)
    except (NotCanonical, Malformed, TypeError, AttributeError) as error:
        raise AgentFailedError(f"the agent failed: what it submitted is no intervention ({error})") from error


@lru_cache(maxsize=64)
def _read(data: bytes) -> Intervention:
    """Attempts at one scenario often end in the same document."""
    return load(Intervention, data)
