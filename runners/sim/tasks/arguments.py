"""Typed reading of a task's arguments, with Ansible's conversions, aliases and complaints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.sim.tasks.result import ModuleFailure
from scenario_dsl.modules import MODULES
from scenario_dsl.values import Value, thaw

_TRUE = frozenset({"y", "yes", "on", "1", "true", "t", "1.0"})
_FALSE = frozenset({"n", "no", "off", "0", "false", "f", "0.0"})


class Arguments:
    """The arguments of one task. Getters convert as Ansible does, or raise `ModuleFailure`."""

    __slots__ = ("_given", "module")

    def __init__(self, module: str, given: Mapping[str, Value]) -> None:
        """`module`: one of the language's, which says what arguments there are."""
        accepted = [parameter.name for parameter in MODULES[module].parameters]
        unknown = sorted(name for name in given if name not in accepted)
        if unknown:
            raise ModuleFailure(
                f"Unsupported parameters for ({module}) module: {', '.join(unknown)}. "
                f"Supported parameters include: {', '.join(sorted(accepted))}."
            )
        self.module = module
        self._given = {name: value for name, value in given.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str) -> Value:
        return self._given.get(name)

    def text(self, name: str) -> str | None:
        value = self._given.get(name)
        return None if value is None else _text(value)

    def require(self, name: str) -> str:
        """A text that must be given."""
        text = self.text(name)
        if text is None:
            raise ModuleFailure(f"missing required arguments: {name}")
        return text

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str | None:
        text = self.text(name)
        if text is None:
            return default
        if text not in choices:
            raise ModuleFailure(f"value of {name} must be one of: {', '.join(choices)}, got: {text}")
        return text

    def flag(self, name: str, default: bool = False) -> bool:
        given = self.maybe_flag(name)
        return default if given is None else given

    def maybe_flag(self, name: str) -> bool | None:
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return value
        text = str(value).lower().strip()
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        raise ModuleFailure(
            f"argument '{name}' is of type {type(value).__name__} and we were unable to convert to bool: "
            f"The value '{value}' is not a valid boolean."
        )

    def integer(self, name: str, default: int | None = None) -> int | None:
        value = self._given.get(name)
        if value is None:
            return default
        try:
            return int(_text(value))
        except ValueError:
            raise ModuleFailure(f"argument '{name}' could not be converted to int: {value!r}") from None

    def path(self, name: str) -> str | None:
        """A path, with the `~` of root's home opened."""
        text = self.text(name)
        if text is not None and (text == "~" or text.startswith("~/")):
            return "/root" + text[1:]
        return text

    def require_path(self, name: str) -> str:
        path = self.path(name)
        if path is None:
            raise ModuleFailure(f"missing required arguments: {name}")
        return path

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts; one text is split at its commas."""
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, tuple):
            return tuple(_text(item) for item in value)
        return tuple(part.strip() for part in _text(value).split(",") if part.strip())

    def exclusive(self, *names: str) -> None:
        """Complain when more than one of the names is given."""
        given = [name for name in names if name in self._given]
        if len(given) > 1:
            raise ModuleFailure(f"parameters are mutually exclusive: {'|'.join(names)}")


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return str(thaw(value))
