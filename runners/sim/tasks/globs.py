"""File name patterns, as Python's glob reads them: `*`, `?` and `[…]` within one part of a path."""

from __future__ import annotations

import fnmatch
import posixpath

from runners.sim.files.view import FileView


def matches_any(view: FileView, pattern: str) -> bool:
    """Is there anything that the pattern names?"""
    start = "/" if pattern.startswith("/") else view.cwd
    return _below(view, start, [part for part in pattern.split("/") if part])


def _below(view: FileView, folder: str, parts: list[str]) -> bool:
    if not parts:
        return view.exists(folder)
    part, rest = parts[0], parts[1:]
    if not any(letter in part for letter in "*?["):
        return _below(view, posixpath.join(folder, part), rest)
    try:
        names = view.names(folder)
    except OSError:
        return False
    visible = [name for name in names if part.startswith(".") or not name.startswith(".")]
    return any(_below(view, posixpath.join(folder, name), rest) for name in fnmatch.filter(visible, part))
