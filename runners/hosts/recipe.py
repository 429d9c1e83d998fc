"""How a system's image is made, as its description says it."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from dataclasses import dataclass

from runners.system import texts
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import System, SystemFile
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`image` of a system. distribution: described paths that the packages bring themselves, as one expression."""

    suite: str
    packages: tuple[str, ...]
    distribution: re.Pattern[str]
    without: tuple[str, ...]
    files: tuple[SystemFile, ...]

    @classmethod
    def of(cls, system: System) -> Recipe:
        """Raises AuthorError for a system that says nothing of an image."""
        section = system.settings.get("image")
        if not isinstance(section, dict):
            raise AuthorError(f"the system {system.name} has no `image`: it says not how to make one from packages")
        patterns = texts(section.get("distribution"))
        return cls(
            suite=str(section["suite"]),
            packages=texts(section["packages"]),
            distribution=re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns) or r"(?!)"),
            without=texts(section.get("without")),
            files=tuple(_file(entry) for entry in _entries(section.get("files"))),
        )

    @property
    def base_name(self) -> str:
        """A name for the userland that these packages make, the same for every system that names the same ones."""
        return hashlib.sha256(json.dumps([self.suite, *sorted(self.packages)]).encode()).hexdigest()[:16]


def _entries(value: Value) -> tuple[dict[str, Value], ...]:
    return tuple(dict(item) for item in value if isinstance(item, dict)) if isinstance(value, tuple) else ()


def _file(entry: dict[str, Value]) -> SystemFile:
    def said(key: str) -> str | None:
        value = entry.get(key)
        return None if value is None else str(value)

    return SystemFile(
        path=str(entry["path"]),
        type="link" if entry.get("type") == "link" else "directory" if entry.get("type") == "directory" else "file",
        content=said("content"),
        target=said("target"),
        owner=said("owner") or "root",
        group=said("group") or "root",
        mode=said("mode"),
    )
