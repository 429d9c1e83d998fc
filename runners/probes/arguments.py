"""A probe's arguments, already in their meaning (sizes in bytes, durations in seconds): typed reading and no checks."""

from __future__ import annotations

from collections.abc import Mapping

from scenario_dsl.model import Probe
from scenario_dsl.parameters import bind
from scenario_dsl.probes import PROBES
from scenario_dsl.values import Value


class Arguments:
    """Getters give None for what is not given. A value of another type is a fault of ours: ValueError."""

    __slots__ = ("_given",)

    def __init__(self, probe: Probe) -> None:
        self._given: Mapping[str, Value] = bind(PROBES[probe.type].parameters, probe.arguments)

    def __contains__(self, name: str) -> bool:
        return self._given.get(name) is not None

    def text(self, name: str) -> str | None:
        value = self._given.get(name)
        return None if value is None else str(value)

    def require(self, name: str) -> str:
        value = self._given.get(name)
        if value is None:
            raise ValueError(f"the argument {name} is missing")
        return str(value)

    def number(self, name: str) -> float | None:
        value = self._given.get(name)
        if value is not None and not isinstance(value, int | float):
            raise ValueError(f"{name}: {value!r} is no number")
        return value

    def integer(self, name: str) -> int | None:
        number = self.number(name)
        return None if number is None else int(number)

    def flag(self, name: str) -> bool | None:
        value = self._given.get(name)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"{name}: {value!r} is neither true nor false")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._given.get(name)
        return tuple(str(item) for item in value) if isinstance(value, tuple) else ()

    def mapping(self, name: str) -> Mapping[str, Value]:
        value = self._given.get(name)
        return value if isinstance(value, Mapping) else {}
