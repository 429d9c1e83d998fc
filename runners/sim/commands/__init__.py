"""The simulated server's commands: one small module each, found by their names.

A command module exports `main(ctx) -> int`, and optionally `NAMES` (default: the module's name, `_` written `-`, a
trailing `_` dropped) and `PATH` (default `/usr/bin/<name>`). Modules without `main` are helpers.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from runners.sim.commands.context import Context


class Command(NamedTuple):
    """One command by one of its names: where its binary stands, and what runs. `summary`: its module's first line."""

    name: str
    path: str
    main: Callable[[Context], int]
    summary: str


class CommandTable(Mapping[str, Command]):
    """All commands by name. Read-only; the package is scanned when the first one is asked for."""

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        found: dict[str, Command] = {}
        for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
            module = importlib.import_module(f"{__name__}.{info.name}")
            main = getattr(module, "main", None)
            if main is None:
                continue
            default = info.name.rstrip("_").replace("_", "-")
            summary = (module.__doc__ or "").split("\n", 1)[0]
            for name in getattr(module, "NAMES", (default,)):
                path = getattr(module, "PATH", f"/usr/bin/{name}")
                folder = path.rsplit("/", 1)[0]
                found[name] = Command(name, f"{folder}/{name}", main, summary)
        return found

    def __getitem__(self, name: str) -> Command:
        return self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


COMMANDS: Mapping[str, Command] = CommandTable()
