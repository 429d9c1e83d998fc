"""A person as an agent: a prompt with history and completion, and a few words of their own that start with a colon."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import InMemoryHistory

from breakfix.cli.output import say
from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run
from runners.episode import COMMAND_SECONDS
from runners.sim.shell.continuation import incomplete

HELP = """Type commands as on any server. What is yours alone starts with a colon:
  :hint          the next hint, free    :answer TEXT   hand in an answer
  :task          the complaint again    :done          you are finished (or Ctrl-D)
There is no screen here for vi, nano or top to draw on: edit with sed, tee or here-documents."""

_FEW, _WIDEST = 5, 100
_PROMPT = "# "
"""Where the world cannot tell what its shell asks with."""


class Person:
    """Plays one episode at the terminal. `ask` gives the next line, or None at the end of input.

    `repairs`: something is to be repaired, and not only found out.
    """

    def __init__(self, ask: Callable[[str], str | None], *, repairs: bool = True) -> None:
        self._ask = ask
        self._repairs = repairs
        self._briefing: Briefing | None = None
        self._hints: list[str] = []

    def reset(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._hints = list(briefing.hints)
        _show_briefing(briefing, self._repairs)
        say(HELP)
        say("")

    def act(self, observation: Observation) -> Action:
        if observation.output:
            sys.stdout.write(observation.output if observation.output.endswith("\n") else observation.output + "\n")
        if observation.timed_out:
            say(f"[the command was stopped: it took too long; {_minutes(COMMAND_SECONDS)} are the most]")
        if observation.commands_left <= _FEW:
            say(_left(observation.commands_left))
        while True:
            line = self._ask(observation.prompt or _PROMPT)
            if line is None:
                return Done()
            word, _, rest = line.strip().partition(" ")
            if word == ":done":
                return Done()
            if word == ":answer" and self._briefing is not None and not self._briefing.questions:
                say("[nothing is asked here]")
            elif word == ":answer" and rest.strip():
                say("[noted]")
                return Answer(rest.strip())
            elif word in ("exit", "logout") and observation.commands_left == 0:
                return Done()
            elif word.startswith(":") and word != ":":
                self._own(word)
            elif line.strip() and observation.commands_left > 0:
                return Run(line)
            elif line.strip():
                say("[no commands are left: hand in an :answer, or end with :done]")

    def _own(self, word: str) -> None:
        assert self._briefing is not None
        if word == ":task":
            _show_briefing(self._briefing, self._repairs)
        elif word == ":hint" and self._hints:
            say(f"hint: {self._hints.pop(0)}")
        elif word == ":hint":
            say("there are no more hints")
        else:
            say(HELP)


def prompting(words: Sequence[str]) -> Callable[[str], str | None]:
    """Ask on the terminal, with line editing, history and completion of `words`; plain lines elsewhere."""
    if not sys.stdin.isatty():
        return _whole(_from_standard_input)
    # A word ends at white space and at the shell's operators, so that a dash or a slash does not begin a new one.
    completer = WordCompleter([*words, ":hint", ":answer", ":task", ":done"], pattern=re.compile(r"[^\s|&;()<>]+"))
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=completer, complete_while_typing=False
    )

    def ask(prompt: str) -> str | None:
        while True:
            try:
                return session.prompt(prompt)
            except KeyboardInterrupt:
                continue  # as in a shell: Ctrl-C drops the line
            except EOFError:
                return None

    return _whole(ask)


def _from_standard_input(prompt: str) -> str | None:
    line = sys.stdin.readline()
    if not line:
        return None
    say(f"{prompt}{line.rstrip()}")
    return line.rstrip("\n")


def _whole(ask: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Ask on, as a shell does, while what was typed is not a whole command yet."""

    def ask_on(prompt: str) -> str | None:
        text = ask(prompt)
        while text is not None and incomplete(text):
            more = ask("> ")
            if more is None:
                return text
            text = f"{text}\n{more}"
        return text

    return ask_on


def _show_briefing(briefing: Briefing, repairs: bool) -> None:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    say(textwrap.fill(" ".join(briefing.complaint.split()), width))
    for question in briefing.questions:
        say(f"Question: {question}")
    limits = briefing.limits
    say(
        textwrap.fill(
            f"You have {limits.commands} commands and {_minutes(limits.seconds)} by the machine's own clock, on which "
            "reading and typing take a second or two each time."
            + (" A good repair can be made twice and taken back; both will be tried." if repairs else ""),
            width,
        )
    )


def _left(commands: int) -> str:
    return f"[{commands or 'no'} command{'s are' if commands != 1 else ' is'} left]"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
