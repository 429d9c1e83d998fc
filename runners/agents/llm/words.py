"""What a model is told and what it says, as text: what plays a model and what trains one speak alike."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from runners.agents.protocol import Action, Answer, Briefing, Observation, Run, Submit
from scenario_dsl.model import Intervention, Step


def complaint(briefing: Briefing, *, hints: bool) -> str:
    """What is wrong, what is asked, and hints where they are wanted."""
    parts = [f"The complaint:\n{briefing.complaint}"]
    if briefing.questions:
        listed = "\n".join(f"- {question}" for question in briefing.questions)
        parts.append(f"You are asked, and answer before you end:\n{listed}")
    if hints and briefing.hints:
        listed = "\n".join(f"- {hint}" for hint in briefing.hints)
        parts.append(f"Hints:\n{listed}")
    return "\n\n".join(parts)


def opening(briefing: Briefing, observation: Observation, thinking: float, *, hints: bool) -> str:
    """The first thing said to a model."""
    return f"{complaint(briefing, hints=hints)}\n\n{observation.prompt}\n{left(observation, thinking)}"


def left(observation: Observation, thinking: float) -> str:
    """What may still be used; `thinking`: seconds of real time."""
    return (
        f"[You have {observation.commands_left} commands and {observation.seconds_left:.0f} s of the machine's time "
        f"left, and {thinking:.0f} s of real time to answer in.]"
    )


def heard(observation: Observation, *, submitted: bool) -> str:
    """What the last action gave back; `submitted`: it handed in a repair."""
    if observation.exit_code is None:
        return "Your repair is handed in." if submitted else "Your answer is noted."
    marks = [f"exit code {observation.exit_code}"]
    if observation.evidence:
        marks.append(f"evidence {observation.evidence[:12]}")
    if observation.timed_out:
        marks.append("it took too long and was ended")
    if observation.truncated:
        marks.append("the output was longer; its middle is left out")
    # A fence that is longer than any in the output, so that nothing in it can look like its end.
    fence = "```"
    while fence in observation.output:
        fence += "`"
    return f"{fence}\n{observation.output}\n{fence}\n[{'; '.join(marks)}] {observation.prompt}"


def in_tags(action: Action) -> str:
    """An action as a model says it in tags: what `manner.Tags` reads."""
    thought = f"<think>{action.think}</think>" if action.think else ""
    match action:
        case Run(command=command):
            return f"{thought}<bash>{command}</bash>"
        case Answer(text=text):
            return f"{thought}<answer>{text}</answer>"
        case Submit(intervention=intervention):
            return f"{thought}<submit>\n{document(intervention)}</submit>"
        case _:
            return f"{thought}<done/>"


def document(intervention: Intervention) -> str:
    """An intervention as the language writes it, in YAML: what `wire.read_document` reads."""
    said: dict[str, object] = {"intervention": intervention.name}
    for name in ("hypothesis", "predicts", "falsifier"):
        if (text := getattr(intervention, name)) is not None:
            said[name] = text
    if intervention.alternatives:
        said["alternatives"] = [
            _without_none(hypothesis=e.claim, predicts=e.predicts) for e in intervention.alternatives
        ]
    if intervention.evidence:
        said["evidence"] = list(intervention.evidence)
    said["steps"] = [_step(step) for step in intervention.steps]
    for name in ("postconditions", "invariants"):
        if texts := getattr(intervention, name):
            said[name] = list(texts)
    if intervention.ordered:
        said["ordered"] = True
    return str(yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=1_000_000))


def _step(step: Step) -> Mapping[str, str]:
    return _without_none(
        think=step.think, discover=step.discover, only_if=step.only_if, run=step.run, answer=step.answer, undo=step.undo
    )


def _without_none(**given: str | None) -> dict[str, str]:
    return {name: text for name, text in given.items() if text is not None}
