"""File modes as chmod, install, mkdir and umask take them and ls shows them."""

from __future__ import annotations

import re

_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)")
_ACTION = re.compile(r"([-+=])([ugo](?![rwxXst])|[rwxXst]*)")
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111}
_WHO = {"u": 0o4700, "g": 0o2070, "o": 0o1007, "a": 0o7777}


class ModeError(ValueError):
    """Not a mode."""


def change_mode(text: str, mode: int, *, directory: bool, umask: int) -> int:
    """The permissions that chmod's argument `text` makes of `mode`. Raises ModeError."""
    if re.fullmatch(r"[-+=]?[0-7]+", text):
        digits = text.lstrip("-+=")
        value = int(digits, 8)
        if value > 0o7777:
            raise ModeError(text)
        if text[0] == "+":
            return mode | value
        if text[0] == "-":
            return mode & ~value
        if directory and len(digits) < 5 and text[0] != "=":
            # As GNU chmod: a directory keeps its setuid and setgid bits unless five digits say otherwise.
            return value | (mode & 0o6000)
        return value
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ModeError(text)
        mode = _clause(match.group(1), match.group(2), mode, directory, umask)
    return mode


def _clause(who: str, actions: str, mode: int, directory: bool, umask: int) -> int:
    affected = 0
    for letter in who or "a":
        affected |= _WHO[letter]
    masked = ~umask if not who else ~0
    for operator, what in _ACTION.findall(actions):
        if what in ("u", "g", "o"):
            shift = {"u": 6, "g": 3, "o": 0}[what]
            three = mode >> shift & 7
            bits = three << 6 | three << 3 | three
        else:
            bits = _letters(what, mode, directory)
        bits &= affected & masked
        if operator == "+":
            mode |= bits
        elif operator == "-":
            mode &= ~bits
        else:
            keep = 0o6000 if directory and not set(what) & {"s"} else 0
            mode = (mode & ~(affected & ~keep)) | bits
    return mode & 0o7777


def _letters(what: str, mode: int, directory: bool) -> int:
    bits = 0
    for letter in what:
        if letter in _BITS:
            bits |= _BITS[letter]
        elif letter == "X":
            bits |= 0o111 if directory or mode & 0o111 else 0
        elif letter == "s":
            bits |= 0o6000
        else:
            bits |= 0o1000
    return bits
