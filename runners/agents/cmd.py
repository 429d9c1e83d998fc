"""`cmd:PROGRAM`: a program of the user's, in any language, that reads and writes one JSON object a line.

It is told no solutions and no hidden worlds, and knows its world by what its commands print, like any other agent.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runners.agents.program import HARMLESS, Program, ProgramEnded
from runners.agents.protocol import Action, Agent, AgentFailedError, Briefing, Observation, Setting, Usage
from runners.agents.settings import flag, names, seconds, used
from runners.agents.spec import OWN_LANE, AgentRequest, AgentSpec
from runners.agents.wire import MalformedActionError, briefing_data, observation_data, read_action
from runners.records import AgentIdentity
from runners.text import readable, writable
from scenario_dsl.errors import AuthorError

LARGEST_SEED = (1 << 31) - 1
"""Seeds outside of this process have 31 bits: every language and every model server takes those."""
_MOST_MALFORMED = 10
"""Lines in a row that say nothing before the program has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """patience: seconds of real time for one answer; deadline: for all answers of an episode together.

    hints: is it told the scenario's hints? env: names of environment variables that it is given.
    """

    patience: float = 300.0
    deadline: float = 1800.0
    hints: bool = False
    env: tuple[str, ...] = ()


class _Reported(BaseModel):
    """The `usage` of a line: totals of the episode up to now."""

    model_config = ConfigDict(extra="forbid", strict=True)
    tokens_in: int = Field(default=0, ge=0, le=10**12)
    tokens_out: int = Field(default=0, ge=0, le=10**12)
    cost: float | None = Field(default=None, ge=0, le=10**9)
    model: str = Field(default="", max_length=200)


class CommandAgent:
    """Speaks with one program for one episode."""

    def __init__(self, command: tuple[str, ...], settings: CommandSettings, seed: int) -> None:
        self._command = command
        self._settings = settings
        self._seed = seed
        self._program: Program | None = None
        self._greeting: dict[str, object] | None = None
        self._malformed = 0
        self._answering = 0.0
        self._log = b""
        # What a program pays for is not known until it says so.
        self._spent = Usage(cost=None)

    def reset(self, briefing: Briefing) -> None:
        granted = {name: os.environ[name] for name in (*HARMLESS, *self._settings.env) if name in os.environ}
        self._program = Program(self._command, granted)
        self._greeting = {
            **briefing_data(briefing, hints=self._settings.hints),
            "seed": self._seed,
            "deadline": self._settings.deadline,
        }

    def act(self, observation: Observation) -> Action:
        if self._program is None:
            raise AgentFailedError("the agent failed: it was asked before it was told what is wrong")
        begun = time.monotonic()
        left = self._settings.deadline - self._answering
        until = begun + min(self._settings.patience, left)
        said: dict[str, object] = {"observation": {**observation_data(observation), "deadline_left": round(left, 3)}}
        if self._greeting is not None:
            said, self._greeting = {"briefing": self._greeting, **said}, None
        try:
            return self._converse(self._program, said, until)
        except ProgramEnded as ended:
            how = "closed its output" if ended.code is None else f"ended with exit code {ended.code}"
            raise AgentFailedError(
                f"the agent failed: its program {how} before it was done{self._complaint()}"
            ) from None
        finally:
            self._answering += time.monotonic() - begun

    def _converse(self, program: Program, said: dict[str, object], until: float) -> Action:
        line = program.ask(json.dumps(said).encode(), until)
        for _ in range(_MOST_MALFORMED):
            if line is None:
                raise AgentFailedError(f"the agent failed: it did not answer in time{self._complaint()}")
            try:
                data = _parsed(line)
                if isinstance(data, dict) and "usage" in data:
                    self._spent = _usage(data.pop("usage"))
                return read_action(data)
            except MalformedActionError as error:
                self._malformed += 1
                line = program.ask(json.dumps({"error": str(error)}).encode(), until)
        raise AgentFailedError(f"the agent failed: {_MOST_MALFORMED} lines in a row were no action{self._complaint()}")

    def usage(self) -> Usage:
        return replace(self._spent, malformed=self._malformed, seed=self._seed, log=self._said())

    def close(self) -> None:
        if self._program is not None:
            self._program.close()
            self._log, self._program = self._program.log, None

    def _said(self) -> str:
        """What it wrote on standard error, without the values that it was granted: those may be secrets."""
        text = writable(readable(self._log if self._program is None else self._program.log))
        for name in self._settings.env:
            if secret := os.environ.get(name):
                text = text.replace(secret, "***")
        return text

    def _complaint(self) -> str:
        """The last line that it wrote on standard error, for whoever reads the record."""
        lines = self._said().strip().splitlines()
        return f"; it said: {lines[-1][:300]}" if lines else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Makes an agent of a command. On a cluster the program lies in the same place on every machine."""

    command: tuple[str, ...]
    settings: CommandSettings

    def __call__(self, setting: Setting) -> Agent:
        return CommandAgent(self.command, self.settings, setting.seed & LARGEST_SEED)


def read(request: AgentRequest) -> AgentSpec:
    """`cmd:PROGRAM ARGUMENT…`, in the words of a shell. Files among the words are known by their content.

    Raises AuthorError for a program that is not there.
    """
    usual = CommandSettings()
    settings = CommandSettings(
        patience=seconds(request, "patience", usual.patience),
        deadline=seconds(request, "deadline", usual.deadline),
        hints=flag(request, "hints"),
        env=names(request, "env"),
    )
    request.only("patience", "deadline", "hints", "env")
    try:
        words = shlex.split(request.configuration)
    except ValueError as error:
        raise AuthorError(f"agent `cmd`: `{request.configuration}` is no command: {error}") from error
    if not words:
        raise AuthorError("agent `cmd` needs a program: `cmd:PROGRAM`")
    folder, own = request.folder.absolute(), os.sep in words[0]
    program = shutil.which(folder / words[0] if own else words[0])
    if program is None:
        raise AuthorError(f"agent `cmd`: there is no program `{words[0]}` here, or it is not executable")
    files = [folder / word if (folder / word).is_file() else None for word in words[1:]]
    # A program of the system is known by its name, a file of the user's by its name and its content, wherever it lies.
    known = [_by_content(Path(program)) if own else words[0]]
    known += (word if file is None else _by_content(file) for word, file in zip(words[1:], files, strict=True))
    # It plays in a folder of its own, from where relative paths lead nowhere.
    command = [str(Path(program).absolute())]
    command += (word if file is None else str(file.absolute()) for word, file in zip(words[1:], files, strict=True))
    identity = AgentIdentity(
        name="cmd",
        configuration=shlex.join(known),
        trusted=False,
        training=request.training,
        settings=used(settings, usual, leave=("env", "patience")),
        title=request.title,
    )
    return AgentSpec(identity=identity, factory=Command(command=tuple(command), settings=settings), lane=OWN_LANE)


def _by_content(path: Path) -> str:
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise AuthorError(f"agent `cmd`: cannot read `{path}`: {error.strerror}") from error
    return f"{path.name}@{digest[:16]}"


def _usage(data: object) -> Usage:
    """What a program says that it used up to now. Raises MalformedActionError."""
    try:
        reported = _Reported.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise MalformedActionError(f"`usage`: {where}: {first['msg']}") from None
    return Usage(
        tokens_in=reported.tokens_in,
        tokens_out=reported.tokens_out,
        cost=reported.cost,
        model=writable(reported.model),
    )


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedActionError("this line is no JSON") from None
