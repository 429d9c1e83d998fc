"""Episodes as the conversations that a model in them would have had, for those who train one.

What a model is told comes from the verified bundle, and the words are those that the `llm` agent uses (in tags). What
no record holds is left out of them: the shell's prompt, and the real time that an answer took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.verify import VerifiedBundle
from reports.training import Conversation, Message, Speaker
from runners.agents.llm import words
from runners.agents.llm.manner import Tags
from runners.agents.llm.model import ModelSettings
from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run, Submit
from runners.interventions import from_text
from runners.objectives import questions
from runners.records import Trial, TrialRecord, Turn
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import Limits

_THINKING = ModelSettings().deadline


def speaker(bundles: Sequence[VerifiedBundle]) -> Speaker:
    """Puts the episodes of these bundles into words."""
    known = {bundle.digest: bundle for bundle in bundles}

    def speak(record: TrialRecord) -> Conversation:
        return conversation(record, briefing(record.trial, known))

    return speak


def briefing(trial: Trial, bundles: Mapping[str, VerifiedBundle]) -> Briefing:
    """What the agent of this trial was told. Raises AuthorError when its bundle is not given."""
    bundle = bundles.get(trial.bundle_digest)
    if bundle is None:
        raise AuthorError(
            f"what agents were told stands in the bundle {trial.pack} {trial.pack_version} with the digest "
            f"{trial.bundle_digest}; name it with --bundle"
        )
    world = bundle.content.scenarios[trial.scenario].world(trial.world)
    limits = Limits(commands=trial.max_commands, seconds=trial.max_seconds, output_bytes=trial.output_bytes)
    return Briefing(complaint=world.complaint, questions=questions(world), hints=world.hints, limits=limits)


def conversation(record: TrialRecord, told: Briefing) -> Conversation:
    """The dialogue of one episode."""
    seen = Observation(commands_left=told.limits.commands, seconds_left=told.limits.seconds)
    prompt = (
        _message("system", Tags.instructions),
        _message("user", words.opening(told, seen, _THINKING, hints=False)),
    )
    said: list[Message] = []
    used = 0
    for number, turn in enumerate(record.turns):
        if number:
            before = record.turns[number - 1]
            used += before.kind == "run"
            heard = words.heard(_observation(before, used, turn.at, told.limits), submitted=before.kind == "submit")
            left = words.left(_observation(before, used, turn.at, told.limits), _THINKING)
            said.append(_message("user", f"{heard.rstrip()}\n{left}"))
        said.append(_message("assistant", words.in_tags(_action(turn))))
    return Conversation(prompt=prompt, completion=tuple(said), rewards=tuple(turn.reward for turn in record.turns))


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _observation(turn: Turn, used: int, at: float, limits: Limits) -> Observation:
    """What came of a turn, `at` seconds into the episode and after so many commands."""
    return Observation(
        output=turn.output,
        stdout=turn.output,
        exit_code=turn.exit_code,
        truncated=turn.truncated,
        timed_out=turn.timed_out,
        commands_left=limits.commands - used,
        seconds_left=max(limits.seconds - at, 0.0),
    )


def _action(turn: Turn) -> Action:
    match turn.kind:
        case "run":
            return Run(turn.text, turn.think)
        case "answer":
            return Answer(turn.text, turn.think)
        case "submit":
            return Submit(from_text(turn.text), turn.think)
        case _:
            return Done(turn.think)
