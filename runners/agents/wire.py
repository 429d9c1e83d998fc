"""What passes between an episode and an agent elsewhere, as JSON: briefings and observations out, actions in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.agents.protocol import Action, Answer, Briefing, Done, Observation, Run, Submit
from scenario_dsl.diagnostics import closest
from scenario_dsl.loading import load_text
from scenario_dsl.model import Intervention
from scenario_dsl.source import SourceText

_KINDS = ("run", "answer", "submit", "done")
_NAMED, _NAME = "intervention", "submitted"


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
    """An intervention from its document as plain data; its name may be left out. Raises MalformedActionError."""
    if not isinstance(data, Mapping):
        raise MalformedActionError(f"an intervention is an object with `hypothesis` and `steps`, not {_called(data)}")
    # JSON is YAML, so a document that came as data is read like any other.
    return read_document(json.dumps({_NAMED: _NAME, **data}, ensure_ascii=False))


def read_document(text: str) -> Intervention:
    """An intervention from the text of its document (YAML). Raises MalformedActionError with the first thing wrong."""
    loaded = load_text(Path(_NAME), SourceText(_NAME, text))
    if isinstance(loaded.value, Intervention):
        return loaded.value
    errors = [each for each in loaded.found if each.severity == "error"]
    if not errors:
        raise MalformedActionError("this is a document, but no intervention")
    first = errors[0]
    help_ = f"; {first.helps[0]}" if first.helps else ""
    raise MalformedActionError(f"your document, line {first.position[0]}: {first.message}{help_}")


def _only(data: Mapping[object, object], known: Sequence[str], what: str) -> None:
    for key in data:
        if key not in known:
            close = closest(str(key), known)
            hint = f"; did you mean `{close}`?" if close else f"; it has {_listed(known)}"
            raise MalformedActionError(f"{what} has no `{str(key)[:40]}`{hint}")


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
