"""Values as far as they are known beforehand: words of a command line, and what a session has set."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from runners.formats.shell.ast import Command

UNKNOWN = "\ufffe"
"""Stands for text that nobody can know beforehand."""
_GLOB_SIGNS = "*?["


class Value(NamedTuple):
    """A word after expansion. `glob`: what its text matches is meant, or was already put in its place."""

    text: str
    glob: bool = False

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


class Redirection(NamedTuple):
    """`operator` as typed; `target` is a file's name, or the text of a here-document or here-string."""

    operator: str
    target: Value


class Invocation(NamedTuple):
    """One program that the line would run, with its arguments; `words` is empty where a line only redirects.

    `folder`: where it would run; UNKNOWN where that cannot be known.
    """

    words: tuple[Value, ...]
    redirections: tuple[Redirection, ...] = ()
    folder: str = UNKNOWN

    @property
    def program(self) -> str:
        """The name without its folder."""
        return posixpath.basename(self.words[0].text) if self.words else ""

    @property
    def arguments(self) -> tuple[Value, ...]:
        return self.words[1:]

    def path(self, value: Value) -> str:
        """A value as an absolute path without `.` and `..`; UNKNOWN is in it where it cannot be known."""
        return absolute(value.text, self.folder)


def absolute(path: str, folder: str) -> str:
    joined = path if path.startswith("/") else f"{folder}/{path}"
    return "/" + posixpath.normpath(joined).lstrip("/") if joined.startswith("/") else joined


def may_glob(text: str) -> bool:
    return any(sign in text for sign in _GLOB_SIGNS)


@dataclass(slots=True)
class Session:
    """What is known of the shell that lines are typed into. `open`: something unknown may have set variables."""

    variables: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    functions: dict[str, Command] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    folder: str = "/root"
    open: bool = False

    def copy(self) -> Session:
        """For a subshell: what it sets is its own. Files are everybody's."""
        return Session(
            dict(self.variables), dict(self.functions), dict(self.aliases), self.files, self.folder, self.open
        )

    def lookup(self, name: str) -> tuple[Value, ...] | None:
        """None: not set."""
        if name == "PWD":
            return (Value(self.folder),)
        if name in self.variables:
            return self.variables[name]
        if name in _USUAL:
            return (Value(_USUAL[name]),)
        return (Value(UNKNOWN),) if self.open or name in _CHANGING else None


_USUAL: Mapping[str, str] = {
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "IFS": " \t\n",
    "0": "bash",
    "UID": "0",
    "EUID": "0",
    "#": "0",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
}
_CHANGING = frozenset({"?", "$", "!", "-", "_", "RANDOM", "SECONDS", "HOSTNAME", "LINENO", "OLDPWD", "REPLY", "TERM"})
