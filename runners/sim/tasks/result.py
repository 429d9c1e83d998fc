"""What a task gives back, and how a module says that it failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The outcome of one task. `values` are the module's own return values, as `register` keeps them."""

    changed: bool = False
    failed: bool = False
    skipped: bool = False
    msg: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)

    def registered(self) -> Mapping[str, Value]:
        """The variable that `register` makes of it."""
        known: dict[str, Value] = {"changed": self.changed, "failed": self.failed, **self.values}
        if self.skipped:
            known["skipped"] = True
        if self.msg:
            known["msg"] = self.msg
        for name in ("stdout", "stderr"):
            text = known.get(name)
            if isinstance(text, str):
                known[f"{name}_lines"] = tuple(text.splitlines())
        return known


class ModuleFailure(Exception):  # noqa: N818 (a task failing is not an error of ours)
    """Raised by a module to fail its task. `values` are further return values (rc, stdout, …)."""

    def __init__(self, msg: str, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.values = values or {}
