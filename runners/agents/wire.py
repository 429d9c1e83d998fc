"""What passes between an episode and an agent elsewhere, as JSON: briefings and observations out, actions in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run, Submit
from scenario_dsl.diagnostics import closest
from scenario_dsl.model import Intervention, Step

_KINDS = ("run", "answer", "submit", "done")
_STEP = ("think", "run", "discover", "only_if", "undo", "answer")
_DOCUMENT = ("hypothesis", "falsifier", "steps")


class MalformedActionError(ValueError):
    """What came is no action. The text says why, to whoever sent it."""


def briefing_data(briefing: Briefing, *, hints: bool) -> dict[str, object]:
    """A briefing as plain data. Hints make another game of it, so they are left out unless asked for."""
    return {
        "complaint": briefing.complaint,
        "questions": list(briefing.questions),
        "hints": list(briefing.hints) if hints else [],
        "limits": {
            "commands": briefing.limits.commands,
            "seconds": briefing.limits.seconds,
            "output_bytes": briefing.limits.output_bytes,
        },
    }


def observation_data(observation: Observation) -> dict[str, object]:
    """An observation as plain data, its fields under their own names."""
    return {name: getattr(observation, name) for name in Observation.__dataclass_fields__}


def read_action(data: object) -> Action:
    """An action from `{"run": …}`, `{"answer": …}`, `{"submit": {…}}` or `{"done": true}`, each with a `think` or not.

    Raises MalformedActionError.
    """
    if not isinstance(data, Mapping):
        raise MalformedActionError(f"an action is an object with one of {_listed(_KINDS)}, not {_called(data)}")
    _only(data, (*_KINDS, "think"), "an action")
    given = [kind for kind in _KINDS if kind in data]
    if len(given) != 1:
        raise MalformedActionError(f"an action has exactly one of {_listed(_KINDS)}; this one has {len(given)}")
    think = _text(data, "think") if data.get("think") is not None else None
    match given[0]:
        case "run":
            return Run(_text(data, "run"), think)
        case "answer":
            return Answer(_text(data, "answer"), think)
        case "submit":
            return Submit(read_intervention(data["submit"]), think)
        case _:
            return Done(think)


def read_intervention(data: object) -> Intervention:
    """An intervention from the document that a scenario writes its gold one in. Raises MalformedActionError."""
    if not isinstance(data, Mapping):
        raise MalformedActionError(f"an intervention is an object with `steps`, not {_called(data)}")
    _only(data, _DOCUMENT, "an intervention")
    steps = data.get("steps")
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise MalformedActionError("an intervention needs `steps`: a list with at least one step")
    return Intervention(
        name="submitted",
        steps=tuple(_step(step, number) for number, step in enumerate(steps, start=1)),
        hypothesis=_optional(data, "hypothesis"),
        falsifier=_optional(data, "falsifier"),
    )


def _step(data: object, number: int) -> Step:
    if not isinstance(data, Mapping):
        raise MalformedActionError(f"step {number} is {_called(data)}, not an object")
    _only(data, _STEP, f"step {number}")
    texts = {name: _optional(data, name) for name in _STEP}
    if (texts["run"] is None) == (texts["answer"] is None):
        raise MalformedActionError(f"step {number} needs exactly one of `run` and `answer`")
    for name in ("discover", "undo"):
        if texts[name] is not None and texts["run"] is None:
            raise MalformedActionError(f"step {number} has `{name}`, which goes with `run`")
    if texts["discover"] is not None and not texts["discover"].isidentifier():
        raise MalformedActionError(f"step {number}: `discover` is a name of letters, digits and `_`")
    return Step(
        think=texts["think"],
        run=texts["run"],
        discover=texts["discover"],
        only_if=texts["only_if"],
        undo=texts["undo"],
        answer=texts["answer"],
    )


def _only(data: Mapping[object, object], known: Sequence[str], what: str) -> None:
    for key in data:
        if key not in known:
            close = closest(str(key), known)
            hint = f"; did you mean `{close}`?" if close else f"; it has {_listed(known)}"
            raise MalformedActionError(f"{what} has no `{str(key)[:40]}`{hint}")


def _optional(data: Mapping[object, object], name: str) -> str | None:
    return _text(data, name) if data.get(name) is not None else None


def _text(data: Mapping[object, object], name: str) -> str:
    value = data[name]
    if not isinstance(value, str):
        raise MalformedActionError(f"`{name}` is text, not {_called(value)}")
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _called(value: object) -> str:
    """What JSON calls a value."""
    names = {dict: "an object", list: "a list", tuple: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
