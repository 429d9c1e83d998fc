"""A person as an agent: a prompt with history and completion, and a few words of their own that start with a colon."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import InMemoryHistory

from breakfix.cli.output import say
from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run

HELP = """Type commands as on any server. What is yours alone starts with a colon:
  :hint          the next hint          :answer TEXT   hand in an answer
  :task          the complaint again    :done          you are finished (or Ctrl-D)"""

_PROMPT = "# "
"""Where the world cannot tell what its shell asks with."""


class Person:
    """Plays one episode at the terminal. `ask` gives the next line, or None at the end of input."""

    def __init__(self, ask: Callable[[str], str | None]) -> None:
        self._ask = ask
        self._briefing: Briefing | None = None
        self._hints: list[str] = []

    def reset(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._hints = list(briefing.hints)
        _show_briefing(briefing)
        say(HELP)
        say("")

    def act(self, observation: Observation) -> Action:
        if observation.output:
            sys.stdout.write(observation.output if observation.output.endswith("\n") else observation.output + "\n")
        if observation.timed_out:
            say("[the command was stopped: it took too long]")
        if observation.commands_left <= 0:
            say("[no commands are left]")
        while True:
            line = self._ask(observation.prompt or _PROMPT)
            if line is None:
                return Done()
            word, _, rest = line.strip().partition(" ")
            if word == ":done":
                return Done()
            if word == ":answer" and rest.strip():
                return Answer(rest.strip())
            if word.startswith(":") and word != ":":
                self._own(word)
            elif line.strip() and observation.commands_left > 0:
                return Run(line)

    def _own(self, word: str) -> None:
        assert self._briefing is not None
        if word == ":task":
            _show_briefing(self._briefing)
        elif word == ":hint" and self._hints:
            say(f"hint: {self._hints.pop(0)}")
        elif word == ":hint":
            say("there are no more hints")
        else:
            say(HELP)


def prompting(words: Sequence[str]) -> Callable[[str], str | None]:
    """Ask on the terminal, with line editing, history and completion of `words`; plain lines elsewhere."""
    if not sys.stdin.isatty():
        return _from_standard_input
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=WordCompleter([*words, ":hint", ":answer", ":task", ":done"])
    )

    def ask(prompt: str) -> str | None:
        while True:
            try:
                return session.prompt(prompt)
            except KeyboardInterrupt:
                continue  # as in a shell: Ctrl-C drops the line
            except EOFError:
                return None

    return ask


def _from_standard_input(prompt: str) -> str | None:
    line = sys.stdin.readline()
    if not line:
        return None
    say(f"{prompt}{line.rstrip()}")
    return line.rstrip("\n")


def _show_briefing(briefing: Briefing) -> None:
    say(briefing.complaint.strip())
    for question in briefing.questions:
        say(f"Question: {question}")
    say(f"You have {briefing.limits.commands} commands.")
