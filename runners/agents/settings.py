"""Reading an agent's further settings, and naming those that differ from the usual."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING

from runners.agents.spec import OWN_LANE, AgentRequest
from scenario_dsl.errors import AuthorError
from scenario_dsl.parameters import normal

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def seconds(request: AgentRequest, name: str, usual: float) -> float:
    """A duration above zero, as `90s` or `5m`."""
    if name not in request.settings:
        return usual
    value = request.settings[name]
    try:
        found = normal("duration", value)
    except ValueError:
        found = None
    if isinstance(found, bool) or not isinstance(found, int | float) or found <= 0:
        raise _wrong(request, name, "a duration like `5m`")
    return float(found)


def lane_of(request: AgentRequest) -> str:
    """The lane of a class of the user's, where its only setting, `waits`, says that it mostly waits."""
    request.only("waits")
    return OWN_LANE if flag(request, "waits") else ""


def number(request: AgentRequest, name: str, usual: float | None, low: float, high: float) -> float | None:
    """A number in these bounds."""
    value = request.settings.get(name, usual)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _wrong(request, name, f"a number from {low:g} to {high:g}")
    return float(value)


def whole(request: AgentRequest, name: str, usual: int, low: int, high: int) -> int:
    """A whole number in these bounds."""
    value = request.settings.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _wrong(request, name, f"a whole number from {low} to {high}")
    return value


def flag(request: AgentRequest, name: str, usual: bool = False) -> bool:
    value = request.settings.get(name, usual)
    if not isinstance(value, bool):
        raise _wrong(request, name, "true or false")
    return value


def names(request: AgentRequest, name: str) -> tuple[str, ...]:
    """A list of names."""
    value = request.settings.get(name, ())
    if not isinstance(value, tuple) or not all(isinstance(item, str) and item.isidentifier() for item in value):
        raise _wrong(request, name, "a list of names")
    return tuple(str(item) for item in value)


def used(
    settings: DataclassInstance, usual: DataclassInstance, leave: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    """(name, value) of the settings that differ from the usual ones, by name. leave: those that decide no course."""
    differing = sorted(field.name for field in fields(settings) if field.name not in leave)
    return tuple(
        (name, _shown(getattr(settings, name))) for name in differing if getattr(settings, name) != getattr(usual, name)
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _wrong(request: AgentRequest, name: str, wanted: str) -> AuthorError:
    return AuthorError(f"agent `{request.name}`: `{name}` is {wanted}, not `{request.settings[name]}`")
