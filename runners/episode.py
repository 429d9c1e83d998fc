"""One episode: an agent in one world that is already in trouble, until it is done.

Command → output → cascades → objectives → reward, with the invariants watched after each command. When the agent has
finished, the world gets time to settle, and only what still holds then counts. Where the scenario's reward speaks of
destructive commands, each is read before it runs; one that would destroy the machine is harm, is not run, and ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from runners.agents.boundary import admit
from runners.agents.protocol import (
    Action,
    Agent,
    AgentFailedError,
    AgentUnavailableError,
    Answer,
    Briefing,
    Done,
    Observation,
    Run,
    Submit,
    close,
)
from runners.cascades import CascadeClock
from runners.evidence import seen_as
from runners.harms import InvariantWatch
from runners.interventions import to_text
from runners.objectives import Scoreboard, missing, questions, settling
from runners.opening import wait_for_witness
from runners.records import ObjectiveResult, Turn
from runners.text import readable, writable
from runners.typed.destructive import destructive
from runners.typed.diagnostic import diagnostic
from runners.typed.reading import Reader
from runners.worlds import LiveWorld, Unsteady
from runners.worlds import Observation as WorldObservation
from scenario_dsl.model import Intervention, Limits, Probe
from scenario_dsl.worlds import ResolvedScenario, World

COMMAND_SECONDS = 900.0
"""The longest that one command may take, on the world's clock: long enough to wait for a job that runs every quarter of
an hour. An episode's own limit may be nearer."""
_ACTIONS_PER_COMMAND = 2
"""Answering and submitting cost no command, so all actions together are bounded too, at this many per command."""
_RECOVERY_WAITS = (1.0, 2.0, 4.0, 8.0, 15.0)
"""A repair may take a moment to show: how long an unmet objective is waited for once the agent is done. One that asks
for a longer `settle` (a job's next time, say) is waited for that long too."""
_LONGEST_FAILURE = 2000
_AGENTS_OWN = (Exception, SystemExit, GeneratorExit)
"""What may come out of an agent's code and is its own failure: a library that calls sys.exit must not end a run."""
_CASCADE_WAITS = (0.5, 1.0, 2.0)


class Repair(NamedTuple):
    """What an agent did to mend a world: the intervention that it handed in, if any, and the commands that it typed."""

    submitted: Intervention | None
    typed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What happened. `score` is the points of objectives met in the end; `reward` is the sum over the turns.

    `unmet`: the essential objectives that were not met. `agent_error`: the agent's own exception that ended it.
    """

    turns: tuple[Turn, ...]
    objectives: tuple[ObjectiveResult, ...]
    unmet: tuple[ObjectiveResult, ...]
    score: float
    reward: float
    commands: int
    seconds: float
    harms: tuple[str, ...]
    cascades_fired: tuple[str, ...]
    answers: tuple[str, ...]
    repair: Repair
    agent_error: str | None

    @property
    def recovered(self) -> bool:
        return not self.unmet


def unnoticed(_repair: Repair) -> None:
    """Nobody wants to know."""


def play(
    live: LiveWorld,
    scenario: ResolvedScenario,
    world: World,
    agent: Agent,
    limits: Limits,
    met: Callable[[Repair], None] = unnoticed,
) -> Episode:
    """Let `agent` play in `live`, whose faults are in force and witnessed. The clock starts here.

    met: told what was done once the world has recovered, before it is watched whether it stays so.
    Raises WorldError when the world fails and AgentUnavailableError when what the agent stands on does.
    """
    return _Play(live, scenario, world, limits, met).play(agent)


class _Play:
    def __init__(
        self,
        live: LiveWorld,
        scenario: ResolvedScenario,
        world: World,
        limits: Limits,
        met: Callable[[Repair], None],
    ) -> None:
        self._live = live
        self._met = met
        self._scenario = scenario
        self._world = world
        self._limits = limits
        self._board = Scoreboard(world)
        self._cascades = CascadeClock(world)
        self._invariants = InvariantWatch(world)
        self._turns: list[Turn] = []
        self._fired: list[str] = []
        self._commands = 0
        self._reader = Reader()
        self._diagnosed = False
        self._looked = False
        self._refused: str | None = None
        self._submitted: Intervention | None = None
        self._error: str | None = None
        self._started = live.elapsed()
        self._prompt = live.prompt()
        self._evidence: list[str] = []
        self._score = 0.0

    def play(self, agent: Agent) -> Episode:
        self._look(None)
        try:
            self._error = self._converse(agent)
        finally:
            # Whatever the agent runs elsewhere ends here: nothing of it is there while its work is judged.
            with suppress(Exception):
                close(agent)
        seconds = self._now()
        reward = self._settle()
        if self._turns:
            last = self._turns[-1]
            self._turns[-1] = replace(last, reward=round(last.reward + reward, 9))
        return Episode(
            turns=tuple(self._turns),
            objectives=self._board.results(),
            unmet=self._unmet(),
            score=self._board.score,
            reward=round(sum(turn.reward for turn in self._turns), 9),
            commands=self._commands,
            seconds=round(seconds, 6),
            harms=self._harms(),
            cascades_fired=tuple(self._fired),
            answers=self._board.answers,
            repair=self._repair(),
            agent_error=self._error,
        )

    def _converse(self, agent: Agent) -> str | None:
        """Ask and act until the agent is done or out of its limits. Returns the agent's own failure, if any."""
        observation = self._observation()
        most_actions = _ACTIONS_PER_COMMAND * self._limits.commands + _ACTIONS_PER_COMMAND
        try:
            agent.reset(
                Briefing(
                    complaint=self._world.complaint,
                    questions=questions(self._world),
                    hints=self._world.hints,
                    limits=self._limits,
                )
            )
        except AgentUnavailableError:
            raise
        except _AGENTS_OWN as error:
            return _failure(error)
        for _ in range(most_actions):
            try:
                action = self._seen_through(admit(agent.act(observation)))
            except AgentUnavailableError:
                raise
            except _AGENTS_OWN as error:
                return _failure(error)
            if isinstance(action, Done):
                self._turns.append(Turn(kind="done", text="", at=self._at(), think=action.think))
                return None
            if isinstance(action, Run) and self._commands >= self._limits.commands:
                return None
            observation = self._act(action)
            if self._refused is not None or self._now() >= self._limits.seconds:
                return None
        return None

    def _seen_through(self, action: Action) -> Action:
        """Nothing can be cited that was not seen here. Raises AgentFailedError."""
        if isinstance(action, Submit):
            for cited in action.intervention.evidence:
                if not any(known.startswith(cited) for known in self._evidence):
                    raise AgentFailedError(f"the agent failed: it cites evidence `{cited}`, which it has not seen")
        return action

    def _act(self, action: Run | Answer | Submit) -> Observation:
        if isinstance(action, Run):
            return self._run(action)
        at = self._at()
        if isinstance(action, Answer):
            self._board.answered(action.text, self._commands, self._now())
            turn = Turn(kind="answer", text=action.text, at=at, think=action.think, reward=self._gained())
        else:
            turn = Turn(kind="submit", text=to_text(action.intervention), at=at, think=action.think)
            self._submitted = action.intervention
        self._turns.append(turn)
        return self._observation()

    def _run(self, action: Run) -> Observation:
        at = self._at()
        rules = self._scenario.reward
        typed = self._reader.read(action.command) if rules.first_look or rules.destructive is not None else None
        reason = destructive(typed) if typed is not None and rules.destructive is not None else None
        if reason is not None:
            return self._refuse(action, reason)
        seconds = min(COMMAND_SECONDS, max(self._limits.seconds - self._now(), 0.0))
        result = self._live.run(action.command, output_bytes=self._limits.output_bytes, seconds=seconds)
        self._commands += 1
        output = readable(result.output)
        shaped = rules.per_command
        if typed is not None and not self._looked and rules.first_look and diagnostic(typed):
            self._looked = True
            shaped += rules.first_look
        if self._board.looked(action.command, output, self._commands, self._now()) and not self._diagnosed:
            self._diagnosed = True
            shaped += rules.first_diagnosis
        harms, fired = self._look(f"by command {self._commands}")
        reward = round(shaped + self._gained() + rules.harm * len(harms), 9)
        turn = Turn(
            kind="run",
            text=action.command,
            output=output,
            exit_code=result.exit_code,
            at=at,
            seconds=round(result.seconds, 6),
            reward=reward,
            think=action.think,
            truncated=result.truncated,
            timed_out=result.timed_out,
            cascades=fired,
        )
        self._turns.append(turn)
        stdout = output if result.stdout == result.output else readable(result.stdout)
        self._prompt = result.prompt
        self._evidence.append(seen_as(action.command, result.exit_code, output))
        return self._observation(turn, stdout=stdout)

    def _refuse(self, action: Run, reason: str) -> Observation:
        """A destructive command: it costs what it costs, nothing is run, and nothing comes after it."""
        rules = self._scenario.reward
        self._commands += 1
        self._refused = f"command {self._commands} was destructive and was not run: {reason}"
        reward = round(rules.per_command + (rules.destructive or 0.0), 9)
        turn = Turn(
            kind="run", text=action.command, at=self._at(), think=action.think, reward=reward, refused=self._refused
        )
        self._turns.append(turn)
        return self._observation()

    def _look(self, when: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Evaluate what matters now, fire what is due. Returns the new harms and the cascades fired.

        `when` says for people when it was; None means before the agent did anything, so nothing is its harm.
        """
        harms: tuple[str, ...] = ()
        fired: list[str] = []
        # Each pass but the last fires a cascade, and one fires at most once at one moment.
        for number in range(len(self._world.cascades) + 1):
            invariants, objectives, conditions = (
                self._invariants.probes(),
                self._board.probes(),
                self._cascades.conditions(),
            )
            probes = (*invariants, *objectives, *conditions)
            observations = self._live.observe(probes) if probes else ()
            first, second = len(invariants), len(invariants) + len(objectives)
            if number == 0 and when is not None:
                observations = self._confirmed(probes, observations, self._invariants.doubted(observations[:first]))
                harms = self._invariants.update(observations[:first], when)
            else:
                self._invariants.accept(observations[:first])
            self._board.update(observations[first:second], self._commands, self._now())
            holds = [observation.holds for observation in observations[second:]]
            due = self._cascades.due(holds, self._commands, self._now())
            if not due:
                break
            for cascade in due:
                # A task may fail because of what the agent did to the machine: the world goes on as it then is.
                for fault in cascade.inject:
                    self._live.apply(fault.inject)
                wait_for_witness(self._live, cascade.inject, _CASCADE_WAITS)
                self._board.arm(cascade.name)
                fired.append(cascade.name)
        self._fired += fired
        return harms, tuple(fired)

    def _confirmed(
        self, probes: Sequence[Probe], observations: tuple[WorldObservation, ...], doubted: tuple[int, ...]
    ) -> tuple[WorldObservation, ...]:
        """What would count as harm is looked at once more where a moment may be all that it was."""
        if not doubted or not isinstance(self._live, Unsteady):
            return observations
        self._live.wait(self._live.moment)
        again = dict(zip(doubted, self._live.observe([probes[index] for index in doubted]), strict=True))
        return tuple(again.get(index, observation) for index, observation in enumerate(observations))

    def _settle(self) -> float:
        """Wait for slow recoveries, then for everything to stay so. Returns the reward that this changes."""
        harms = 0
        window = settling(self._world)
        for pause in (*_RECOVERY_WAITS, max(0.0, window - sum(_RECOVERY_WAITS))):
            if not self._board.pending():
                break
            self._live.wait(pause)
            harms += len(self._look("after the last command")[0])
        if not self._unmet() and not self._harms() and self._error is None:
            self._met(self._repair())
        held = self._board.met()
        for _ in range(2):
            self._live.wait(window / 2)
            harms += len(self._look("after the last command")[0])
            held &= self._board.met()
        self._board.keep(held)
        prevented = self._board.prevented()
        if prevented:
            self._board.prevent(self._live.observe(prevented), self._commands, self._now())
        return round(self._gained() + self._scenario.reward.harm * harms, 9)

    def _gained(self) -> float:
        """The points since the last time. A control has none: nothing there was broken."""
        score = self._worth() if self._world.role != "control" else 0.0
        gained, self._score = round(score - self._score, 9), score
        return gained

    def _worth(self) -> float:
        """What the state is worth: the points of all that is met, or `solved` for the whole of it."""
        solved = self._scenario.reward.solved
        if solved is None:
            return self._board.score
        done = any(result.met for result in self._board.results()) and not self._unmet()
        return solved if done and self._refused is None else 0.0

    def _unmet(self) -> tuple[ObjectiveResult, ...]:
        return missing(self._scenario.kind, self._world, self._board.results())

    def _harms(self) -> tuple[str, ...]:
        return self._invariants.harms if self._refused is None else (*self._invariants.harms, self._refused)

    def _repair(self) -> Repair:
        return Repair(self._submitted, tuple(turn.text for turn in self._turns if turn.kind == "run"))

    def _now(self) -> float:
        return self._live.elapsed() - self._started

    def _at(self) -> float:
        return round(self._now(), 6)

    def _observation(self, turn: Turn | None = None, *, stdout: str = "") -> Observation:
        commands_left = self._limits.commands - self._commands
        seconds_left = max(round(self._limits.seconds - self._now(), 6), 0.0)
        if turn is None:
            return Observation(prompt=self._prompt, commands_left=commands_left, seconds_left=seconds_left)
        return Observation(
            output=turn.output,
            stdout=stdout,
            exit_code=turn.exit_code,
            truncated=turn.truncated,
            timed_out=turn.timed_out,
            prompt=self._prompt,
            evidence=self._evidence[-1],
            commands_left=commands_left,
            seconds_left=seconds_left,
        )


def _failure(error: BaseException) -> str:
    """In the agent's own words where it has some; even an error that cannot say what it is ends in a record."""
    if isinstance(error, AgentFailedError):
        return writable(str(error))
    try:
        said = str(error)
    except Exception:
        said = "it cannot be told what"
    return writable(f"the agent failed: {type(error).__name__}: {said}"[:_LONGEST_FAILURE])
