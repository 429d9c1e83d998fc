"""A shell outside an episode (the gate's, an attempt's) in which what would destroy the machine is not run either."""

from __future__ import annotations

from runners.interventions import Shell
from runners.typed.destructive import destructive
from runners.typed.reading import Reader
from runners.worlds import CommandResult
from scenario_dsl.model import Reward

_NOT_RUN = 126
"""What a shell says of a command that it found and may not run."""


class Sentry:
    """Reads each line first. `refused`: what the first destructive one would have done; nothing runs after it."""

    def __init__(self, live: Shell) -> None:
        self._live = live
        self._reader = Reader()
        self.refused = ""

    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        self.refused = self.refused or destructive(self._reader.read(command)) or ""
        if self.refused:
            said = f"breakfix: not run, for it is destructive: {self.refused}\n".encode()
            return CommandResult(output=said, stdout=b"", stderr=said, exit_code=_NOT_RUN, seconds=0.0)
        return self._live.run(command, output_bytes=output_bytes, seconds=seconds)

    def elapsed(self) -> float:
        return self._live.elapsed()


def watched(live: Shell, rules: Reward) -> Shell:
    """The shell, with a sentry where the reward is one that ends an episode for a destructive command."""
    return live if rules.destructive is None else Sentry(live)
