"""Runs to training data: conversations to learn from, pairs of better and worse, and groups with their advantages.

The fields are those that TRL documents for its trainers (conversational format): `messages` for supervised fine-tuning,
`prompt`, `chosen` and `rejected` for preferences, `prompt` and `completion` for groups; further fields say where a row
is from. Held-out scenarios are left out unless they are asked for: what judges an agent must not teach it.

Sources: the dataset formats of TRL's documentation; Z. Shao et al. (2024), DeepSeekMath (advantages within a group).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple, TypeAlias

from reports.attempts import AttemptKey, attempt_id, key_of
from reports.pairing import GRADES
from reports.reading import Kept, Reading, lines
from runners.records import TrialRecord, Verdict, judge
from runners.records_io import decode

Kind = Literal["sft", "preferences", "grpo"]
Message: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One episode as a dialogue. The prompt is what stands before the first action; the completion begins with it.

    `rewards`: one for each of the assistant's messages in the completion.
    """

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    rewards: tuple[float, ...]


Speaker: TypeAlias = Callable[[TrialRecord], Conversation]
"""Puts an episode into words. Raises AuthorError where it does not know what the agent was told."""


class Example(NamedTuple):
    """An episode that may be learned from, and the verdict on its attempt."""

    item: Kept
    verdict: Verdict

    @property
    def group(self) -> tuple[object, ...]:
        """What the episodes of one group have in common: one agent, one world of a scenario, one seed."""
        trial = self.item.record.trial
        return (trial.bundle_digest, trial.scenario, trial.world, trial.backend, trial.seed, trial.agent.label)

    @property
    def rank(self) -> tuple[float, float, float]:
        """The better of two has the higher one: verdict, points, no harm in its own world."""
        record = self.item.record
        return (GRADES[self.verdict], record.score or 0.0, -float(len(record.harms)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a run may be learned from, in the order of its records. `heldout` and `undecided` were left out.

    undecided: Errored, Unsupported, or in an attempt whose verdict is UNKNOWN.
    """

    examples: tuple[Example, ...]
    heldout: int
    undecided: int


def select(reading: Reading, *, heldout: bool = False) -> Selection:
    """The episodes to learn from; `heldout`: also those of held-out scenarios."""
    verdicts = _verdicts(reading)
    examples, kept_back, undecided = [], 0, 0
    for item in reading.kept:
        verdict = verdicts[key_of(item.record.trial)]
        if item.record.trial.split == "heldout" and not heldout:
            kept_back += 1
        elif item.record.outcome in ("Errored", "Unsupported") or verdict == "UNKNOWN":
            undecided += 1
        else:
            examples.append(Example(item, verdict))
    return Selection(examples=tuple(examples), heldout=kept_back, undecided=undecided)


def rows(kind: Kind, selection: Selection, speak: Speaker) -> Iterator[dict[str, Any]]:
    """The rows of one kind of training data; the same records give the same rows."""
    return {"sft": _sft, "preferences": _preferences, "grpo": _grpo}[kind](selection.examples, speak)


def advantages(rewards: Sequence[float]) -> tuple[float, ...]:
    """Each reward less the group's mean, over its standard deviation (n - 1); zero where all are equal or alone."""
    if len(rewards) < 2:
        return (0.0,) * len(rewards)
    spread = stdev(rewards)
    middle = fmean(rewards)
    if spread < 1e-12 or not math.isfinite(spread):
        return (0.0,) * len(rewards)
    return tuple(round((reward - middle) / spread, 9) for reward in rewards)


def _sft(examples: Sequence[Example], speak: Speaker) -> Iterator[dict[str, Any]]:
    """Episodes of VERIFIED attempts, in every world: how it is found out, and how a healthy machine is left alone."""
    good = [example for example in examples if example.verdict == "VERIFIED"]
    for example, conversation in _spoken(good, speak):
        yield {
            "messages": [*conversation.prompt, *conversation.completion],
            "rewards": list(conversation.rewards),
            **_origin(example),
        }


def _preferences(examples: Sequence[Example], speak: Speaker) -> Iterator[dict[str, Any]]:
    """For each episode that is not the best of those with the same prompt: the best one is preferred to it.

    Of equally good ones it is the one of the same attempt, else the first.
    """
    for prompt, same in _by_prompt(examples, speak):
        best = max(example.rank for example, _ in same)
        chosen = [each for each in same if each[0].rank == best and each[0].verdict == "VERIFIED"]
        for example, conversation in same:
            if not chosen or example.rank == best:
                continue
            attempt = example.item.record.trial.attempt
            better = min(chosen, key=lambda each: each[0].item.record.trial.attempt != attempt)
            yield {
                "prompt": list(prompt),
                "chosen": list(better[1].completion),
                "rejected": list(conversation.completion),
                **{f"chosen_{name}": value for name, value in _origin(better[0]).items()},
                **{f"rejected_{name}": value for name, value in _origin(example).items()},
            }


def _grpo(examples: Sequence[Example], speak: Speaker) -> Iterator[dict[str, Any]]:
    """Every episode, with its advantage among the attempts of the same agent at the same world with the same seed."""
    groups: dict[tuple[object, ...], list[Example]] = {}
    for example in examples:
        groups.setdefault(example.group, []).append(example)
    names = {group: f"{number:06d}" for number, group in enumerate(groups)}
    ordered = [example for group in groups.values() for example in group]
    found = [value for group in groups.values() for value in advantages([example.item.reward for example in group])]
    for (example, conversation), advantage in zip(_spoken(ordered, speak), found, strict=True):
        yield {
            "prompt": list(conversation.prompt),
            "completion": list(conversation.completion),
            "advantage": advantage,
            "rewards": list(conversation.rewards),
            "group": names[example.group],
            "group_size": len(groups[example.group]),
            **_origin(example),
        }


def _origin(example: Example) -> dict[str, Any]:
    record = example.item.record
    trial = record.trial
    return {
        "reward": example.item.reward,
        "verdict": example.verdict,
        "score": record.score,
        "outcome": record.outcome,
        "agent": trial.agent.label,
        "pack": trial.pack,
        "bundle": trial.bundle_digest,
        "scenario": trial.scenario,
        "world": trial.world,
        "role": trial.role,
        "split": trial.split,
        "seed": trial.seed,
        "attempt": trial.attempt,
        "attempt_id": attempt_id(trial),
        "trial_id": record.trial_id,
    }


def _spoken(examples: Sequence[Example], speak: Speaker) -> Iterator[tuple[Example, Conversation]]:
    """Each example with its conversation; transcripts are fetched one at a time."""
    found = lines([example.item for example in examples])
    return ((example, speak(decode(line))) for example, line in zip(examples, found, strict=True))


def _by_prompt(
    examples: Sequence[Example], speak: Speaker
) -> Iterator[tuple[tuple[Message, ...], list[tuple[Example, Conversation]]]]:
    """Episodes that began with the same words: the same world of a scenario, for any agent and attempt of a seed."""
    worlds: dict[tuple[object, ...], list[Example]] = {}
    for example in examples:
        worlds.setdefault(example.group[:-1], []).append(example)
    for world in worlds.values():
        prompts: dict[tuple[tuple[str, str], ...], list[tuple[Example, Conversation]]] = {}
        for example, conversation in _spoken(world, speak):
            key = tuple((message["role"], message["content"]) for message in conversation.prompt)
            prompts.setdefault(key, []).append((example, conversation))
        for same in prompts.values():
            yield same[0][1].prompt, same


def _verdicts(reading: Reading) -> dict[AttemptKey, Verdict]:
    attempts: dict[AttemptKey, list[TrialRecord]] = {}
    for item in reading.kept:
        attempts.setdefault(key_of(item.record.trial), []).append(item.record)
    return {key: judge(records) for key, records in attempts.items()}
