"""Emacs's regular expressions, find's own: basic ones in which `+` and `?` repeat as `*` does."""

from __future__ import annotations

from runners.sim.regexes import Regex, basic, extended


def compiled_as(kind: str, pattern: str, *, ignore_case: bool) -> Regex:
    """A pattern of -regextype `kind`. Raises RegexError."""
    if "extended" in kind or "egrep" in kind:
        return extended(pattern, ignore_case=ignore_case)
    if kind in ("findutils-default", "emacs"):
        pattern = as_basic(pattern)
    return basic(pattern, ignore_case=ignore_case)


def as_basic(pattern: str) -> str:
    """The same as GNU's basic expressions write it."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            following = pattern[at + 1]
            out.append(following if following in "+?{}" else char + following)
            at += 2
            continue
        if char == "[":
            end = pattern.find("]", at + 2 if pattern[at + 1 : at + 2] != "^" else at + 3)
            end = len(pattern) - 1 if end < 0 else end
            out.append(pattern[at : end + 1])
            at = end + 1
            continue
        out.append("\\" + char if char in "+?" and out and out[-1] not in ("\\(", "\\|") else char)
        at += 1
    return "".join(out)
